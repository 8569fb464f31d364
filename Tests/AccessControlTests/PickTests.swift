import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAccessControl
@_spi(Disclosed) @testable import BrokerDisclosure

@Suite("What a pick discloses")
struct PickTests {
    private let identifiers = IdentifierCipher(key: [UInt8](repeating: 7, count: 16))
    private let ada = RecordNumber(1)
    private let bob = RecordNumber(2)

    private func contact() -> StoredContact {
        var contact = Contact()
        contact.givenName = "Ada"
        contact.familyName = "Lovelace"
        contact.birthday = "1815-12-10"
        contact.note = "secret"
        contact.phoneNumbers = [
            LabeledString(identifier: 1, label: "home", value: "1"), LabeledString(identifier: 3, value: "3"),
        ]
        return StoredContact(contact)
    }

    private func members(_ disclosed: DisclosedContacts) throws -> [String: String] {
        let root = try JSONDocument(parsing: disclosed.elements).root
        return Dictionary(
            uniqueKeysWithValues: try #require(root.members).map {
                ($0.name.string ?? "", String(decoding: $0.value.text, as: UTF8.self))
            })
    }

    @Test("A pick discloses the picked contacts only, even if others were read")
    func rows() throws {
        let identifiers = try #require(identifiers)
        let disclosure = Disclosure.picked([ada], keys: ContactKeySet([.givenName]))
        let disclosed = disclosure.project(
            [(ada, contact(), .none), (bob, contact(), .none)], of: ContactKeySet([.givenName]), under: identifiers,
            as: .pickedRow)
        #expect(disclosed.records == [ada])
        #expect(disclosed.keys == ContactKeySet([.givenName]))
    }

    @Test("A picked value comes with the requested names and nothing else")
    func oneValue() throws {
        let identifiers = try #require(identifiers)
        let disclosure = Disclosure.picked([ada], keys: ContactKeySet([.givenName, .phoneNumbers, .birthday]))
        let value = try #require(
            disclosure.project(
                value: "3", of: .phoneNumbers, in: contact(), ada, names: .all, under: identifiers,
                as: .pickedRow))
        let told = try members(value.contact)
        #expect(Set(told.keys) == ["identifier", "givenName", "phoneNumbers"])
        #expect(told["phoneNumbers"] == #"[{"identifier":"3","value":"3"}]"#)
        #expect(identifiers.record(told["identifier"]?.filter { $0 != "\"" } ?? "", as: .pickedRow) == ada)
        #expect(value.label == nil)
        let single = disclosure.project(
            value: nil, of: .birthday, in: contact(), ada, names: [], under: identifiers, as: .pickedRow)
        #expect(try members(#require(single).contact)["birthday"] == #""1815-12-10""#)
    }

    @Test(
        "A value that does not exist, was not picked or is not permitted is not disclosed",
        arguments: [
            ("2", ContactKey.phoneNumbers, 1), (nil, .phoneNumbers, 1), ("1", .birthday, 1), (nil, .note, 1),
            (nil, .nickname, 1), ("1", .phoneNumbers, 2), ("1", .emailAddresses, 1),
        ] as [(String?, ContactKey, Int64)])
    func noValue(identifier: String?, key: ContactKey, record: Int64) throws {
        let identifiers = try #require(identifiers)
        let keys = Grant.ordinaryKeys
        let value = Disclosure.picked([ada], keys: keys).project(
            value: identifier, of: key, in: contact(), RecordNumber(record), names: keys, under: identifiers,
            as: .pickedRow)
        #expect(value == nil)
    }
}
