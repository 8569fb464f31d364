import BrokerConnection
import BrokerFormatting
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlinkClient

/// Problems in the person's language. Each text follows a colon.
///
/// The broker names each problem, and describes it in English for logs and other programs. A problem without a text,
/// for example of a later broker, is shown in the broker's words.
extension LocalizedNames {
    func words(for error: any Error) -> String {
        switch error {
        case let error as VarlinkClientError: words(for: error)
        case let error as BrokerConnectionError: words(for: error)
        case let error as Terminal.Failure: words(for: error)
        default: ShownText.line("\(error)")
        }
    }

    private func words(for error: VarlinkClientError) -> String {
        switch error {
        case .cannotConnect(let path, let reason): text(.reachNoAnswer, [.path: path, .reason: ShownText.line(reason)])
        case .closed: text(.reachClosed)
        case .timedOut: text(.reachTooLate)
        case .protocolViolation(let what): text(.reachInvalid, [.reason: ShownText.line(what)])
        case .error(let name, let parameters): words(forReply: name, parameters)
        }
    }

    private func words(for error: BrokerConnectionError) -> String {
        switch error {
        case .notRunning(let places):
            places.isEmpty ? text(.reachNoPath) : text(.reachNotRunning, [.path: list(places)])
        case .cannotConnect(let path, let reason): text(.reachNoAnswer, [.path: path, .reason: reason])
        case .foreignServer(let path, let uid):
            uid.map { text(.reachForeign, [.path: path, .name: String($0)]) }
                ?? text(.reachForeignUnknown, [.path: path])
        }
    }

    private func words(for failure: Terminal.Failure) -> String {
        switch failure {
        case .cannotOpen(let reason): text(.startTerminal, [.reason: reason])
        case .noLocale: text(.startTerminal, [.reason: text(.startNoLocale)])
        case .noMemory: text(.startTerminal, [.reason: text(.startNoMemory)])
        case .tooSimple: text(.startTooSimple)
        }
    }

    /// What to try if the broker cannot be reached.
    func advice(for error: any Error) -> String? {
        guard let error = error as? BrokerConnectionError else { return nil }
        return switch error.remedy {
        case .startSystemBroker: text(.adviceSystem)
        case .startSessionBroker: text(.adviceSession)
        case .checkSocket: text(.adviceForeign)
        }
    }

    /// An error reply of the broker.
    private func words(forReply name: String, _ parameters: JSONValue) -> String {
        let problem = parameters["problem"]?.string ?? ""
        let reason = parameters["reason"]?.string.map(ShownText.line) ?? ""
        // A problem's text has its name; a test finds one without a text.
        let phrase: Phrase? =
            switch name {
            case "io.contactbroker.Agent.InvalidAnswer":
                AnswerProblem(rawValue: problem).flatMap { Phrase("answer", $0.rawValue) }
            case "io.contactbroker.Agent.AuthenticationFailed":
                PasswordProblem(rawValue: problem).flatMap { Phrase("password", $0.rawValue) }
            case "io.contactbroker.Agent.InvalidFolder":
                FolderProblem(rawValue: problem).flatMap { Phrase("folder", $0.rawValue) }
            case "io.contactbroker.Agent.TooManyAgents": .errorTooManyAgents
            case "io.contactbroker.Contacts.StoreUnavailable": .errorStore
            case "org.varlink.service.PermissionDenied": .errorNotAccepted
            default: nil
            }
        if name == "io.contactbroker.Agent.NotAnAgent" {
            return text(.errorNotAccepted) + (reason.isEmpty ? "" : " (\(isolated(reason)))")
        }
        if let phrase { return text(phrase, [.reason: reason]) }
        return reason.isEmpty ? ShownText.line(name) : isolated(reason)
    }

    /// Why a row cannot be chosen; `nil` if the problem has no text.
    func words(forRow problem: String, key: String?) -> String? {
        let name = key.flatMap { key in
            GrantedKeys.words(for: [key], self) ?? ContactKey(rawValue: key).map { isolated(self.key($0)) }
        }
        func counted(_ phrase: Phrase) -> String? { name.map { text(phrase, [.name: $0]) } }
        return switch RowProblem(rawValue: problem) {
        case .excluded: text(.rowExcluded)
        case .lacksKey: counted(.rowLacks)
        case .tooFew: counted(.rowTooFew)
        case .tooMany: counted(.rowTooMany)
        case .otherFamilyName: text(.rowOtherName)
        case nil: nil
        }
    }
}
