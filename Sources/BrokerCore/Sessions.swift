import BrokerInterface
import BrokerVarlink

/// The sessions of open connections, each from its first call on. This class lives on the event loop.
final class Sessions {
    private var open: [ObjectIdentifier: CallerSession] = [:]

    var all: [CallerSession] { Array(open.values) }

    /// The sessions on the apps' socket.
    var apps: [CallerSession] { open.values.filter { $0.interface == .contacts } }

    /// - Returns: whether the session is new.
    func open(_ session: CallerSession, _ connection: any Connection) -> Bool {
        guard session.connection == nil else { return false }
        session.connection = connection
        open[ObjectIdentifier(connection)] = session
        return true
    }

    func close(_ connection: any Connection) -> CallerSession? {
        open.removeValue(forKey: ObjectIdentifier(connection))
    }
}
