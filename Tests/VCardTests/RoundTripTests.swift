import ContactsModel
import Testing
import VCard

@Suite("What was read and is written again")
struct RoundTripTests {
    private static let versions: [VCardVersion] = [.v3_0, .v4_0]

    @Test(
        "Every card that other programs wrote comes back as it was read, extra properties and all",
        .enabled(if: CollectedFile.folder != nil, "CONTACTBROKER_CARDS names no folder"), arguments: versions)
    func collected(version: VCardVersion) throws {
        var count = 0
        let writer = VCardWriter(version: version)
        for file in try CollectedFile.all() {
            for card in cards(items(file.bytes)) {
                count += 1
                let written = writer.card(card.contact)
                let again = items(written)
                #expect(
                    cards(again).map(\.contact) == [card.contact],
                    "\(file.name):\(card.line) \(String(decoding: written.prefix(3000), as: UTF8.self))")
                #expect(cards(again).allSatisfy { $0.remarks.isEmpty }, "\(file.name):\(card.line)")
            }
        }
        #expect(count > 0)
    }
}
