import BrokerAccessControl
import BrokerModel

/// A save that an app began and of which no end is recorded.
public struct SaveIntent: Hashable, Sendable {
    public let id: Int64
    public let uid: UInt32
    /// Who saved. After a restart without its binding: sessions and processes have ended with the daemon.
    public let principal: Principal
    /// The contacts it was about to add.
    public let adds: [RecordNumber]
}
