import BookSamples
import BrokerJSON
import BrokerModel
import BrokerVCard
import Testing

@Suite("Our cards in other parsers")
struct InteropTests {
    @Test(
        "Other parsers read names, numbers, addresses, organisation, birthday and note unchanged",
        arguments: OtherParser.all)
    func cards(parser: OtherParser) throws {
        guard parser.isInstalled else {
            print("\(parser.name) is not installed: not tried (\(parser.advice))")
            return
        }
        try compare((0..<400).map(Self.generated), parser)
    }

    @Test(
        "Other parsers read a rewritten card like the original",
        .enabled(if: CardFolder.path != nil, "CONTACTBROKER_CARDS names no folder"), arguments: OtherParser.all)
    func collected(parser: OtherParser) throws {
        guard parser.isInstalled else {
            print("\(parser.name) is not installed: not tried (\(parser.advice))")
            return
        }
        var contacts: [Contact] = []
        for file in try CollectedFile.all() where file.validity == .valid {
            // Ten cards of each file suffice.
            contacts += VCardTests.cards(items(file.bytes)).prefix(10).map(\.contact)
        }
        try compare(contacts, parser)
    }

    private static func generated(_ number: Int) -> Contact {
        var generator = GeneratedContacts(number, isPlain: true)
        return generator.contact()
    }

    private func compare(_ contacts: [Contact], _ parser: OtherParser) throws {
        let writer = VCardWriter(version: .v3_0)
        var bytes: [UInt8] = []
        for contact in contacts { bytes += writer.card(contact) }
        let read = try parser.read(bytes)
        try #require(read.count == contacts.count)
        for (contact, document) in zip(contacts, read) {
            for (field, ours) in Self.fields(contact) {
                let theirs = document.root[field]?.elements.map { $0.map(Self.text) } ?? []
                #expect(
                    Self.joined(theirs, field) == Self.joined(ours, field),
                    "\(parser.name) \(field): \(String(decoding: writer.card(contact), as: UTF8.self))")
            }
        }
    }

    private static func fields(_ contact: Contact) -> [(String, [String])] {
        var fields: [(String, [String])] = [
            ("N", [contact.familyName, contact.givenName, contact.middleName, contact.namePrefix, contact.nameSuffix]),
            ("TEL", contact.phoneNumbers.map(\.value)), ("EMAIL", contact.emailAddresses.map(\.value)),
            (
                "ADR",
                contact.postalAddresses.map {
                    ["", "", $0.street, $0.city, $0.state, $0.postalCode, $0.country].joined(separator: "|")
                }
            ),
            ("NOTE", contact.note.isEmpty ? [] : [contact.note]),
        ]
        if !(contact.organizationName + contact.departmentName).isEmpty {
            let department = contact.departmentName.isEmpty ? [] : [contact.departmentName]
            fields.append(("ORG", [contact.organizationName] + department))
        }
        // Each parser has its own form for birthdays without a year or with a time.
        if !contact.birthday.hasPrefix("--"), !contact.extraProperties.contains(where: { $0.hasPrefix("BDAY") }) {
            fields.append(("BDAY", contact.birthday.isEmpty ? [] : [contact.birthday]))
        }
        return fields
    }

    private static func text(_ value: JSONValue) -> String {
        value.string ?? value.elements.map { $0.map(text).joined(separator: "|") } ?? ""
    }

    /// Parsers differ in how they give the values of a list in N, and the units of an organisation after the first.
    private static func joined(_ values: [String], _ field: String) -> [String] {
        let values = values.map(plain)
        switch field {
        case "N": return values.map { plain($0.replacing(",", with: " ")) }
        case "ORG": return values.prefix(1) + [values.dropFirst().filter { !$0.isEmpty }.joined(separator: ", ")]
        default: return values
        }
    }

    /// Some parsers trim values, and some drop empty values at the end of a list.
    private static func plain(_ text: String) -> String {
        text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .joined(separator: "\n")
    }
}
