import BrokerAccessControl
import BrokerModel

/// A save that an app began and whose end is not recorded.
public struct SaveIntent: Hashable, Sendable {
    public let id: Int64
    public let uid: UInt32
    /// The principal that made the save. It is always persistent: bindings to a session or a process ended
    /// with the daemon.
    public let principal: Principal
    /// The contacts that the save was to add.
    public let adds: [RecordNumber]
}
