import BrokerJSON
import BrokerModel
import Foundation

extension CNSaveRequest.Step {
    /// Whether this library made the identifier. The broker's identifiers have no hyphens. If an added
    /// contact has an identifier that this library did not make, the identifier is sent, because a record
    /// with this identifier may already exist.
    private static func isOwn(_ identifier: String) -> Bool {
        identifier.utf8.count == 36 && identifier.utf8.contains(UInt8(ascii: "-"))
    }

    /// Writes the step as the Varlink type `Change`.
    ///
    /// - Parameter names: the identifiers that other steps of this save refer to. An added contact is sent
    ///   with its temporary identifier only if this set contains it.
    /// - Throws: ``CNError/Code/validationConfigurationError`` if a changed property was not fetched.
    func write(naming names: Set<String>, to writer: inout JSONWriter) throws(CNError) {
        writer.beginObject()
        switch self {
        case .add(let contact, let container):
            writer.member("operation", "add")
            writer.name("contact")
            let content = contact.changes.content
            content.write(
                content.present.subtracting(.readOnly),
                isNamed: !Self.isOwn(content.identifier) || names.contains(content.identifier),
                to: &writer)
            writer.member("container", container)
        case .update(let contact, let revision):
            let (content, changed, unfetched) = contact.changes
            guard unfetched.isEmpty else {
                throw CNError(
                    .validationConfigurationError,
                    reason: "not fetched: " + unfetched.keys.map(\.rawValue).joined(separator: ", "),
                    records: [.contact(CNContact(contact.values, keys: contact.availableKeys))],
                    identifiers: [content.identifier],
                    keyPaths: unfetched.keys.map(\.rawValue))
            }
            writer.member("operation", "update")
            writer.name("contact")
            content.write(changed.subtracting(.readOnly), isNamed: true, to: &writer)
            writer.member("unchangedSince", revision)
        case .delete(let contact, let revision):
            writer.member("operation", "delete")
            Self.write("contact", contact.identifier, to: &writer)
            writer.member("unchangedSince", revision)
        case .addGroup(let group, let container):
            writer.member("operation", "add")
            Self.write(group, to: &writer)
            writer.member("container", container)
        case .updateGroup(let group):
            writer.member("operation", "update")
            Self.write(group, to: &writer)
        case .deleteGroup(let group):
            writer.member("operation", "delete")
            Self.write(group, to: &writer)
        case .member(let contact, let group, let isIn):
            Self.write(isIn ? "addMember" : "removeMember", contact.identifier, group, to: &writer)
        case .subgroup(let subgroup, let group, let isIn):
            Self.write(isIn ? "addSubgroup" : "removeSubgroup", subgroup.identifier, group, to: &writer)
        case .link(let contact, let other, let isOne):
            writer.member("operation", isOne ? "link" : "unlink")
            Self.write("contact", contact, to: &writer)
            writer.member("member", other)
        case .addContainer(let name):
            writer.member("operation", "addContainer")
            writer.member("container", name)
        case .deleteContainer(let identifier):
            writer.member("operation", "deleteContainer")
            writer.member("container", identifier)
        case .setMe(let identifier):
            writer.member("operation", "setMe")
            if let identifier { Self.write("contact", identifier, to: &writer) }
        }
        writer.endObject()
    }

    private static func write(_ name: String, _ identifier: String, to writer: inout JSONWriter) {
        writer.name(name)
        writer.object { $0.member("identifier", identifier) }
    }

    private static func write(_ group: CNGroup, to writer: inout JSONWriter) {
        let values = group.values
        writer.name("group")
        writer.object {
            $0.member("identifier", values.identifier)
            $0.member("name", values.name)
        }
    }

    private static func write(
        _ operation: String, _ member: String, _ group: CNGroup, to writer: inout JSONWriter
    ) {
        writer.member("operation", operation)
        write(group, to: &writer)
        writer.member("member", member)
    }

    /// A copy of the step's record, for an error; `nil` if the step has no single record. This is a copy
    /// because the app may change the original later.
    var record: CNError.Record? {
        switch self {
        case .add(let contact, _), .update(let contact, _), .delete(let contact, _):
            .contact(CNContact(contact.values, keys: contact.keysThatCanBeRead))
        case .member(let contact, _, _):
            .contact(CNContact(contact.values, keys: contact.keysThatCanBeRead))
        case .addGroup(let group, _), .updateGroup(let group), .deleteGroup(let group): .group(CNGroup(group.values))
        case .subgroup(let group, _, _): .group(CNGroup(group.values))
        case .link, .addContainer, .deleteContainer, .setMe: nil
        }
    }
}
