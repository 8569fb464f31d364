import BrokerAccessControl
import BrokerModel

/// A save that an app began and whose end is not recorded.
public struct SaveIntent: Hashable, Sendable {
    public let id: Int64
    public let uid: UInt32
    /// The principal that saved. After a restart it has no session or process: those bindings ended with the daemon.
    public let principal: Principal
    /// The contacts that the save was to add.
    public let adds: [RecordNumber]
}
