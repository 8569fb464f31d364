import BrokerAccessControl
import BrokerJSON
@_spi(StoredBytes) import BrokerModel

/// Puts linked cards together into one contact. Pure: a function of the cards that it is given and of these keys of them.
enum UnifiedContact {
    /// - Parameters:
    ///   - members: in the order in which they count, each with the identifier that the caller knows it by.
    ///   - keys: nothing else is read of them. Images are put together elsewhere.
    static func merged(
        _ members: [(name: String, contact: StoredContact)], of keys: ContactKeySet
    ) -> StoredContact {
        StoredContact(
            values: keys.subtracting(.images).keys.compactMap { key in
                value(of: key, in: members).map { (key: key, json: $0) }
            })
    }

    private static func value(of key: ContactKey, in members: [(name: String, contact: StoredContact)]) -> [UInt8]? {
        let values = members.lazy.compactMap { $0.contact.value(of: key) }
        switch key {
        case .phoneNumbers, .emailAddresses, .postalAddresses, .dates, .urlAddresses, .contactRelations,
            .socialProfiles, .instantMessageAddresses:
            return list(members.map { ($0.name, $0.contact.value(of: key)) })
        case .extraProperties: return lines(Array(values))
        // What a card without a value is counts as what it says.
        case .contactType: return members.first?.contact.value(of: key).map(Array.init)
        // Dates of one form: their texts are in their order.
        case .creationDate: return values.min { $0.lexicographicallyPrecedes($1) }.map(Array.init)
        case .modificationDate: return values.max { $0.lexicographicallyPrecedes($1) }.map(Array.init)
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .imageDataAvailable, .note,
            .thumbnailImageData, .imageData:
            return values.first.map(Array.init)
        }
    }

    /// All values, those that say the same once, whatever they are labelled: the first one's label and identifier count.
    private static func list(_ lists: [(name: String, json: ArraySlice<UInt8>?)]) -> [UInt8]? {
        var writer = JSONWriter()
        var said: Set<[String]> = []
        writer.beginArray()
        for (name, json) in lists {
            guard let json, let values = try? JSONDocument(parsing: Array(json)).root.elements else { continue }
            for value in values {
                guard let members = value.members else { continue }
                var number = ""
                var fields: [(name: String, text: [UInt8])] = []
                var says: [String] = []
                for (field, member) in members {
                    let field = field.string ?? ""
                    if field == "identifier" {
                        number = member.string ?? ""
                        continue
                    }
                    fields.append((field, Array(member.text)))
                    if field != "label" { says += [field, member.string ?? ""] }
                }
                guard said.insert(says).inserted else { continue }
                writer.beginObject()
                writer.member("identifier", name + "/" + number)
                for field in fields {
                    writer.name(field.name)
                    writer.raw(field.text)
                }
                writer.endObject()
            }
        }
        writer.endArray()
        return said.isEmpty ? nil : writer.bytes
    }

    /// All lines, equal ones once.
    private static func lines(_ lists: [ArraySlice<UInt8>]) -> [UInt8]? {
        var said: Set<String> = []
        var lines: [String] = []
        for json in lists {
            guard let values = try? JSONDocument(parsing: Array(json)).root.elements else { continue }
            for line in values.compactMap(\.string) where said.insert(line).inserted { lines.append(line) }
        }
        var writer = JSONWriter()
        writer.array(lines) { $0.value($1) }
        return lines.isEmpty ? nil : writer.bytes
    }
}
