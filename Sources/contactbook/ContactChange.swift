import ContactsModel
import JSON

/// Which contacts are wanted.
enum ContactSearch {
    case all
    /// Words that names begin with.
    case name(String)
    case emailAddress(String)
    case identifiers([String])
    case group(String)

    func write(to writer: inout JSONWriter) {
        if case .all = self { return }
        writer.name("predicate")
        writer.object {
            switch self {
            case .all: break
            case .name(let words): $0.member("name", words)
            case .emailAddress(let address): $0.member("emailAddress", address)
            case .identifiers(let identifiers): $0.member("identifiers", identifiers)
            case .group(let identifier): $0.member("group", identifier)
            }
        }
    }
}

/// One step of a save. What is added may have a name of one's own, by which later steps of the same save speak of it.
enum ContactChange {
    case add(Contact, as: String? = nil)
    case update(identifier: String, Contact, keys: ContactKeySet)
    case delete(identifier: String)
    case addGroup(String, as: String? = nil)
    case renameGroup(identifier: String, String)
    case deleteGroup(identifier: String)
    case addMember(group: String, member: String)
    case removeMember(group: String, member: String)
    case addSubgroup(group: String, member: String)
    case removeSubgroup(group: String, member: String)
    case link(String, String)
    case unlink(String, from: String)

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .add(let contact, let name):
                writer.member("operation", "add")
                writer.name("contact")
                WireContact(identifier: name, contact: contact, keys: contact.present).write(to: &writer)
            case .update(let identifier, let contact, let keys):
                writer.member("operation", "update")
                writer.name("contact")
                WireContact(identifier: identifier, contact: contact, keys: keys).write(to: &writer)
            case .delete(let identifier): Self.write("delete", contact: identifier, to: &writer)
            case .addGroup(let name, let identifier): Self.write("add", group: identifier, name, to: &writer)
            case .renameGroup(let identifier, let name): Self.write("update", group: identifier, name, to: &writer)
            case .deleteGroup(let identifier): Self.write("delete", group: identifier, to: &writer)
            case .addMember(let group, let member): Self.write("addMember", group: group, member: member, to: &writer)
            case .removeMember(let group, let member):
                Self.write("removeMember", group: group, member: member, to: &writer)
            case .addSubgroup(let group, let member):
                Self.write("addSubgroup", group: group, member: member, to: &writer)
            case .removeSubgroup(let group, let member):
                Self.write("removeSubgroup", group: group, member: member, to: &writer)
            case .link(let contact, let member):
                Self.write("link", contact: contact, to: &writer)
                writer.member("member", member)
            case .unlink(let member, let contact):
                Self.write("unlink", contact: contact, to: &writer)
                writer.member("member", member)
            }
        }
    }

    private static func write(_ operation: String, contact: String, to writer: inout JSONWriter) {
        writer.member("operation", operation)
        writer.name("contact")
        writer.object { $0.member("identifier", contact) }
    }

    private static func write(
        _ operation: String, group: String?, _ name: String = "", member: String? = nil, to writer: inout JSONWriter
    ) {
        writer.member("operation", operation)
        writer.name("group")
        writer.object {
            $0.member("identifier", group)
            $0.member("name", name)
        }
        writer.member("member", member)
    }
}

extension ContactChange {
    /// The same step about records of other identifiers: of those that have got one since they were named.
    func renaming(_ name: (String) -> String) -> ContactChange {
        switch self {
        case .add, .addGroup: self
        case .update(let identifier, let contact, let keys): .update(identifier: name(identifier), contact, keys: keys)
        case .delete(let identifier): .delete(identifier: name(identifier))
        case .renameGroup(let identifier, let title): .renameGroup(identifier: name(identifier), title)
        case .deleteGroup(let identifier): .deleteGroup(identifier: name(identifier))
        case .addMember(let group, let member): .addMember(group: name(group), member: name(member))
        case .removeMember(let group, let member): .removeMember(group: name(group), member: name(member))
        case .addSubgroup(let group, let member): .addSubgroup(group: name(group), member: name(member))
        case .removeSubgroup(let group, let member): .removeSubgroup(group: name(group), member: name(member))
        case .link(let contact, let member): .link(name(contact), name(member))
        case .unlink(let member, let contact): .unlink(name(member), from: name(contact))
        }
    }

    /// About as many bytes as it takes on the wire.
    var size: Int {
        guard case .add(let contact, _) = self else { return 2_048 }
        return 2_048 + contact.imageData.utf8.count + contact.note.utf8.count
            + contact.extraProperties.reduce(0) { $0 + $1.utf8.count }
    }
}
