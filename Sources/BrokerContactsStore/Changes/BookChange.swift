import BrokerModel

/// One entry of the book's change history.
public struct BookChange: Hashable, Sendable {
    public enum Kind: Int64, CaseIterable, Sendable {
        case addContact = 1
        case updateContact
        case deleteContact
        case addGroup
        case updateGroup
        case deleteGroup
        case addMember
        case removeMember
        case addSubgroup
        case removeSubgroup
        /// Two cards became linked. Each pair is one change, and ``BookChange/record`` is the card with the
        /// lower number.
        case link
        case unlink
        /// Like ``link``, but visible only to readers of all ``BookLinks/evidenceKeys``.
        case linkByEvidence
        case unlinkByEvidence
        /// Like ``link``, but visible only to readers who lack one of ``BookLinks/evidenceKeys``. A reader of
        /// all these keys sees no change, because evidence links the cards before and after it.
        case linkByHand
        case unlinkByHand

        /// Whether the record is a group.
        public var isOfGroup: Bool {
            switch self {
            case .addContact, .updateContact, .deleteContact, .link, .unlink, .linkByEvidence, .unlinkByEvidence,
                .linkByHand, .unlinkByHand:
                false
            case .addGroup, .updateGroup, .deleteGroup, .addMember, .removeMember, .addSubgroup, .removeSubgroup: true
            }
        }

        /// Whether the change concerns a link between two cards.
        public var isOfLinks: Bool { links != nil }

        /// Whether two cards became linked; `nil` if the change does not concern links.
        public var links: Bool? {
            switch self {
            case .link, .linkByEvidence, .linkByHand: true
            case .unlink, .unlinkByEvidence, .unlinkByHand: false
            case .addContact, .updateContact, .deleteContact, .addGroup, .updateGroup, .deleteGroup, .addMember,
                .removeMember, .addSubgroup, .removeSubgroup:
                nil
            }
        }

        public var isByEvidence: Bool { self == .linkByEvidence || self == .unlinkByEvidence }

        /// The raw values of the kinds that are hidden from a reader of these keys.
        static func hidden(from keys: ContactKeySet) -> ClosedRange<Int64> {
            keys.isSuperset(of: BookLinks.evidenceKeys)
                ? linkByHand.rawValue...unlinkByHand.rawValue : linkByEvidence.rawValue...unlinkByEvidence.rawValue
        }
    }

    /// Greater than every earlier number. A number is never reused, not even after an older copy of the book
    /// was restored.
    public let number: Int64
    public let kind: Kind
    /// The contact or the group.
    public let record: RecordNumber
    /// The contact or group that joined or left the group; for a link, the other card.
    public let member: RecordNumber?
    /// For an update of a contact, the keys whose values changed.
    public let keys: ContactKeySet
    /// The app that created the group. For a change of a subgroup, the app that created both groups; empty if
    /// two apps created them. `nil` for changes of contacts and links.
    public let owner: [UInt8]?
    public let author: ChangeAuthor

    /// Whether the change concerns one of these records in a way that a person sees. The broker adds thumbnails itself.
    public func concerns(_ records: Set<RecordNumber>) -> Bool {
        guard keys != ContactKeySet(.thumbnailImageData) else { return false }
        return records.contains(record) || member.map(records.contains) == true
    }

    /// Returns a lower bound for the numbers of changes at or after a time. The first change of a save has
    /// the save's time in microseconds as its number, or one more than the last number if that is greater.
    public static func lowestNumber(at seconds: Int64) -> Int64 {
        let (time, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? 0 : time
    }
}

/// The author of a change to the book.
public struct ChangeAuthor: Hashable, Sendable {
    /// 16 bytes that identify an app without naming it.
    public let app: [UInt8]
    /// The app's own name for the author, which the app sees in its change history; empty if the app gave
    /// none.
    public let name: String

    public init(app: [UInt8], name: String = "") {
        self.app = app
        self.name = name
    }

    /// The author of a change that no app made.
    public static let nobody = ChangeAuthor(app: [UInt8](repeating: 0, count: 16))
}

/// The changes that a reader may see.
public struct ChangeScope: Hashable, Sendable {
    public var records: RecordScope
    /// The keys that the reader may see. An update that changes only other keys is hidden.
    public var keys: ContactKeySet
    /// The reader's app. If `records` is restricted and `keys` lacks ``ContactKeySet/groups``, only this
    /// app's groups are visible.
    public var app: [UInt8]

    public init(records: RecordScope, keys: ContactKeySet, app: [UInt8]) {
        self.records = records
        self.keys = keys
        self.app = app
    }

    public func contains(_ change: BookChange) -> Bool {
        switch change.kind {
        case .addContact, .deleteContact: return records.contains(change.record)
        // Hidden unless the reader sees both cards.
        case .link, .unlink, .linkByEvidence, .unlinkByEvidence, .linkByHand, .unlinkByHand:
            return reports(change.kind) && records.contains(change.record)
                && change.member.map(records.contains) == true
        case .updateContact: return records.contains(change.record) && !keys.isDisjoint(with: change.keys)
        case .addMember, .removeMember:
            return seesGroups(of: change) && change.member.map(records.contains) == true
        case .addGroup, .updateGroup, .deleteGroup, .addSubgroup, .removeSubgroup: return seesGroups(of: change)
        }
    }

    /// Whether a reader of these keys may see a change of this kind.
    public func reports(_ kind: BookChange.Kind) -> Bool { !BookChange.Kind.hidden(from: keys).contains(kind.rawValue) }

    /// The app whose groups are visible; `nil` if all groups are.
    public var groupOwner: [UInt8]? {
        switch records {
        case .all: nil
        case .only: keys.isSuperset(of: .groups) ? nil : app
        }
    }

    private func seesGroups(of change: BookChange) -> Bool { groupOwner.map { change.owner == $0 } ?? true }
}
