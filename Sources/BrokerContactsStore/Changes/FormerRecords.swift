import BrokerModel

/// What a row of the bin is about.
enum BinSubject: Int64 {
    case contact = 1
    case group
    /// `record` is the group, and `member` the contact.
    case member
    /// `record` is the group, and `member` the group in it.
    case subgroup
    /// The set of cards, linked by hand, that a card is in.
    case handLink
    /// Two cards, the lower number first.
    case unlike
    /// The owner's own card.
    case me
    case container
    /// Contacts that the save added, from `record` to `member`.
    case added
}

/// What a row of the bin says was before a save: a record, or what connects two records.
struct FormerState: Hashable, Sendable {
    /// `nil` for a contact that the save added.
    let item: Int64?
    let subject: BinSubject
    let record: RecordNumber
    let member: RecordNumber
    let existed: Bool
    let former: RecordNumber?
    let save: Int64
    let mark: [UInt8]
    /// The number after which another author's row is a conflict.
    let place: Int64

    /// The numbers of the contacts that a save added, for such a row. In a damaged file they could be in the wrong order.
    var addedNumbers: ClosedRange<Int64>? {
        subject == .added && record <= member ? record.rawValue...member.rawValue : nil
    }

    /// The state of one of the contacts that a save added.
    func added(_ record: RecordNumber) -> FormerState {
        FormerState(
            item: nil, subject: .contact, record: record, member: RecordNumber(0), existed: false, former: nil,
            save: save, mark: mark, place: place)
    }
}

/// Records that an app deleted, and what connected records before it changed that, for the app to bring back.
public struct FormerRecords: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// A contact as it was, with the values that the app does not see.
        case contact(StoredContact)
        /// A group, which has this name, without its members.
        case group(name: String)
        /// A container, which has this name.
        case container(name: String)
        /// The groups, the links and the place as the person's own card of records that the same save brings back.
        case relations
        /// Links made by hand, and pairs of cards that must not be linked.
        case links
    }

    public let kind: Kind
    /// The records that come back; for ``Kind/links``, the cards.
    public let records: Set<RecordNumber>
    /// In the order in which the bin has them.
    let steps: [FormerState]

    /// The contact of ``Kind/contact(_:)``.
    public var contact: Contact? {
        guard case .contact(let stored) = kind else { return nil }
        return Contact(stored)
    }

    public var isContact: Bool { if case .contact = kind { true } else { false } }

    /// What connects records again, or no longer.
    public enum Connection: Hashable, Sendable {
        case member(RecordNumber, of: RecordNumber, isIn: Bool)
        case subgroup(RecordNumber, of: RecordNumber, isIn: Bool)
        case link(RecordNumber, RecordNumber?, isOne: Bool)
        case own(RecordNumber)
    }

    /// What ``Kind/relations`` and ``Kind/links`` do.
    public var connections: [Connection] {
        steps.compactMap { step in
            switch step.subject {
            case .member: .member(step.member, of: step.record, isIn: step.existed)
            case .subgroup: .subgroup(step.member, of: step.record, isIn: step.existed)
            // The first card of a set stands for the set.
            case .handLink:
                step.former == step.record ? nil : .link(step.record, step.former, isOne: step.former != nil)
            case .unlike: .link(step.record, step.member, isOne: !step.existed)
            case .me: step.former.map { .own($0) }
            case .contact, .group, .container, .added: nil
            }
        }
    }
}
