import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Varlink

/// Groups that a caller sees: all of them under `full`, and under `limited` those that it made itself, or all of them with the key
/// ``ContactKeySet/groups``.
extension Reading {
    /// What of the book's changes the caller sees.
    var changeScope: ChangeScope {
        ChangeScope(records: disclosure.scope, keys: disclosure.keys, app: identifiers.mark)
    }

    /// Whose groups are looked at; `nil` for everybody's.
    var groupOwner: [UInt8]? { changeScope.groupOwner }

    func made(_ group: StoredGroup) -> Bool { group.owner == identifiers.mark }

    /// Whether the caller may rename, delete and nest a group that it sees. What others made under `limited` it may not, but it
    /// may say which of its contacts are in it.
    func owns(_ group: RecordNumber, _ own: OwnRecords) -> Bool {
        disclosure.scope == .all || own.groups.contains(group)
    }

    func group(_ record: RecordNumber) throws(StoreError) -> StoredGroup? {
        guard let group = try book?.group(record), groupOwner == nil || group.owner == groupOwner else { return nil }
        return group
    }

    /// The visible group that an identifier names.
    func group(named identifier: String) throws(StoreError) -> StoredGroup? {
        guard let record = identifiers.record(identifier, as: .group) else { return nil }
        return try group(record)
    }

    func visibleParents(of group: StoredGroup) throws(StoreError) -> [RecordNumber] {
        var parents: [RecordNumber] = []
        for parent in group.parents where try self.group(parent) != nil { parents.append(parent) }
        return parents
    }

    /// Writes a `Group` of the interface.
    func describe(_ group: StoredGroup, _ parents: [RecordNumber], _ writer: inout DisclosedWriter) {
        writer.member("identifier", identifiers.identifier(of: group.record, as: .group))
        writer.member("name", group.name)
        writer.member("container", containerIdentifier(group.container))
        writer.member("parents", parents.map { identifiers.identifier(of: $0, as: .group) })
    }
}

extension Broker {
    func listGroups(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ListGroupsParameters(call.parameters)
        read(call, session) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            let found: [(group: StoredGroup, parents: [RecordNumber])]
            do throws(StoreError) {
                found = try groups(parameters, reading)
            } catch {
                throw .store(error)
            }
            reply(to: call, session, reading, count: found.count) {
                $0.array("groups", found) { writer, found in
                    reading.describe(found.group, found.parents, &writer)
                }
            }
        }
    }

    private func groups(
        _ parameters: ListGroupsParameters, _ reading: Reading
    ) throws(StoreError) -> [(group: StoredGroup, parents: [RecordNumber])] {
        var groups = try reading.book?.groups(of: reading.groupOwner) ?? []
        if let container = parameters.container {
            groups = groups.filter { reading.containerIdentifier($0.container) == container }
        }
        if let identifiers = parameters.identifiers {
            // What names nothing that the caller may see is left out, whatever the reason.
            let wanted = Set(identifiers.compactMap { reading.identifiers.record($0, as: .group) })
            groups = groups.filter { wanted.contains($0.record) }
        }
        let visible = Set(groups.map(\.record))
        var found: [(group: StoredGroup, parents: [RecordNumber])] = []
        for group in groups {
            let parents =
                parameters.identifiers == nil
                ? group.parents.filter(visible.contains) : try reading.visibleParents(of: group)
            found.append((group, parents))
        }
        return found
    }
}
