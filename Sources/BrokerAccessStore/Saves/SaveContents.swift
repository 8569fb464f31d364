import BrokerAccessControl
import BrokerModel

/// A save that has begun and is not yet in the user's book.
public struct BegunSave: Sendable {
    let notice: SaveNotice
    let principal: Principal
    /// The grant's epoch when the save began; see ``SetHistory/epoch``.
    let epoch: Int64?
    /// The entry for the book's outbox. Its number in the outbox is ``number``.
    public let entry: [UInt8]
    public var number: Int64 { notice.number }
    /// The number of the last entry of the book's outbox whose effects are synced in the access database.
    public let takenOver: Int64
    /// The position of the last synced audit record.
    public let synced: AuditPosition
}

/// The content of a save, for ``AccessStore/beginSave(_:by:now:)``.
public struct SaveContents: Sendable {
    /// New contacts; they join a limited app's granted set.
    public var adds: [RecordNumber] = []
    /// Deleted contacts; they leave all granted sets.
    public var deletes: [RecordNumber] = []
    /// The contacts that the audit names.
    public var contacts: [RecordNumber] = []
    /// The number of changes, if the save concerns no contacts.
    public var count = 0
    /// Whether the app's effective access is limited, for example because the policy caps a full grant. If
    /// so, and the grant itself is not limited, the store marks the contacts that this save adds as created
    /// by the app.
    public var isKeptToSingle = false
    /// As in ``AuditRecord/detail``.
    public var detail: String?

    public init() {}
}

/// A save that is in the book and not yet committed in the access database.
struct Delivery {
    let notice: SaveNotice
    /// The number of the last change that this save made in the book.
    let change: Int64
    /// The principal that made the save, and the epoch of its grant when the save began. `nil` after a
    /// restart; the decision in ``notice`` then identifies the grant.
    let now: (principal: Principal, epoch: Int64?)?
}
