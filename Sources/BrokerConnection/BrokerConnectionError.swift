/// Why a connection to the broker failed.
public enum BrokerConnectionError: Error, Hashable, Sendable {
    /// No candidate path has a socket.
    case notRunning(lookedAt: [String])
    /// The socket exists, but connecting to it failed.
    case cannotConnect(path: String, reason: String)
    /// The listener's user is not trusted: it is neither this user, nor the system broker's user, nor root. A
    /// `nil` uid means that the kernel did not report the user.
    case foreignServer(path: String, uid: UInt32?)
}

extension BrokerConnectionError: CustomStringConvertible {
    /// The error, in lower case and without a full stop, to follow `could not …: `.
    public var description: String {
        switch self {
        case .notRunning(let places):
            places.isEmpty
                ? "no path to the contact broker is known"
                : "no contact broker at \(places.joined(separator: " or "))"
        case .cannotConnect(let path, let reason): "the contact broker at \(path) does not answer: \(reason)"
        case .foreignServer(let path, let uid):
            if let uid {
                "the program that listens at \(path) runs as user \(uid), and is neither the system's contact broker nor yours"
            } else {
                "the system does not report which user listens at \(path)"
            }
        }
    }

    /// What may help.
    public enum Remedy: Sendable {
        case startSystemBroker, startSessionBroker, checkSocket
    }

    public var remedy: Remedy {
        switch self {
        case .notRunning(let places) where places.count == 1 && places.allSatisfy(BrokerPlaces.isOfSystem):
            .startSystemBroker
        case .cannotConnect(let path, _) where BrokerPlaces.isOfSystem(path): .startSystemBroker
        case .notRunning, .cannotConnect: .startSessionBroker
        case .foreignServer: .checkSocket
        }
    }

    /// Advice for the person.
    public var advice: String {
        switch remedy {
        case .startSystemBroker: "is it running? try: systemctl status contactbroker.service"
        case .startSessionBroker: "is contactbrokerd running? try: contactbrokerd --session"
        case .checkSocket: "check $CONTACTBROKER_RUNTIME_DIR, and who created the socket"
        }
    }
}
