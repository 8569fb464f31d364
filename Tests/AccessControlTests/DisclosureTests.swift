import BrokerModel
import Testing

@testable import BrokerAccessControl
@_spi(Disclosed) @testable import BrokerDisclosure

private let ada = RecordNumber(1)
private let bob = RecordNumber(2)

private func contact(_ values: [(ContactKey, String)]) -> StoredContact {
    StoredContact(values: values.map { (key: $0.0, json: Array($0.1.utf8)) })
}

private let whole = contact([
    (.givenName, "\"Ada\""), (.familyName, "\"Lovelace\""), (.phoneNumbers, "[{\"value\":\"1\"}]"),
    (.emailAddresses, "[{\"value\":\"a@b\"}]"), (.note, "\"secret\""),
])

@Suite("Projecting contacts for an app")
struct DisclosureTests {
    private let cipher: IdentifierCipher

    init() throws { cipher = try #require(IdentifierCipher(key: [UInt8](repeating: 1, count: 16))) }

    private func told(
        _ contacts: [(RecordNumber, StoredContact, ContactImages)], scope: RecordScope = .all, keys: ContactKeySet,
        of requested: ContactKeySet
    ) -> DisclosedContacts {
        Disclosure(scope: scope, keys: keys, revision: 9)
            .project(contacts.map { (record: $0.0, contact: $0.1, images: $0.2) }, of: requested, under: cipher)
    }

    private func text(_ disclosed: DisclosedContacts) -> String { String(decoding: disclosed.elements, as: UTF8.self) }

    @Test("A key that was not granted looks byte for byte like one without a value")
    func hiddenLooksEmpty() {
        let bare = contact([(.givenName, "\"Ada\""), (.familyName, "\"Lovelace\"")])
        let names = ContactKeySet([.givenName, .familyName])
        for requested in [ContactKeySet.all, names, ContactKeySet([.phoneNumbers, .note]), []] {
            let hidden = told([(ada, whole, .none)], keys: names, of: requested)
            let empty = told([(ada, bare, .none)], keys: .all, of: requested)
            #expect(hidden.elements == empty.elements)
        }
    }

    @Test("Each key alone is empty if it was not granted, and disclosed if it was", arguments: ContactKey.allCases)
    func eachKey(key: ContactKey) {
        let value = contact([(key, "\"x\"")])
        let empty = contact([])
        let one = ContactKeySet([key])
        let hidden = told([(ada, value, .none)], keys: ContactKeySet.all.subtracting(one), of: .all)
        #expect(hidden.elements == told([(ada, empty, .none)], keys: .all, of: .all).elements)
        let alone = text(told([(ada, value, .none)], keys: one, of: one))
        // The date of the last edit needs all ordinary keys.
        #expect(alone.contains("\"\(key.rawValue)\":\"x\"") == (key != .modificationDate))
    }

    @Test("Only the linked cards in scope are merged, even if others were read")
    func unifiedScope() {
        let bobs = contact([(.givenName, "\"Bob\""), (.phoneNumbers, "[{\"value\":\"2\"}]")])
        for scope in [RecordScope.only([ada]), .only([bob]), .only([])] {
            let cards = [(ada, whole), (bob, bobs)].map { (record: $0.0, contact: $0.1, images: ContactImages()) }
            let merged = Disclosure(scope: scope, keys: .all, revision: 9)
                .project(unified: [(first: cards[0], others: [cards[1]])], of: .all, under: cipher)
            let alone = cards.filter { scope.contains($0.record) }.map { ($0.record, $0.contact, $0.images) }
            #expect(merged.elements == told(alone, scope: scope, keys: .all, of: .all).elements)
            #expect(merged.records == alone.map(\.0))
        }
    }

    @Test("An app that may read whole cards gets their UIDs, but no other extra property unless those are granted")
    func uids() {
        let value = contact([(.extraProperties, #"["X-A:secret","UID:u","item1.UID;VALUE=text:v","X-UID:w"]"#)])
        let extra = ContactKeySet([.extraProperties])
        let uids = #""extraProperties":["UID:u","item1.UID;VALUE=text:v"]"#
        for (keys, text) in [
            (Grant.ordinaryKeys, uids), (ContactKeySet.all.subtracting(extra), uids),
            (Grant.ordinaryKeys.subtracting(ContactKeySet([.birthday])), #""extraProperties":[]"#),
            (extra, "secret"),
        ] {
            let disclosure = Disclosure(scope: .all, keys: keys, revision: 9)
            let alone = told([(ada, value, .none)], keys: keys, of: extra)
            #expect(self.text(alone).contains(text), "\(self.text(alone))")
            #expect(self.text(alone).contains("secret") == keys.contains(.extraProperties))
            #expect(disclosure.unauthorized(of: .all).contains(.extraProperties) == (text.hasSuffix("[]")))
            let cards = [ada, bob].map { (record: $0, contact: value, images: ContactImages()) }
            let merged = disclosure.project(unified: [(first: cards[0], others: [cards[1]])], of: extra, under: cipher)
            #expect(self.text(merged).contains(text), "\(self.text(merged))")
        }
    }

    @Test("Only an app that may read all ordinary keys sees the date of the last edit")
    func modificationDate() {
        let value = contact([(.modificationDate, "\"2026-01-01T00:00:00Z\"")])
        let date = ContactKeySet([.modificationDate])
        let whole = text(told([(ada, value, .none)], keys: Grant.ordinaryKeys, of: date))
        #expect(whole.contains("2026-01-01"))
        let narrow = Grant.ordinaryKeys.subtracting(ContactKeySet([.birthday]))
        #expect(!text(told([(ada, value, .none)], keys: narrow, of: date)).contains("2026-01-01"))
    }

    @Test("A projection has the requested keys and no others")
    func requested() {
        let disclosed = told([(ada, whole, .none)], keys: .all, of: ContactKeySet([.familyName, .nickname]))
        let name = cipher.identifier(of: ada, as: .contact)
        #expect(text(disclosed) == "{\"identifier\":\"\(name)\",\"familyName\":\"Lovelace\",\"nickname\":\"\"}")
        #expect(disclosed.records == [ada])
        #expect(disclosed.keys == ContactKeySet([.familyName, .nickname]))
        #expect(disclosed.revision == 9)
    }

    @Test("A contact outside the scope is left out, even if it was read")
    func scope() {
        let both = [(ada, whole, ContactImages()), (bob, whole, ContactImages())]
        let disclosed = told(both, scope: .only([bob]), keys: .all, of: .all)
        #expect(disclosed.records == [bob])
        #expect(disclosed.elements == told([both[1]], keys: .all, of: .all).elements)
        let nothing = told(both, scope: .only([]), keys: .all, of: .all)
        #expect(nothing.records.isEmpty)
        #expect(nothing.elements.isEmpty)
    }

    @Test("Images are disclosed only under their own keys")
    func images() {
        let images = ContactImages(
            thumbnailImageData: Array(",\"thumbnailImageData\":\"dA==\"".utf8),
            imageData: Array(",\"imageData\":\"aQ==\"".utf8))
        let granted = text(told([(ada, whole, images)], keys: .all, of: .images))
        #expect(granted.contains("\"thumbnailImageData\":\"dA==\"") && granted.contains("\"imageData\":\"aQ==\""))
        let small = text(told([(ada, whole, images)], keys: ContactKeySet([.thumbnailImageData]), of: .images))
        #expect(small.contains("\"thumbnailImageData\":\"dA==\"") && small.contains("\"imageData\":\"\""))
        let hidden = told([(ada, whole, images)], keys: .names, of: .images)
        #expect(hidden.elements == told([(ada, whole, .none)], keys: .all, of: .images).elements)
        #expect(!text(told([(ada, whole, images)], keys: .all, of: .names)).contains("mageData"))
    }

    @Test("Contacts that lack different keys each get their own empty values")
    func neighbours() throws {
        let other = contact([(.nickname, "\"Bobby\"")])
        let both = text(
            told([(ada, whole, .none), (bob, other, .none), (ada, whole, .none)], keys: .names, of: .names))
        let single = [(ada, whole), (bob, other), (ada, whole)].map {
            text(told([($0.0, $0.1, .none)], keys: .names, of: .names))
        }
        #expect(both == single.joined(separator: ","))
    }

    @Test("Requesting notes that were not granted by name is an error")
    func named() {
        let ordinary = Disclosure(scope: .all, keys: Grant.ordinaryKeys, revision: 1)
        #expect(ordinary.unauthorized(of: .all) == ContactKeySet([.note]))
        #expect(ordinary.unauthorized(of: ContactKeySet([.note, .givenName])) == ContactKeySet([.note]))
        #expect(ordinary.unauthorized(of: Grant.ordinaryKeys).isEmpty)
        #expect(Disclosure(scope: .all, keys: .all, revision: 1).unauthorized(of: .all).isEmpty)
        // An ordinary key that was not granted is empty, which is not an error.
        #expect(Disclosure(scope: .all, keys: .names, revision: 1).unauthorized(of: [.init([.birthday])]).isEmpty)
    }

    @Test("A note that was not granted is not disclosed, even where nothing checks for that error")
    func noteStaysIn() {
        #expect(!text(told([(ada, whole, .none)], keys: Grant.ordinaryKeys, of: .all)).contains("secret"))
        #expect(text(told([(ada, whole, .none)], keys: .all, of: .all)).contains("secret"))
    }
}
