import BookSamples
import BrokerModel
import BrokerVCard
import Testing

@Suite("Round trips")
struct RoundTripTests {
    private static let versions: [VCardVersion] = [.v3_0, .v4_0]

    @Test(
        "Every collected card is read back unchanged after writing, with extra properties",
        .enabled(if: CardFolder.path != nil, "CONTACTBROKER_CARDS names no folder"), arguments: versions)
    func collected(version: VCardVersion) throws {
        var count = 0
        let writer = VCardWriter(version: version)
        for file in try CollectedFile.all() {
            for card in cards(items(file.bytes)) {
                count += 1
                let again = items(writer.card(card.contact))
                #expect(cards(again).map(\.contact) == [card.contact], "\(file.name):\(card.line)")
                #expect(
                    cards(again).flatMap(\.remarks).allSatisfy { $0.reason == .badDate }, "\(file.name):\(card.line)")
            }
        }
        #expect(count > 0)
    }

    @Test("Any written contact is read back unchanged", arguments: versions)
    func generated(version: VCardVersion) {
        let writer = VCardWriter(version: version)
        for number in 0..<3_000 {
            var generator = GeneratedContacts(number)
            let contact = generator.contact()
            let written = writer.card(contact)
            let read = items(written)
            let again = cards(read).first?.contact ?? Contact()
            let differing = ContactKey.allCases.filter { again.applying(contact, keys: ContactKeySet($0)) != again }
            #expect(
                read.count == 1 && differing.isEmpty,
                "\(number): \(differing.map { "\(describe($0, contact)) became \(describe($0, again))" })")
            #expect(cards(read).allSatisfy { $0.remarks.isEmpty }, "\(number)")
        }
    }

    private func describe(_ key: ContactKey, _ contact: Contact) -> String {
        let alone = Contact().applying(contact, keys: ContactKeySet(key))
        return
            "\(key) \(Mirror(reflecting: alone).children.first { $0.label == key.rawValue }.map { "\($0.value)" } ?? "")"
    }

    @Test("A contact that is read from one version is written unchanged in the other")
    func acrossVersions() throws {
        for number in 0..<300 {
            var generator = GeneratedContacts(number)
            let contact = generator.contact()
            let first = try #require(cards(items(VCardWriter(version: .v4_0).card(contact))).first?.contact)
            let second = try #require(cards(items(VCardWriter(version: .v3_0).card(first))).first?.contact)
            #expect(second == contact, "\(number)")
        }
    }

    @Test(
        "Every line ends in CRLF, is not empty, and has at most 75 octets of whole characters", arguments: versions)
    func lines(version: VCardVersion) {
        for number in 0..<500 {
            var generator = GeneratedContacts(number)
            let written = VCardWriter(version: version).card(generator.contact())
            #expect(written.suffix(13) == Array("END:VCARD\r\n".utf8).suffix(13) || written.suffix(2) == [0x0D, 0x0A])
            for line in written.split(separator: 0x0A) {
                #expect(line.last == 0x0D)
                let line = line.dropLast()
                #expect(line.count <= 75, "\(number)")
                #expect(String(validating: line, as: UTF8.self) != nil, "\(number)")
                #expect(line.contains { $0 != 0x20 && $0 != 0x09 }, "\(number)")
            }
        }
    }
}
