import CommandOutput
import ContactsModel

/// A group, as far as this program sees it.
struct BookGroup: Hashable {
    let identifier: String
    let name: String
    /// The groups that it is within.
    let parents: [String]
}

extension AddressBook {
    func groups() throws -> [BookGroup] {
        let reply = try call("ListGroups") { _ in }
        return (reply["groups"]?.elements.map(Array.init) ?? []).compactMap { group in
            guard let identifier = group["identifier"]?.string, let name = group["name"]?.string else { return nil }
            return BookGroup(
                identifier: identifier, name: name, parents: group["parents"]?.elements?.compactMap(\.string) ?? [])
        }
    }

    /// The one group of this name, in whatever case, or identifier.
    func group(named word: String) throws -> BookGroup {
        let groups = try groups()
        let found = groups.filter { $0.identifier == word || $0.name.lowercased() == word.lowercased() }
        let exact = found.filter { $0.name == word || $0.identifier == word }
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

    /// The identifiers of the cards in a group.
    func members(of group: String) throws -> [String] {
        var members: [String] = []
        // A key is needed; this one is the shortest.
        try fetch(ContactKeySet([.contactType]), .group(group), unify: false, page: 1_000) {
            if let identifier = $0.identifier { members.append(identifier) }
        }
        return members
    }
}
