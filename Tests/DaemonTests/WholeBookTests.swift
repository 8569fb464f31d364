import BookSamples
import BrokerJSON
import BrokerModel
import Testing

@Suite("Whole books, exported and imported")
struct WholeBookTests {
    /// A broker in which contactbook and an app have full access, also to notes, extra properties and groups.
    private struct BookBroker {
        let fixture: DaemonFixture
        private let app: App

        init() throws {
            fixture = try DaemonFixture()
            let person = try fixture.person()
            try fixture.allowContactbook(by: person)
            app = try fixture.app("keeper")
            let keys = quoted(ContactKey.allCases.map(\.rawValue))
            try app.begin("RequestAccess", #"{"keys":\#(keys)}"#)
            try person.answer(try person.prompt(), #""level":"full","lifetime":"untilRevoked","keys":\#(keys)"#)
            #expect(try app.reply().error == nil)
        }

        func save(_ book: SampleBook) throws {
            var steps = book.contacts.enumerated().map { place, contact in
                var writer = JSONWriter()
                WireContact(identifier: "c\(place)", contact: contact, keys: contact.present).write(to: &writer)
                return #"{"operation":"add","contact":\#(String(decoding: writer.bytes, as: UTF8.self))}"#
            }
            for (place, name) in WholeBookTests.groups(of: book).enumerated() {
                steps.append(#"{"operation":"add","group":{"identifier":"g\#(place)","name":\#(quoted(name))}}"#)
            }
            let group = { (place: Int) in #""group":{"identifier":"g\#(place)","name":""}"# }
            for place in book.contacts.indices {
                steps.append(#"{"operation":"addMember",\#(group(place)),"member":"c\#(place)"}"#)
            }
            let outer = group(book.contacts.count)
            steps.append(#"{"operation":"addMember",\#(outer),"member":"c0"}"#)
            for inner in 0..<5 { steps.append(#"{"operation":"addSubgroup",\#(outer),"member":"g\#(inner)"}"#) }
            let reply = try app.save(steps)
            try #require(reply.error == nil, "\(reply.text)")
        }

        /// The names of all groups, with those of the groups that contain them, and their contacts.
        func groups() throws -> [String: (parents: [String], contacts: [Contact])] {
            let all = Array(try #require(try app.call("ListGroups")["groups"]?.elements))
            func text(_ group: JSONValue, _ name: String) -> String { group[name]?.string ?? "" }
            let names = Dictionary(uniqueKeysWithValues: all.map { (text($0, "identifier"), text($0, "name")) })
            let keys = ContactKeySet.all.subtracting(
                ContactKeySet([.creationDate, .modificationDate, .thumbnailImageData, .imageDataAvailable]))
            let fetched = quoted(keys.keys.map(\ContactKey.rawValue))
            return try Dictionary(
                uniqueKeysWithValues: all.map { group in
                    let members = try app.call(
                        "FetchContacts",
                        #"{"keys":\#(fetched),"unify":false,"predicate":{"group":"\#(text(group, "identifier"))"}}"#)
                    let contacts = try #require(members["contacts"]?.elements).map { try WireContact($0).contact }
                    let parents = group["parents"]?.elements?.compactMap { names[$0.string ?? ""] } ?? []
                    return (text(group, "name"), (parents, contacts.map(WholeBookTests.withoutIdentifiers)))
                })
        }
    }

    /// The value identifiers of a book are its own.
    private static func withoutIdentifiers(_ contact: Contact) -> Contact {
        func bare<Value: ContactValue>(_ values: inout [Value]) {
            for place in values.indices { values[place].identifier = nil }
        }
        var contact = contact
        bare(&contact.phoneNumbers)
        bare(&contact.emailAddresses)
        bare(&contact.postalAddresses)
        bare(&contact.dates)
        bare(&contact.urlAddresses)
        bare(&contact.contactRelations)
        bare(&contact.socialProfiles)
        bare(&contact.instantMessageAddresses)
        return contact
    }

    /// One for each contact, then one with other groups in it, one with the name of a contact's LDIF entry, and an odd one.
    private static func groups(of book: SampleBook) -> [String] {
        book.contacts.indices.map(SampleBook.group) + ["All", "Dr Dora 0 Liv Åse Notes PhD", "a, b;c=\"#\\ é"]
    }

    @Test(
        "An import reads every contact, group and membership that an export wrote, and a second import changes nothing",
        arguments: ["vcard3", "vcard4", "vdir", "ldif"])
    func wholeBook(format: String) throws {
        let book = SampleBook(1, generated: 60)
        let count = book.contacts.count
        let (one, two) = (try BookBroker(), try BookBroker())
        try one.save(book)
        let path = one.fixture.folder + "/book"
        let exported = try one.fixture.contactbook("export", "--notes", "--format", format, "--output", path)
        #expect(exported.end == .exited(0), "\(exported.errors)")

        let place = format == "vdir" ? "1 folder" : "1 file"
        let imported = try two.fixture.contactbook("import", path)
        #expect(imported.output == "added \(count) contacts of \(place)\n", "\(imported.errors)")
        #expect(imported.errors == "")
        let groups = try two.groups()
        #expect(Set(groups.keys) == Set(Self.groups(of: book)))
        #expect(Set(groups.filter { $0.value.parents == ["All"] }.keys) == Set((0..<5).map(SampleBook.group)))
        #expect(groups["All"]?.contacts.count == 1)
        for (place, contact) in book.contacts.enumerated() {
            let found = groups[SampleBook.group(place)]?.contacts ?? []
            #expect(found.count == 1, "\(place)")
            expect(found.first ?? Contact(), contact, format, of: book.properties[place])
        }

        for treatment in ["skip", "merge"] {
            let again = try two.fixture.contactbook("import", "--duplicates", treatment, path)
            #expect(again.output == "added 0 contacts of \(place); \(count) were there already\n", "\(again.errors)")
            #expect(again.errors == "", "\(treatment)")
        }
        // An LDIF entry of a contact that has only a name is not found again by what else LDIF lost of it.
        guard format != "ldif" else { return }
        let back = try one.fixture.contactbook("import", path)
        #expect(back.output == "added 0 contacts of \(place); \(count) were there already\n", "\(back.errors)")
        // An app's formatted name has no check of the other names, which a card's has.
        let named = back.errors.split(separator: "\n").filter { !$0.contains("Dora \(Self.formattedName) ") }
        #expect(named == [])
    }

    /// The number of the formatted name among the properties.
    private static let formattedName = SampleProperty.all.firstIndex { "\($0)" == "the formatted name" } ?? -1

    private func expect(_ read: Contact, _ written: Contact, _ format: String, of own: SampleProperty?) {
        let hadUID = written.extraProperties.contains(where: SampleProperty.isUID)
        let (read, written) = (read.inAnyBook(hadUID: hadUID), written.inAnyBook(hadUID: hadUID))
        for property in SampleProperty.all {
            if format == "ldif" {
                switch property.inLDIF {
                case .whole: break
                case .partly where property.description != own?.description: continue
                case .partly: break
                case .lost: continue
                }
            }
            let value = property.value(read).map { $0.replacing("UID:urn:uuid:", with: "UID:") }
            #expect(value == property.value(written), "\(property)")
        }
        if format != "ldif" { #expect(read == written) }
    }
}
