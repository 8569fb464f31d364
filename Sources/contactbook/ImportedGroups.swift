import BrokerContactFiles

/// The groups of imported cards. They come from the group names in cards and rows, from subfolders, and from
/// group cards.
final class ImportedGroups {
    /// The names of one card's groups, and the card's UID.
    struct Membership {
        var names: [String] = []
        var uid: String?
    }

    /// A group card of the imported files.
    struct GroupCard {
        let name: String
        let uid: String
        /// Whether other programs know the group by its UID. A group of LDIF has only a name in its directory.
        let isKnownByUID: Bool
        let members: [String]
        let place: String
    }

    /// The maximum number of groups in one run. A file with more groups is unlikely to be an address book.
    static let most = 1_000
    /// Member identifiers by group name.
    private(set) var members: [String: [String]] = [:]
    /// Group names in the order of their first occurrence.
    private(set) var names: [String] = []
    private(set) var identifiersByUID: [String: String] = [:]
    /// The group cards of this run.
    var cards: [GroupCard] = []

    /// Registers a group name. Returns `false` if there are already ``most`` groups.
    func knows(_ name: String) -> Bool {
        if members[name] != nil { return true }
        guard names.count < Self.most else { return false }
        members[name] = []
        names.append(name)
        return true
    }

    func join(_ membership: Membership, as identifier: String) {
        for name in membership.names { members[name, default: []].append(identifier) }
        if let uid = membership.uid { identifiersByUID[uid] = identifier }
    }

    /// Adds the members that a group card lists and that this run has imported.
    ///
    /// - Returns: the number of members that this run has not imported.
    func addMembers(of card: GroupCard) -> Int {
        let known = card.members.compactMap { identifiersByUID[ContactUID.comparable($0)] }
        members[card.name, default: []] += known
        return card.members.count - known.count
    }
}
