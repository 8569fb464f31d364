import BrokerModel

/// The save that takes back what a group of an app's saves did, as far as the app may know of it.
public struct InverseSave: Sendable {
    /// In an order in which they can be made.
    public internal(set) var changes: [ContactChange] = []
    /// Of the contacts and groups that the changes concern, those that the app added.
    public internal(set) var ownContacts: Set<RecordNumber> = []
    public internal(set) var ownGroups: Set<RecordNumber> = []
    /// The contacts and groups that were changed since, in what the app sees. They stay as they are.
    public internal(set) var conflicts: [RecordNumber] = []
    public internal(set) var groupConflicts: [RecordNumber] = []
    public var hasConflicts: Bool { !conflicts.isEmpty || !groupConflicts.isEmpty }
    /// Whether something stays for a reason that the app must not learn: the bin has it no more, the app does not see it,
    /// or it was changed where the app does not see it.
    public internal(set) var isPartial = false
    /// Whether further changes did not fit.
    public internal(set) var hasMore = false
    /// The number of the book's last change.
    public internal(set) var asOf: Int64

    /// Leaves out contacts that must not come back for the app.
    public mutating func keepOut(_ records: Set<RecordNumber>) {
        let count = changes.count
        changes.removeAll { change in
            if case .putBack(let former) = change, case .contact = former.kind {
                !records.isDisjoint(with: former.records)
            } else {
                false
            }
        }
        if changes.count < count { isPartial = true }
    }
}
