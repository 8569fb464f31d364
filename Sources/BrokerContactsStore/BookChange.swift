import BrokerModel

/// One entry of the book's history: what happened to a record.
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
        /// Two cards became linked: one change for each pair, the lower number as the record.
        case link
        case unlink
        /// The same, for who sees by what cards are linked by evidence (``BookLinks/evidenceKeys``).
        case linkByEvidence
        case unlinkByEvidence
        /// The same, for who does not: of cards that evidence links already, or still.
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

        /// Whether it is about two cards.
        public var isOfLinks: Bool { links != nil }

        /// Whether two cards became linked; `nil` where it is about something else.
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

        /// The kinds, by number, that somebody is not told of who may read these keys.
        static func hidden(from keys: ContactKeySet) -> ClosedRange<Int64> {
            keys.isSuperset(of: BookLinks.evidenceKeys)
                ? linkByHand.rawValue...unlinkByHand.rawValue : linkByEvidence.rawValue...unlinkByEvidence.rawValue
        }
    }

    /// Above that of every change before it; never given twice, not in an older copy of the book either.
    public let number: Int64
    public let kind: Kind
    /// The contact or the group.
    public let record: RecordNumber
    /// The contact or the group that joined or left the record; of a link, the other card.
    public let member: RecordNumber?
    /// The keys whose values changed, of an update.
    public let keys: ContactKeySet
    /// The app that made all groups concerned; `nil` for contacts, and where the groups are of several.
    public let owner: [UInt8]?
    public let author: ChangeAuthor
}

/// Who changes the book.
public struct ChangeAuthor: Hashable, Sendable {
    /// Names an app without saying which: 16 bytes.
    public let app: [UInt8]
    /// What the app calls itself, or a part of itself, in its own history.
    public let name: String

    public init(app: [UInt8], name: String = "") {
        self.app = app
        self.name = name
    }

    /// No app.
    public static let nobody = ChangeAuthor(app: [UInt8](repeating: 0, count: 16))
}

/// Which changes somebody can see.
public struct ChangeScope: Hashable, Sendable {
    public var records: RecordScope
    /// An update of other keys is none.
    public var keys: ContactKeySet
    /// Within some records, and without the key ``ContactKeySet/groups``, the groups of this app alone.
    public var app: [UInt8]

    public init(records: RecordScope, keys: ContactKeySet, app: [UInt8]) {
        self.records = records
        self.keys = keys
        self.app = app
    }

    public func contains(_ change: BookChange) -> Bool {
        switch change.kind {
        case .addContact, .deleteContact: return records.contains(change.record)
        // For who sees only one of the two nothing happened.
        case .link, .unlink, .linkByEvidence, .unlinkByEvidence, .linkByHand, .unlinkByHand:
            return tellsOf(change.kind) && records.contains(change.record)
                && change.member.map(records.contains) == true
        case .updateContact: return records.contains(change.record) && !keys.isDisjoint(with: change.keys)
        case .addMember, .removeMember:
            return seesGroups(of: change) && change.member.map(records.contains) == true
        case .addGroup, .updateGroup, .deleteGroup, .addSubgroup, .removeSubgroup: return seesGroups(of: change)
        }
    }

    /// Whether a change of this kind is one for who may read these keys.
    public func tellsOf(_ kind: BookChange.Kind) -> Bool { !BookChange.Kind.hidden(from: keys).contains(kind.rawValue) }

    /// Whose groups can be seen; `nil` for everybody's.
    public var groupOwner: [UInt8]? {
        switch records {
        case .all: nil
        case .only: keys.isSuperset(of: .groups) ? nil : app
        }
    }

    private func seesGroups(of change: BookChange) -> Bool { groupOwner.map { change.owner == $0 } ?? true }
}
