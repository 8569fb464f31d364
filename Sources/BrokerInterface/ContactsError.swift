import BrokerJSON
import BrokerVarlink

/// The errors of `io.contactbroker.Contacts`.
public enum ContactsError {
    private static let prefix = "io.contactbroker.Contacts."

    public static let accessDenied = VarlinkError(prefix + "AccessDenied")

    /// Why the broker refuses every app.
    public enum Unreadable: String, Sendable {
        case policyUnreadable, settingsUnreadable
    }

    /// The error while the broker refuses every app.
    public static func accessDenied(_ reason: Unreadable) -> VarlinkError {
        VarlinkError(prefix + "AccessDenied") { $0.member("reason", reason.rawValue) }
    }

    public static let authorizationNotDetermined = VarlinkError(prefix + "AuthorizationNotDetermined")
    public static let noAgent = VarlinkError(prefix + "NoAgent")
    public static let storeUnavailable = VarlinkError(prefix + "StoreUnavailable")

    /// Why an app must wait before its next prompt.
    public enum WaitReason: String, Sendable {
        /// The app's own recent prompts granted nothing.
        case refusals
        /// Prompts of other apps have used up a limit.
        case crowd
    }

    /// - Parameters:
    ///   - retryAfterSeconds: whole seconds, rounded up.
    ///   - reason: `nil` if a prompt of the same app is open.
    public static func tooManyPrompts(retryAfterSeconds: Int, reason: WaitReason? = nil) -> VarlinkError {
        VarlinkError(prefix + "TooManyPrompts") {
            $0.member("retryAfterSeconds", retryAfterSeconds)
            $0.member("reason", reason?.rawValue)
        }
    }

    /// The error has the same bytes for every record that the caller may not see. The caller therefore cannot
    /// probe for records.
    public static func recordDoesNotExist(at index: Int? = nil) -> VarlinkError {
        VarlinkError(prefix + "RecordDoesNotExist") { $0.member("index", index) }
    }

    public static func recordNotWritable(at index: Int, identifier: String?) -> VarlinkError {
        VarlinkError(prefix + "RecordNotWritable") {
            $0.member("index", index)
            $0.member("identifier", identifier)
        }
    }

    /// The contact does not have the revision that the step names.
    public static func recordChanged(at index: Int) -> VarlinkError {
        VarlinkError(prefix + "RecordChanged") { $0.member("index", index) }
    }

    /// The caller can take back nothing of such a group of saves.
    public static let saveDoesNotExist = VarlinkError(prefix + "SaveDoesNotExist")

    public static func recordAlreadyExists(at index: Int, identifier: String) -> VarlinkError {
        VarlinkError(prefix + "RecordAlreadyExists") {
            $0.member("index", index)
            $0.member("identifier", identifier)
        }
    }

    /// The error has the same bytes for every group that the caller may not see.
    public static func parentRecordDoesNotExist(at index: Int) -> VarlinkError {
        VarlinkError(prefix + "ParentRecordDoesNotExist") { $0.member("index", index) }
    }

    /// The caller may add nothing.
    public static func parentContainerNotWritable(at index: Int) -> VarlinkError {
        VarlinkError(prefix + "ParentContainerNotWritable") { $0.member("index", index) }
    }

    public static func containmentCycle(at index: Int) -> VarlinkError {
        VarlinkError(prefix + "ContainmentCycle") { $0.member("index", index) }
    }

    public static func unauthorizedKeys(_ keys: [String]) -> VarlinkError {
        VarlinkError(prefix + "UnauthorizedKeys") { $0.member("keys", keys) }
    }

    public static func invalidPredicate(_ reason: String) -> VarlinkError {
        VarlinkError(prefix + "InvalidPredicate") { $0.member("reason", reason) }
    }

    public static func invalidContact(at index: Int?, key: String, reason: String) -> VarlinkError {
        VarlinkError(prefix + "InvalidContact") {
            $0.member("index", index)
            $0.member("key", key)
            $0.member("reason", reason)
        }
    }

    /// - Parameter reason: a text for the person that says what to do; `nil` if the limit's name is enough.
    public static func limitExceeded(_ limit: String, maximum: Int, reason: String? = nil) -> VarlinkError {
        VarlinkError(prefix + "LimitExceeded") {
            $0.member("limit", limit)
            $0.member("maximum", maximum)
            $0.member("reason", reason)
        }
    }
}

/// The errors of `io.contactbroker.Agent`.
public enum AgentError {
    private static let prefix = "io.contactbroker.Agent."

    public static let unknownPrompt = VarlinkError(prefix + "UnknownPrompt")
    public static let tooManyAgents = VarlinkError(prefix + "TooManyAgents")

    /// The person was asked, and the authentication failed.
    public static let authenticationFailed = VarlinkError(prefix + "AuthenticationFailed")

    /// The broker did not ask the person, or got no answer.
    ///
    /// - Parameter reason: the problem in English, with details.
    public static func authenticationFailed(_ problem: PasswordProblem, _ reason: String) -> VarlinkError {
        VarlinkError(prefix + "AuthenticationFailed") {
            $0.member("problem", problem.rawValue)
            $0.member("reason", reason)
        }
    }

    /// - Parameter reason: the problem in English, with details.
    public static func invalidAnswer(_ problem: AnswerProblem, _ reason: String) -> VarlinkError {
        VarlinkError(prefix + "InvalidAnswer") {
            $0.member("problem", problem.rawValue)
            $0.member("reason", reason)
        }
    }

    /// - Parameter reason: the problem in English, with details.
    public static func invalidFolder(_ problem: FolderProblem, _ reason: String) -> VarlinkError {
        VarlinkError(prefix + "InvalidFolder") {
            $0.member("problem", problem.rawValue)
            $0.member("reason", reason)
        }
    }

    public static func notAnAgent(_ reason: String) -> VarlinkError {
        VarlinkError(prefix + "NotAnAgent") { $0.member("reason", reason) }
    }
}

/// The errors of `io.contactbroker.Admin`.
public enum AdminError {
    private static let prefix = "io.contactbroker.Admin."

    /// - Parameter reason: the outcome of the password request, if a password would help; otherwise `nil`.
    public static func notAuthorized(_ reason: String? = nil) -> VarlinkError {
        VarlinkError(prefix + "NotAuthorized") { $0.member("reason", reason) }
    }

    /// A password is required, but the caller did not allow the broker to ask the person. systemd defines
    /// this error.
    public static let interactiveAuthenticationRequired = VarlinkError(
        "io.systemd.InteractiveAuthenticationRequired")

    public static func unknownApp(_ app: String) -> VarlinkError {
        VarlinkError(prefix + "UnknownApp") { $0.member("app", app) }
    }

    /// - Parameter formerRules: whether the policy rules stay in force that were in force before the call.
    public static func invalidValue(_ parameter: String, reason: String, formerRules: Bool = false) -> VarlinkError {
        VarlinkError(prefix + "InvalidValue") {
            $0.member("parameter", parameter)
            $0.member("reason", reason)
            if formerRules { $0.member("formerRules", true) }
        }
    }
    public static func connectionExists(_ name: String) -> VarlinkError {
        VarlinkError(prefix + "ConnectionExists") { $0.member("name", name) }
    }

    public static func unknownConnection(_ name: String) -> VarlinkError {
        VarlinkError(prefix + "UnknownConnection") { $0.member("name", name) }
    }
}

/// The errors of `io.contactbroker.CardDAV`.
public enum CardDAVError {
    private static let prefix = "io.contactbroker.CardDAV."

    /// - Parameter wait: how long the client should wait for the answer.
    public static func wrongPassword(wait: Duration) -> VarlinkError {
        let milliseconds = wait.components.seconds * 1_000 + wait.components.attoseconds / 1_000_000_000_000_000
        return VarlinkError(prefix + "WrongPassword") { $0.member("wait", Int(milliseconds)) }
    }
}
