import BrokerJSON
@_spi(StoredBytes) import BrokerModel
import Testing

@Suite("A contact in wire form")
struct WireContactTests {
    @Test("Every property is read back unchanged", arguments: ContactKey.allCases)
    func roundTrip(key: ContactKey) throws {
        let whole = everything()
        #expect(whole.hasValue(key))
        #expect(!Contact().hasValue(key))
        let sent = WireContact(contact: whole, keys: ContactKeySet([key]))
        let received = try read(text(sent))
        #expect(received.keys == sent.keys)
        #expect(received.contact == Contact().applying(whole, keys: sent.keys))
        #expect(received.contact.present == sent.keys)
    }

    @Test("A contact with all properties is read back unchanged, with its identifier")
    func whole() throws {
        let sent = WireContact(identifier: "ab12", contact: everything(), keys: .all)
        #expect(try read(text(sent)) == sent)
        #expect(everything().present == .all)
    }

    @Test("An empty value is present; null and absent ones are not")
    func absence() throws {
        let contact = try read(#"{"givenName":"","familyName":null,"phoneNumbers":[],"note":null,"identifier":null}"#)
        #expect(contact.keys == ContactKeySet([.givenName, .phoneNumbers]))
        #expect(contact.contact == Contact())
        #expect(contact.identifier == nil)
        #expect(try read("{}").keys == [])
    }

    @Test("Every key is written, even if empty", arguments: ContactKey.allCases)
    func empty(key: ContactKey) throws {
        let written = text(WireContact(contact: Contact(), keys: ContactKeySet([key])))
        #expect(written == "{\"\(key.rawValue)\":\(key.emptyValue)}")
    }

    @Test(
        "Unknown fields are refused by name",
        arguments: [
            (#"{"shoeSize":"44"}"#, "shoeSize"), (#"{"givenName":1}"#, "givenName"),
            (#"{"GivenName":"A"}"#, "GivenName"),
            (#"{"givenName":["A"]}"#, "givenName"), (#"{"contactType":"robot"}"#, "contactType"),
            (#"{"contactType":1}"#, "contactType"), (#"{"imageDataAvailable":"true"}"#, "imageDataAvailable"),
            (#"{"phoneNumbers":"1"}"#, "phoneNumbers"), (#"{"phoneNumbers":["1"]}"#, "phoneNumbers"),
            (#"{"phoneNumbers":[null]}"#, "phoneNumbers"), (#"{"phoneNumbers":[{}]}"#, "value"),
            (#"{"phoneNumbers":[{"value":null}]}"#, "value"), (#"{"phoneNumbers":[{"value":1}]}"#, "value"),
            (#"{"phoneNumbers":[{"value":"1","kind":"x"}]}"#, "kind"),
            (#"{"phoneNumbers":[{"value":"1","identifier":7}]}"#, "identifier"),
            (#"{"emailAddresses":[{"value":"1","label":7}]}"#, "label"),
            (#"{"postalAddresses":[{"town":"B"}]}"#, "town"), (#"{"dates":[{"value":{}}]}"#, "value"),
            (#"{"socialProfiles":[{"value":"x"}]}"#, "value"), (#"{"urlAddresses":{}}"#, "urlAddresses"),
            (#"{"contactRelations":[[]]}"#, "contactRelations"),
            (#"{"instantMessageAddresses":[{"service":"x"}]}"#, "username"),
            (#"{"extraProperties":[1]}"#, "extraProperties"),
            (#"{"extraProperties":"X:1"}"#, "extraProperties"), (#"{"identifier":1}"#, "identifier"), ("[]", "contact"),
            (#""Ada""#, "contact"), ("null", "contact"),
        ])
    func strict(json: String, field: String) throws {
        #expect(throws: ContactError.invalidParameter(field)) { try read(json) }
    }

    @Test(
        "A value's identifier is a number, alone or after a card's; anything else identifies no value",
        arguments: [
            ("7", 7), ("ab12/7", 7), ("0", 0), ("", nil), ("seven", nil), ("-1", nil), ("7/", nil), ("+7", nil),
            ("999999999999999999", 999_999_999_999_999_999), ("9999999999999999999", nil),
        ] as [(String, Int?)])
    func identifiers(text: String, number: Int?) throws {
        let contact = try read(#"{"phoneNumbers":[{"value":"1","identifier":"\#(text)"}]}"#).contact
        #expect(contact.phoneNumbers.map(\.identifier) == [number])
    }

    @Test("An empty label is no label")
    func labels() throws {
        let contact = try read(#"{"phoneNumbers":[{"value":"1","label":""},{"value":"1","label":null}]}"#).contact
        #expect(contact.phoneNumbers == [LabeledString(value: "1"), LabeledString(value: "1")])
    }

    @Test("A whole contact cannot be written to the wire directly")
    func notEncodable() {
        #expect(!(Contact.self is any Encodable.Type))
        #expect(!(StoredContact.self is any Encodable.Type))
    }
}

@Suite("A stored contact")
struct StoredContactTests {
    @Test("A stored contact is read back unchanged, except for images", arguments: [everything(), Contact()])
    func roundTrip(contact: Contact) throws {
        var expected = contact
        expected.imageData = ""
        expected.thumbnailImageData = ""
        let stored = StoredContact(contact)
        #expect(Contact(stored) == expected)
        #expect(stored.present == expected.present)
        #expect(StoredContact(bytes: stored.bytes) == stored)
    }

    @Test("Each property's range contains the property in wire form")
    func ranges() throws {
        let contact = everything()
        let stored = StoredContact(contact)
        for key in stored.present.keys {
            var ranges: [Range<Int>] = []
            stored.ranges(of: ContactKeySet([key])) { ranges.append($0) }
            let wire = text(WireContact(contact: contact, keys: ContactKeySet([key])))
            #expect(ranges.count == 1)
            let member = try String(decoding: stored.bytes[#require(ranges.first)], as: UTF8.self)
            #expect("{" + member.dropFirst() + "}" == wire)
        }
        var all: [Range<Int>] = []
        stored.ranges(of: .all) { all.append($0) }
        #expect(all.count == 1, "adjacent ranges are joined")
        stored.ranges(of: .images) { _ in Issue.record("an image") }
        #expect(stored.value(of: .imageData) == nil)
    }

    @Test("Only the requested keys are read")
    func someKeys() {
        let contact = everything()
        let keys = ContactKeySet([.givenName, .phoneNumbers, .imageData])
        var expected = Contact()
        expected.givenName = contact.givenName
        expected.phoneNumbers = contact.phoneNumbers
        #expect(Contact(StoredContact(contact), keys: keys) == expected)
    }

    @Test("Changed or truncated bytes are refused, or read without harm")
    func damaged() {
        let bytes = StoredContact(everything()).bytes
        for count in 0..<bytes.count { #expect(StoredContact(bytes: Array(bytes.prefix(count))) == nil) }
        #expect(StoredContact(bytes: bytes + [0]) == nil)
        for index in 0..<bytes.count {
            var changed = bytes
            changed[index] ^= 0x80
            // Refused, or read without harm.
            if let stored = StoredContact(bytes: changed) {
                _ = Contact(stored)
                stored.ranges(of: .all) { #expect($0.upperBound <= changed.count) }
            }
        }
    }

    @Test("The indices of keys in stored bytes do not change")
    func indices() {
        #expect(ContactKey.allCases.enumerated().allSatisfy { $0.offset == $0.element.index })
        #expect(ContactKey.givenName.index == 2)
        #expect(ContactKey.note.index == 28)
        #expect(ContactKey.imageData.index == 31)
        #expect(ContactKeySet.all.keys == ContactKey.allCases)
    }
}
