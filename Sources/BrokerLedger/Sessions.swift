import BrokerInterface
import BrokerVarlink

/// The sessions of open connections that have made a call. This class lives on the event loop.
package final class Sessions {
    private var open: [ObjectIdentifier: CallerSession] = [:]

    package init() {}

    package var all: [CallerSession] { Array(open.values) }

    /// The sessions on the apps' socket.
    package var apps: [CallerSession] { open.values.filter { $0.interface == .contacts } }

    /// - Returns: `false` if the session was registered before.
    package func open(_ session: CallerSession, _ connection: any Connection) -> Bool {
        guard session.connection == nil else { return false }
        session.connection = connection
        open[ObjectIdentifier(connection)] = session
        return true
    }

    package func close(_ connection: any Connection) -> CallerSession? {
        open.removeValue(forKey: ObjectIdentifier(connection))
    }
}
