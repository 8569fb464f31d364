import BrokerAccessControl
import BrokerJSON
@_spi(StoredBytes) import BrokerModel

extension Disclosure {
    /// Projects one value of a contact, its name and the requested names, and nothing else.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the value to disclose; `nil` for a key that can have only one value.
    ///   - names: further keys to disclose. Only keys in ``ContactKeySet/names`` are disclosed.
    ///   - kind: the kind of the contact's identifier.
    /// - Returns: `nil` if there is no such value or this disclosure does not permit it.
    public func project(
        value identifier: String?, of key: ContactKey, in contact: StoredContact, _ record: RecordNumber,
        names: ContactKeySet, under identifiers: IdentifierCipher, as kind: RecordKind
    ) -> DisclosedValue? {
        guard scope.contains(record), keys.contains(key), let text = contact.value(of: key) else { return nil }
        let requested = names.intersection(.names)
        // Programs format the name, for which they need all name keys. Those that are not part of the name on the screen,
        // and were not requested, have no value. A person's name does not contain the organization.
        var given = ContactKeySet.formattedName
        if contact.value(of: .contactType)?.elementsEqual("\"organization\"".utf8) != true {
            given.subtract(ContactKeySet([.organizationName]))
        }
        given = given.union(requested).intersection(keys)
        let names = ContactKeySet.names.intersection(keys)
        var json = Array(text)
        var label: String?
        if key.hasSeveralValues {
            guard let identifier, let values = try? JSONDocument(parsing: json).root,
                let value = values.elements?.first(where: { $0["identifier"]?.says(identifier) ?? false })
            else { return nil }
            label = value["label"]?.string
            json = [UInt8(ascii: "[")] + value.text + [UInt8(ascii: "]")]
        } else {
            guard identifier == nil else { return nil }
        }
        // This contact has only the permitted values, so the projection cannot disclose anything else.
        let cut = StoredContact(
            values: given.subtracting(ContactKeySet([key])).keys.compactMap { name in
                contact.value(of: name).map { (key: name, json: Array($0)) }
            } + [(key: key, json: json)])
        let disclosed = project(
            [(record, cut, .none)], of: names.union(ContactKeySet([key])), under: identifiers, as: kind)
        return DisclosedValue(contact: disclosed, key: key, identifier: identifier, label: label)
    }
}

/// One value that the person picked. Only ``Disclosure/project(value:of:in:_:names:under:as:)`` creates values
/// of this type.
public struct DisclosedValue: Hashable, Sendable {
    /// The contact with its name, the requested names and this value.
    public let contact: DisclosedContacts
    public let key: ContactKey
    @_spi(Disclosed) public let identifier: String?
    @_spi(Disclosed) public let label: String?
}
