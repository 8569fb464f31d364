import BrokerModel

/// The save that takes back what a group of an app's saves did, as far as the app may know of it.
public struct InverseSave: Sendable {
    /// How many things of each kind are taken back.
    public struct Counts: Hashable, Sendable {
        public internal(set) var returned = 0
        public internal(set) var changed = 0
        public internal(set) var removed = 0
        public internal(set) var groups = 0
        public internal(set) var others = 0

        var isEmpty: Bool { self == Counts() }
    }

    /// In an order in which they can be made; empty if they are only counted.
    public internal(set) var changes: [ContactChange] = []
    public internal(set) var counts = Counts()
    /// Of the contacts and groups that the changes concern, those that the app added.
    public internal(set) var ownContacts: Set<RecordNumber> = []
    public internal(set) var ownGroups: Set<RecordNumber> = []
    /// The contacts that the group of saves deleted, and that come back or have done so already.
    public internal(set) var back: Set<RecordNumber> = []
    /// The contacts and groups that were changed since, in what the app sees. They stay as they are.
    public internal(set) var conflicts: [RecordNumber] = []
    public internal(set) var groupConflicts: [RecordNumber] = []
    /// Whether something stays for a reason that the app must not learn: the bin has it no more, the app does not see it,
    /// or it was changed where the app does not see it.
    public internal(set) var isPartial = false
    /// Whether there is more to take back.
    public internal(set) var hasMore = false
    /// The number of the book's last change.
    public internal(set) var asOf: Int64

    /// Whether nothing of the group can be taken back, and the app must not learn why.
    public var isNothing: Bool { counts.isEmpty && isPartial && !hasConflicts }
    public var hasConflicts: Bool { !conflicts.isEmpty || !groupConflicts.isEmpty }
}

/// What an app sees of a book, for what it may take back.
public struct InverseView: Sendable {
    let seen: ChangeScope
    /// For an app that does not see every contact: those that would be in its granted set again if they came back.
    let returning: Set<RecordNumber>
    /// Whether what was changed since is taken back, too.
    let isForced: Bool

    public init(_ seen: ChangeScope, returning: Set<RecordNumber>, isForced: Bool) {
        (self.seen, self.returning, self.isForced) = (seen, returning, isForced)
    }

    var seesEverything: Bool { seen.records == .all }

    /// Whether the app sees a contact, or would if the contact came back.
    func sees(_ contact: RecordNumber) -> Bool { seen.records.contains(contact) || returning.contains(contact) }
}
