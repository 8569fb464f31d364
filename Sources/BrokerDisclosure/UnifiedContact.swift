import BrokerAccessControl
import BrokerJSON
@_spi(StoredBytes) import BrokerModel

/// Merges linked cards into one contact. Pure: the result depends only on the given cards and keys.
enum UnifiedContact {
    /// - Parameters:
    ///   - members: the cards in order of precedence, each with the identifier under which the caller knows
    ///     it.
    ///   - keys: the keys to read. Images are merged elsewhere.
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
        // Only the first card counts: if it has no type, the unified contact has none either.
        case .contactType: return members.first?.contact.value(of: key).map(Array.init)
        // All dates have one format, so their texts sort like the dates.
        case .creationDate: return values.min { $0.lexicographicallyPrecedes($1) }.map(Array.init)
        case .modificationDate: return values.max { $0.lexicographicallyPrecedes($1) }.map(Array.init)
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .imageDataAvailable, .note,
            .thumbnailImageData, .imageData:
            return values.first.map(Array.init)
        }
    }

    /// Returns all values without duplicates; `nil` if there are none. Values that differ only in label or
    /// identifier are duplicates, and the first one's label and identifier are used.
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

    /// Returns all lines without duplicates; `nil` if there are none.
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
