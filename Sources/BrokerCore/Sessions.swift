import BrokerInterface
import BrokerVarlink

/// Who is connected. It lives on the loop.
final class Sessions {
    private var open: [ObjectIdentifier: CallerSession] = [:]

    var all: [CallerSession] { Array(open.values) }

    /// Those of apps.
    var apps: [CallerSession] { open.values.filter { $0.door == .contacts } }

    /// - Returns: whether it was not there yet.
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
