import BrokerBounds
import Testing

@testable import BrokerModel

@Suite("Values that an app may write")
struct ValidationTests {
    static let writable = ContactKeySet.all.subtracting(
        ContactKeySet([.creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData]))

    private func refused(
        _ key: ContactKey, limits: ContactLimits = ContactLimits(), _ change: (inout Contact) -> Void
    ) -> ContactError? {
        var contact = Contact()
        change(&contact)
        return refusal { try contact.validate(writing: ContactKeySet([key]), limits: limits) }
    }

    private func isInvalid(_ error: ContactError?, _ key: ContactKey) -> Bool {
        if case .invalidContact(let name, _) = error { name == key.rawValue } else { false }
    }

    @Test("All keys may be written, except the broker's own")
    func whole() {
        #expect(refusal { try everything().validate(writing: Self.writable) } == nil)
        #expect(refusal { try Contact().validate(writing: Self.writable) } == nil)
        for key in ContactKeySet.all.subtracting(Self.writable).keys {
            #expect(isInvalid(refused(key) { _ in }, key))
        }
    }

    @Test("Keys that are not written are not checked")
    func others() {
        var contact = Contact()
        contact.birthday = "yesterday"
        #expect(refusal { try contact.validate(writing: ContactKeySet([.note])) } == nil)
    }

    @Test(
        "A date is an existing day",
        arguments: [
            "1815-12-10", "--12-10", "2024-02-29", "2000-02-29", "--02-29", "0001-01-01", "9999-12-31", "--01-31", "",
        ])
    func dates(text: String) {
        #expect(refused(.birthday) { $0.birthday = text } == nil)
        guard !text.isEmpty else { return }
        #expect(refused(.dates) { $0.dates = [LabeledDate(value: text)] } == nil)
    }

    @Test(
        "Other texts are not dates",
        arguments: [
            "2023-02-29", "1900-02-29", "--02-30", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00", "0000-01-01",
            "24-01-01", "2024-1-1", "2024/01/01", "20240101", "-12-10", "---12-10", "2024-01-01T00:00:00Z",
            " 2024-01-01",
            "2024-01-1a", "+024-01-01", "١٩٩٠-٠١-٠١", "today", "12-10",
        ])
    func noDates(text: String) {
        #expect(isInvalid(refused(.birthday) { $0.birthday = text }, .birthday))
        #expect(isInvalid(refused(.dates) { $0.dates = [LabeledDate(value: text)] }, .dates))
    }

    @Test("A labeled date must not be empty")
    func emptyDate() {
        #expect(isInvalid(refused(.dates) { $0.dates = [LabeledDate(value: "")] }, .dates))
    }

    @Test(
        "A non-Gregorian birthday names its calendar",
        arguments: [
            ("chinese:--08-15", true), ("hebrew:5784-13-01", true), ("islamic-umalqura:1445-09-30", true), ("", true),
            ("gregory:1990-01-01", false), ("chinese:", false), ("chinese", false), (":--08-15", false),
            ("chinese:--14-01", false), ("chinese:--08-33", false), ("chinese:--00-01", false),
            ("klingon:--01-01", false),
            ("japanese:e236-0007-07-20", true), ("chinese:e78-0042-06L-26", true), ("chinese:--06L-26", true),
            ("chinese:e-0042-06-26", false), ("chinese:e1000-0042-06-26", false), ("chinese:e78", false),
            ("chinese:e78-", false), ("chinese:e780042-06-26", false), ("chinese:--06-26L", false),
            ("chinese:--0L6-26", false), ("chinese:--06LL-26", false), ("chinese:L", false),
            ("vikram:2082-04-05", true),
            ("Chinese:--08-15", false), ("chinese:--08-15:", false), ("--08-15", false),
        ])
    func calendars(text: String, allowed: Bool) {
        let error = refused(.nonGregorianBirthday) { $0.nonGregorianBirthday = text }
        #expect(allowed ? error == nil : isInvalid(error, .nonGregorianBirthday))
    }

    @Test("Line feeds and tabs are permitted; other control characters are not", arguments: writable.keys)
    func controls(key: ContactKey) {
        for control in ["\u{0}", "\u{1B}[2J", "\r", "\u{7F}", "\u{80}", "\u{9B}31m", "\u{9F}"] {
            var contact = Contact()
            contact.setText("a\(control)b", of: key)
            let value = LabeledString(value: "a\(control)b")
            contact.phoneNumbers = [value]
            contact.emailAddresses = [value]
            contact.urlAddresses = [value]
            contact.contactRelations = [LabeledString(label: "a\(control)b", value: "x")]
            contact.dates = [LabeledDate(label: "a\(control)b", value: "--01-01")]
            contact.postalAddresses = [PostalAddress()]
            contact.postalAddresses[0].isoCountryCode = control
            contact.socialProfiles = [SocialProfile()]
            contact.socialProfiles[0].service = control
            contact.instantMessageAddresses = [InstantMessageAddress()]
            contact.instantMessageAddresses[0].service = control
            contact.extraProperties = ["X-A:\(control)"]
            let error = refusal { try contact.validate(writing: ContactKeySet([key])) }
            #expect(key == .contactType ? error == nil : isInvalid(error, key))
        }
        #expect(refused(.note) { $0.note = "a\n\tb\u{A0}ÿ" } == nil)
    }

    @Test("An extra property is exactly one content line")
    func contentLines() {
        #expect(refused(.extraProperties) { $0.extraProperties = ["X-A:b\tc"] } == nil)
        for line in ["X-A:b\nEMAIL:eve@example.org", "", "\n"] {
            #expect(isInvalid(refused(.extraProperties) { $0.extraProperties = [line] }, .extraProperties))
        }
    }

    @Test("The length of a text is limited, in bytes")
    func value() {
        let maximum = ContactLimits().value
        #expect(maximum == 1_048_576)
        let longest = String(repeating: "é", count: maximum / 2)
        #expect(refused(.note) { $0.note = longest } == nil)
        #expect(refused(.note) { $0.note = longest + "x" } == .limitExceeded(limit: "value", maximum: maximum))
        #expect(
            refused(.emailAddresses) { $0.emailAddresses = [LabeledString(label: longest + "x", value: "")] }
                == .limitExceeded(limit: "value", maximum: maximum))
        #expect(
            refused(.extraProperties) { $0.extraProperties = [longest + "x"] }
                == .limitExceeded(limit: "value", maximum: maximum))
    }

    @Test("A key has at most 1,000 values")
    func values() {
        let error = ContactError.limitExceeded(limit: "values", maximum: 1_000)
        for (count, expected) in [(1_000, nil), (1_001, error)] as [(Int, ContactError?)] {
            #expect(
                refused(.phoneNumbers) { $0.phoneNumbers = Array(repeating: LabeledString(value: "1"), count: count) }
                    == expected)
            #expect(
                refused(.extraProperties) { $0.extraProperties = Array(repeating: "X:1", count: count) } == expected)
        }
    }

    @Test("The total size of a key's texts is limited")
    func key() {
        var limits = ContactLimits()
        limits.key = 10
        let error = ContactError.limitExceeded(limit: "key", maximum: 10)
        let values = { (last: String) in [LabeledString(label: "1234", value: "56"), LabeledString(value: last)] }
        #expect(refused(.phoneNumbers, limits: limits) { $0.phoneNumbers = values("7890") } == nil)
        #expect(refused(.phoneNumbers, limits: limits) { $0.phoneNumbers = values("7890x") } == error)
    }

    @Test("The size of a photo is limited, in bytes of the decoded photo")
    func photo() {
        var limits = ContactLimits()
        #expect(limits.photo == 8 * 1_048_576)
        let error = ContactError.limitExceeded(limit: "photo", maximum: 4)
        limits.photo = 4
        #expect(refused(.imageData, limits: limits) { $0.imageData = "AAAAAA==" } == nil)
        #expect(refused(.imageData, limits: limits) { $0.imageData = "AAAAAAA=" } == error)
        #expect(refused(.imageData, limits: limits) { $0.imageData = "AAAAAAAAAAAA" } == error)
    }

    @Test(
        "An image must be base64",
        arguments: [
            ("", true), ("AAAA", true), ("AA==", true), ("AAE=", true), ("+/9z", true), ("AAA", false), ("A===", false),
            ("====", false), ("AB==", false), ("AAB=", false), ("AA-_", false), ("AA A", false), ("AAAA\n", false),
            ("AA==AAAA", false), ("ÄÄ", false), ("=AAA", false),
        ])
    func base64(text: String, allowed: Bool) {
        let error = refused(.imageData) { $0.imageData = text }
        #expect(allowed ? error == nil : isInvalid(error, .imageData))
    }

    @Test("Only the 64 digits of base64 are accepted, at any place", arguments: [0, 1, 17, 63])
    func digits(place: Int) throws {
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for byte in UInt8(0)..<0x80 {
            var text = Array(digits.utf8)
            text[place] = byte
            let error = refused(.imageData) { $0.imageData = String(decoding: text, as: UTF8.self) }
            #expect(digits.utf8.contains(byte) ? error == nil : isInvalid(error, .imageData), "byte \(byte)")
        }
    }
}

@Suite("Updating a contact")
struct ApplyingTests {
    @Test("Only the named key changes, and an empty one is cleared", arguments: ContactKey.allCases)
    func applying(key: ContactKey) {
        let keys = ContactKeySet([key])
        let cleared = everything().applying(Contact(), keys: keys)
        #expect(!cleared.hasValue(key))
        #expect(cleared.present == ContactKeySet.all.subtracting(keys))
        #expect(cleared.applying(everything(), keys: keys) == everything())
        #expect(everything().applying(Contact(), keys: []) == everything())
    }
}

@Suite("Identifiers of values")
struct ValueIdentifiersTests {
    private func assigned(_ values: [LabeledString], after former: [[LabeledString]] = []) -> [Int?] {
        var identifiers = ValueIdentifiers()
        var before = Contact()
        var contact = Contact()
        for list in former + [values] {
            contact = before
            contact.phoneNumbers = list
            // Encode and decode the counter each time, as the book does.
            identifiers = ValueIdentifiers(bytes: identifiers.bytes) ?? ValueIdentifiers()
            identifiers.assign(to: &contact, replacing: before)
            before = contact
        }
        return contact.phoneNumbers.map(\.identifier)
    }

    private func value(_ text: String, _ identifier: Int? = nil, _ label: String? = nil) -> LabeledString {
        LabeledString(identifier: identifier, label: label, value: text)
    }

    @Test("New values get identifiers; invented ones are ignored")
    func new() {
        #expect(assigned([value("a"), value("b")]) == [1, 2])
        #expect(assigned([value("a", 77), value("b", 1), value("c", -1)]) == [1, 2, 3])
    }

    @Test("A value that is sent back with its identifier keeps it, whatever changed or moved")
    func kept() {
        let former = [[value("a"), value("b"), value("c")]]
        #expect(assigned([value("c", 3), value("A", 1, "home")], after: former) == [3, 1])
        #expect(
            assigned([value("x", 2), value("y", 2)], after: former) == [2, 4],
            "of two values, the first keeps the identifier")
        #expect(assigned([value("x", 4)], after: former) == [4], "not the former value's identifier, but the next one")
    }

    @Test("An equal value that is sent without an identifier keeps its own")
    func equal() {
        let former = [[value("a", nil, "home"), value("a", nil, "work"), value("b"), value("b")]]
        #expect(assigned([value("b"), value("a", nil, "work"), value("a")], after: former) == [3, 2, 5])
        #expect(assigned([value("b"), value("b"), value("b")], after: former) == [3, 4, 5])
        #expect(
            assigned([value("b"), value("new", 3)], after: former) == [4, 3],
            "a value that names the identifier takes precedence")
    }

    @Test("No identifier is reused, even after all values are removed")
    func neverAgain() {
        #expect(assigned([value("a")], after: [[value("a"), value("b")], []]) == [3])
        #expect(assigned([value("a", 1)], after: [[value("a")], []]) == [2])
    }

    @Test("Each key has its own counter")
    func keys() {
        var identifiers = ValueIdentifiers()
        var contact = everything()
        identifiers.assign(to: &contact)
        #expect(contact.phoneNumbers.map(\.identifier) == [1, 2])
        for list in [contact.emailAddresses, contact.urlAddresses, contact.contactRelations] {
            #expect(list.map(\.identifier) == [1])
        }
        #expect(contact.dates.map(\.identifier) == [1] && contact.postalAddresses.map(\.identifier) == [1, 2])
        #expect(contact.socialProfiles.map(\.identifier) == [1])
        #expect(contact.instantMessageAddresses.map(\.identifier) == [1])
        #expect(ValueIdentifiers(bytes: identifiers.bytes) == identifiers)
    }

    @Test("Invalid counter bytes are refused")
    func damaged() {
        let one: [UInt8] = [17, 1, 0, 0, 0, 0, 0, 0, 0]
        #expect(ValueIdentifiers(bytes: one) != nil)
        #expect(ValueIdentifiers(bytes: Array(one.dropLast())) == nil)
        #expect(ValueIdentifiers(bytes: one + one) == nil)
        #expect(ValueIdentifiers(bytes: [200] + one.dropFirst()) == nil)
        #expect(ValueIdentifiers(bytes: [17] + [UInt8](repeating: 0xFF, count: 8)) == nil)
    }
}
