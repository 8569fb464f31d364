import BrokerCommandOutput
import BrokerModel
import Contacts

extension AddressBook {
    func groups() throws -> [CNGroup] { try trying { try $0.groups(matching: nil) } }

    /// Returns the group with this identifier or name. Case is ignored, unless several groups match and
    /// exactly one of them has the same case. A group that another app with limited access named is used only if there is
    /// no other.
    ///
    /// - Throws: ``CommandFailure`` if no group matches, or several do.
    func group(named word: String) throws -> CNGroup {
        let groups = try groups()
        if let group = groups.first(where: { $0.identifier == word }) { return group }
        let all = groups.filter { $0.name.lowercased() == word.lowercased() }
        let own = all.filter { !$0.isNamedByOtherApp }
        let found = own.isEmpty ? all : own
        let exact = found.filter { $0.name == word }
        if let group = exact.count == 1 ? exact.first : found.count == 1 ? found.first : nil { return group }
        let shown = Speech.clean(word)
        guard !found.isEmpty else {
            throw CommandFailure(
                "could not \(task): there is no group called \(shown)", try: "see them all: contactbook groups",
                .refused)
        }
        for group in found { Speech.say("\(group.identifier)  \(Speech.clean(group.name))") }
        throw CommandFailure(
            "could not \(task): \(found.count) groups are called \(shown)", try: "name one by its identifier, as above",
            .refused)
    }

    /// The number of groups up to which one call for each is faster than the history of the whole address book.
    private static let fewGroups = 50

    /// Returns the identifiers of the cards in each of these groups, with a limited number of calls.
    func members(of groups: [CNGroup]) throws -> [String: [String]] {
        var members: [String: [String]] = [:]
        guard groups.count > Self.fewGroups else {
            for group in groups { members[group.identifier] = try self.members(of: group.identifier) }
            return members
        }
        // A history without a token has one event for each contact, group and member.
        let request = CNChangeHistoryFetchRequest()
        request.shouldUnifyResults = false
        request.includeGroupChanges = true
        for group in groups { members[group.identifier] = [] }
        for case let event as CNChangeHistoryAddMemberToGroupEvent in try trying({
            try $0.changeHistory(for: request).value
        }) {
            members[event.group.identifier]?.append(event.member.identifier)
        }
        return members
    }

    /// Returns the identifiers of the cards in a group.
    func members(of group: String) throws -> [String] {
        let request = CNContactFetchRequest(keysToFetch: [CNContactIdentifierKey])
        request.predicate = CNContact.predicateForContactsInGroup(withIdentifier: group)
        request.unifyResults = false
        var members: [String] = []
        try trying { try $0.forEachContact(with: request, pageSize: 1_000) { members.append($0.identifier) } }
        return members
    }
}

extension CNGroup {
    /// Returns a mutable copy of the group, renamed to this name.
    func renamed(_ name: String) -> CNMutableGroup {
        let group = mutableCopy() as? CNMutableGroup ?? CNMutableGroup()
        group.name = name
        return group
    }
}
