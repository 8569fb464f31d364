import BrokerModel

/// The contact groups that a limited grant shares with an app, and the cards that are in the granted set because of
/// them. The granted set contains ``joined``, and never contains ``withheld``.
public struct GrantedGroups: Hashable, Sendable {
    /// The groups. Their record numbers are never reused, so a group that is made again is another group.
    public var records: Set<RecordNumber> = []
    /// The cards that joined the granted set as members of a group and were not granted singly. They leave the set
    /// when they leave the groups.
    public var joined: Set<RecordNumber> = []
    /// The cards of the groups that the person revoked singly. They do not join again until the person shares them,
    /// or the group, again.
    public var withheld: Set<RecordNumber> = []

    /// Groups that were deleted, and since when nothing was revoked. They share again if they are put back.
    public var gone: Set<RecordNumber> = []

    /// The groups, also those that are gone.
    public var all: Set<RecordNumber> { records.union(gone) }

    public init() {}
}

extension Grant {
    /// Shares a group, or shares it again: the cards that are its members now join, even if they were revoked singly.
    /// Does nothing unless the grant is limited.
    public mutating func share(group: RecordNumber, members: Set<RecordNumber>) {
        guard case .limited(let set) = access else { return }
        groups.records.insert(group)
        groups.joined.formUnion(members.subtracting(set))
        groups.withheld.subtract(members)
        access = .limited(to: set.union(members))
    }

    /// Shares cards singly: they stay when they leave a group.
    public mutating func share(_ cards: Set<RecordNumber>) {
        guard case .limited(let set) = access else { return }
        groups.joined.subtract(cards)
        groups.withheld.subtract(cards)
        access = .limited(to: set.union(cards))
    }

    /// Revokes cards singly. They do not join again as members of a group.
    public mutating func revoke(_ cards: Set<RecordNumber>) {
        guard case .limited(let set) = access else { return }
        if !groups.records.isEmpty { groups.withheld.formUnion(cards) }
        groups.gone = []
        groups.joined.subtract(cards)
        access = .limited(to: set.subtracting(cards))
    }

    /// Keeps only these of the granted cards, each as granted singly, and no group.
    public mutating func narrow(to cards: Set<RecordNumber>) {
        groups = GrantedGroups()
        access = .limited(to: access.records.intersection(cards))
    }

    /// Removes cards that are no longer in the book. What was withheld stays so, because a card can be put back.
    public mutating func drop(_ cards: Set<RecordNumber>) {
        guard case .limited(let set) = access else { return }
        groups.joined.subtract(cards)
        access = .limited(to: set.subtracting(cards))
    }

    /// Brings the granted set in line with the groups.
    ///
    /// - Parameters:
    ///   - members: the cards that each of the groups shares now. A group without an entry is gone.
    ///   - mayGrow: whether cards may join.
    public mutating func follow(_ members: [RecordNumber: Set<RecordNumber>], mayGrow: Bool) {
        let all = groups.all
        guard case .limited = access, !all.isEmpty else { return }
        groups.records = all.intersection(members.keys)
        groups.gone = all.subtracting(members.keys)
        follow(members, mayGrow)
    }

    /// Removes the groups that are not in `members`, and the cards that joined because of them.
    public mutating func leaveGroups(except members: [RecordNumber: Set<RecordNumber>]) {
        guard case .limited = access else { return }
        groups.records.formIntersection(members.keys)
        groups.gone = []
        follow(members, false)
    }

    private mutating func follow(_ members: [RecordNumber: Set<RecordNumber>], _ mayGrow: Bool) {
        guard case .limited(let set) = access else { return }
        let all = groups.records.reduce(into: Set<RecordNumber>()) { $0.formUnion(members[$1] ?? []) }
        let single = set.subtracting(groups.joined)
        var joined = groups.joined.intersection(all)
        if mayGrow { joined = all.subtracting(single).subtracting(groups.withheld) }
        groups.joined = joined
        if groups.all.isEmpty { groups.withheld = [] }
        access = .limited(to: single.union(joined))
    }
}
