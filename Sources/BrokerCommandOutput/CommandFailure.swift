import BrokerConnection
import BrokerVarlinkClient

/// Why a command did not do what it was asked, said to whoever typed it.
public struct CommandFailure: Error, Hashable {
    /// In lower case and without a full stop: `could not list the apps: …`.
    public let message: String
    /// What to try, where there is something.
    public let advice: String?
    public let code: Code

    public enum Code: Int32, Hashable, Sendable {
        /// It was tried, and refused or nothing found.
        case refused = 1
        /// It could not be tried.
        case notTried = 2
    }

    public init(_ message: String, try advice: String? = nil, _ code: Code) {
        self.message = message
        self.advice = advice
        self.code = code
    }

    /// - Parameter task: what was to be done, to stand after `could not`: `list the apps`.
    public init(could task: String, _ error: BrokerConnectionError) {
        self.init("could not \(task): \(error.description)", try: error.advice, .notTried)
    }

    /// What went wrong between the programs; what the broker itself answered is for the interface's reader to say.
    public init(could task: String, _ error: VarlinkClientError) {
        let reason =
            switch error {
            case .cannotConnect(let path, let reason): "the contact broker at \(path) does not answer: \(reason)"
            case .closed: "the contact broker hung up"
            case .timedOut: "the contact broker took too long"
            case .protocolViolation(let what): "the contact broker said what is no Varlink: \(what)"
            case .error(let name, _): "the contact broker answered \(name)"
            }
        self.init("could not \(task): \(reason)", try: "look at what contactbrokerd says", .notTried)
    }
}
