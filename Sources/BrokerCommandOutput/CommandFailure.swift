import BrokerConnection
import BrokerVarlinkClient

/// Why a command failed, as reported to the person.
public struct CommandFailure: Error, Hashable {
    /// In lower case and without a full stop: `could not list the apps: …`.
    public let message: String
    /// Advice for the person; `nil` if there is none.
    public let advice: String?
    public let code: Code

    public enum Code: Int32, Hashable, Sendable {
        /// The broker refused the command, or the command found nothing.
        case refused = 1
        /// The command could not be carried out.
        case notTried = 2
    }

    public init(_ message: String, try advice: String? = nil, _ code: Code) {
        self.message = message
        self.advice = advice
        self.code = code
    }

    /// - Parameter task: the command's task, phrased to follow `could not`: `list the apps`.
    public init(could task: String, _ error: BrokerConnectionError) {
        self.init("could not \(task): \(error.description)", try: error.advice, .notTried)
    }

    /// Describes a failed call. For an error reply, the message contains only the error's name: commands that
    /// know the interface should describe the error themselves.
    public init(could task: String, _ error: VarlinkClientError) {
        let reason =
            switch error {
            case .cannotConnect(let path, let reason): "the contact broker at \(path) does not answer: \(reason)"
            // The broker closes the connection of a program that it cannot identify, without a word.
            case .closed: "the contact broker refuses this program, or it has stopped"
            case .timedOut: "the contact broker took too long"
            case .protocolViolation(let what): "the contact broker said what is no Varlink: \(what)"
            case .error(let name, _): "the contact broker answered \(name)"
            }
        self.init("could not \(task): \(reason)", try: "look at what contactbrokerd says", .notTried)
    }
}
