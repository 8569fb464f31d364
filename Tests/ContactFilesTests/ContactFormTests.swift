import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactFiles

@Suite("A contact as editable text")
struct ContactFormTests {
    private static var ada: Contact {
        var contact = Contact()
        contact.givenName = "Ada"
        contact.familyName = "Lovelace"
        contact.phoneNumbers = [
            LabeledString(identifier: 1, label: "_$!<Mobile>!$_", value: "+44 20 7946 0001"),
            LabeledString(identifier: 2, value: "2"), LabeledString(identifier: 3, label: "mobile", value: "3"),
        ]
        var address = PostalAddress()
        (address.identifier, address.label, address.street, address.city) = (
            4, "_$!<Home>!$_", "12 St James's Square\n2nd floor", "London"
        )
        contact.postalAddresses = [address]
        contact.birthday = "1815-12-10"
        contact.note = "first\n\n# not a comment\n  indented"
        return contact
    }

    @Test("The text is as a person would write it")
    func text() {
        let text = ContactForm.text(
            of: Self.ada, keys: ContactKeySet([.givenName, .phoneNumbers, .postalAddresses, .note]), heading: ["Ada"])
        #expect(
            text == """
                # Ada
                Given name: Ada
                Phone:
                  mobile: +44 20 7946 0001
                  : 2
                  "mobile": 3
                Address:
                  home:
                    Street: |
                      12 St James's Square
                      2nd floor
                    Sublocality:
                    City: London
                    Subregion:
                    State:
                    Postal code:
                    Country:
                    Country code:
                Note: |
                  first

                  # not a comment
                    indented

                """)
    }

    private func roundTrip(_ contact: Contact) throws {
        let text = ContactForm.text(of: contact, keys: ContactForm.keys)
        let read = try ContactForm(reading: text).contact
        #expect(read == contact.withoutValueIdentifiers, "\(text)")
        let windows = text.utf8.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        #expect(try ContactForm(reading: String(decoding: windows, as: UTF8.self)).contact == read)
    }

    @Test("A contact is read back unchanged") func same() throws { try roundTrip(Self.ada) }

    @Test("A contact with arbitrary values is read back unchanged")
    func anything() throws {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "a", " ", ":", "#", "|", "\"", "\\", "\n", "\t", "-", "é", "e\u{301}", "👩‍👩‍👧", "\u{2028}", "\u{301}", "home",
            "_$!<Home>!$_", "_$!<Foo>!$_", "\u{A0}", "  ", "{", "\u{200B}", "HOME",
        ]
        func text(_ longest: Int) -> String {
            (0..<Int.random(in: 0...longest, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined()
        }
        func label() -> String? {
            let label = text(3)
            return label.isEmpty ? nil : label
        }
        for _ in 0..<2_000 {
            var contact = Contact()
            for key in [ContactKey.namePrefix, .givenName, .nickname, .organizationName, .note] {
                contact.setText(text(6), of: key)
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let value = text(5)
                if !value.isEmpty { contact.phoneNumbers.append(LabeledString(label: label(), value: value)) }
                var address = PostalAddress()
                (address.label, address.street, address.city) = (label(), text(4), "x" + text(3))
                contact.postalAddresses.append(address)
                var profile = SocialProfile()
                (profile.label, profile.service, profile.urlString) = (label(), "x", text(3))
                contact.socialProfiles.append(profile)
            }
            try roundTrip(contact)
        }
    }

    @Test(
        "Errors name their line",
        arguments: [
            ("Given name: Ada\nColour: blue\n", 2, "there is no field called Colour here"),
            ("Phone\n", 1, "a name, a colon and a value"),
            ("\n  Given name: Ada\n", 2, "indented without"), ("Type: robot\n", 1, "a person or an organization"),
            ("Given name: A\nGiven name: B\n", 2, "appears twice"), ("Phone:\n\tmobile: 1\n", 2, "with tabs"),
            ("Phone:\n  \"mobile: 1\n", 2, "never closed"), ("Phone:\n  \"mobile\" 1\n", 2, "a colon is missing"),
            ("Note: \"a\\q\"\n", 1, "as in JSON"), ("Note: a\n  b\n", 2, "| after the colon"),
            ("Address: Storgatan 1\n", 1, "the label must be on its own line"),
            ("Address:\n  home: Storgatan 1\n", 2, "the fields must be on lines below"),
            ("Address:\n  home:\n    Planet: Earth\n", 3, "no such field here"),
            ("# x\nBirthday: 1990-02-30\n", 2, "a day that exists"), ("Note: |\n    a\n  b\n", 3, "less indented"),
            ("Date:\n  x: soon\n", 1, "a day that exists"),
        ])
    func problems(text: String, line: Int, reason: String) {
        let problem = #expect(throws: ContactForm.Problem.self) { try ContactForm(reading: text) }
        #expect(problem?.line == line && problem?.reason.contains(reason) == true, "\(String(describing: problem))")
    }

    @Test("A value one byte above its bound, and a thousand and one addresses, are errors with their line")
    func bounds() throws {
        let most = ContactLimits().value
        #expect(
            try ContactForm(reading: "Note: " + String(repeating: "x", count: most)).contact.note.utf8.count == most)
        let long = #expect(throws: ContactForm.Problem.self) {
            try ContactForm(reading: "Given name: A\nNote: " + String(repeating: "x", count: most + 1))
        }
        #expect(long == ContactForm.Problem(line: 2, reason: "more than \(most) for value"))
        let many = "E-mail:\n" + String(repeating: "  : a@b\n", count: 10_000)
        let tooMany = #expect(throws: ContactForm.Problem.self) { try ContactForm(reading: "Given name: A\n" + many) }
        #expect(tooMany == ContactForm.Problem(line: 2, reason: "more than 1000 for values"))
    }

    @Test("Reading any text gives a contact, or an error with an existing line")
    func garbage() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "Given name", "Phone", "Address", "Note", "home", ":", ": ", "|", "\"", "\\", "\n", "\n  ", "\n    ", "\t",
            "#", "x",
            "\r\n", "\u{FEFF}", "Birthday", "1990-01-01", "--", "é", "\u{0}",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            do throws(ContactForm.Problem) {
                let form = try ContactForm(reading: text)
                #expect((try? form.contact.validate(writing: form.contact.present)) != nil)
            } catch {
                #expect(
                    (1...text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).count).contains(error.line))
            }
        }
    }

    @Test("A changed value keeps its identifier; a new one has none")
    func identifiers() throws {
        let text = ContactForm.text(of: Self.ada, keys: ContactForm.keys)
            .replacing("+44 20 7946 0001", with: "+44 20 7946 9999").replacing("  : 2", with: "  boat: 5\n  : 2")
        let read = try ContactForm(reading: text).identified(from: Self.ada)
        #expect(read.phoneNumbers.map(\.identifier) == [1, nil, 2, 3])
        #expect(read.phoneNumbers.map(\.value) == ["+44 20 7946 9999", "5", "2", "3"])
        #expect(read.postalAddresses.first?.identifier == 4)
        #expect(read.keys(differingFrom: Self.ada) == ContactKeySet([.phoneNumbers]))
    }

    @Test("Keys that were not shown cannot be written")
    func hidden() {
        #expect(throws: ContactForm.Problem(line: 1, reason: "there is no field called Note here")) {
            try ContactForm(reading: "Note: x\n", keys: ContactForm.keys.subtracting(.named))
        }
    }

    @Test("An empty file is not a contact")
    func empty() {
        #expect(ContactForm.isEmpty("") && ContactForm.isEmpty("# x\n \n#\n"))
        #expect(!ContactForm.isEmpty("Note:\n"))
    }
}
