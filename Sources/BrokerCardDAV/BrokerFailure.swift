import BrokerJSON
import BrokerSQLite
import BrokerVarlinkClient

/// Why the broker gave no answer that a client can use.
enum BrokerFailure: Error {
    /// The name is unknown, the password is wrong, or the connection lapsed: the broker does not say which.
    ///
    /// - Parameter wait: how long the client must wait for the answer.
    case wrongPassword(wait: Duration)
    /// The broker is not there, or has a problem. The text is for the log.
    case unavailable(String)

    init(_ error: VarlinkClientError) {
        switch error {
        case .error(BrokerBook.interface + ".WrongPassword", let parameters):
            let wait = parameters["wait"]?.integer ?? 0
            self = .wrongPassword(wait: .milliseconds(min(max(0, wait), Self.longestWait)))
        // Only the name: parameters can repeat what the request said.
        case .error(let name, _): self = .unavailable(name)
        case .cannotConnect, .closed, .timedOut, .protocolViolation: self = .unavailable(error.description)
        }
    }
}

extension BrokerFailure {
    /// In milliseconds.
    private static let longestWait: Int64 = 60_000

    /// For the log.
    var reason: String {
        switch self {
        case .wrongPassword: "it does not know the password"
        case .unavailable(let reason): reason
        }
    }
}

/// Why a call to the broker outside of requests failed.
public struct ServiceProblem: Error, Hashable, Sendable {
    /// For the log.
    public let reason: String
}

extension BrokerFailure: SQLiteFailure {
    /// A problem with the service's own database, ``SentCards``.
    init(code: Int32, message: String) { self = .unavailable("carddav.sqlite: \(message) (SQLite code \(code))") }

    static func unavailable(reason: String) -> BrokerFailure { .unavailable(reason) }
}
