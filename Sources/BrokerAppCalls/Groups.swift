import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// Groups as a caller sees them. An app with full access sees all groups. An app with limited access sees the
/// groups that it made, or all groups if it may read ``ContactKeySet/groups``.
extension ReadContext {
    /// The app whose groups are visible; `nil` if all groups are visible.
    var groupOwner: [UInt8]? { changeScope.groupOwner }

    func made(_ group: StoredGroup) -> Bool { group.owner == identifiers.mark }

    func group(_ record: RecordNumber) throws(StoreError) -> StoredGroup? {
        try book?.group(record, of: groupOwner)
    }

    /// The visible group that an identifier names; `nil` if there is none.
    func group(named identifier: String) throws(StoreError) -> StoredGroup? {
        guard let record = identifiers.record(identifier, as: .group) else { return nil }
        return try group(record)
    }

    func visibleParents(of group: StoredGroup) throws(StoreError) -> [RecordNumber] {
        var parents: [RecordNumber] = []
        for parent in group.parents where try self.group(parent) != nil { parents.append(parent) }
        return parents
    }

    /// Writes the members of the Varlink type `Group`.
    func describe(_ group: StoredGroup, _ parents: [RecordNumber], _ writer: inout DisclosedWriter) {
        writer.member("identifier", identifiers.identifier(of: group.record, as: .group))
        writer.member("name", group.name)
        writer.member("container", containerIdentifier(group.container))
        writer.member("parents", parents.map { identifiers.identifier(of: $0, as: .group) })
        if !group.isConfirmed, !made(group) { writer.member("namedByOther", true) }
    }
}
