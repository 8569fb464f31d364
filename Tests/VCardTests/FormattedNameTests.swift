import BrokerModel
import BrokerVCard
import Testing

@Suite("Formatted names")
struct FormattedNameTests {
    private func names(_ contact: Contact, _ version: VCardVersion) -> [String] {
        WrittenProperty.all(VCardWriter(version: version).card(contact)).filter { $0.name == "FN" }.map(\.value)
    }

    /// Other names of a card, and a formatted name.
    private static let given: [[String]] = {
        let others = [
            ["N:Lindqvist;Saga;;;"], ["N:Lindqvist;Saga;Maria;Dr.;Jr."], ["N:Lindqvist;;;;"],
            ["N:王;小明;;;"], ["N:Nguyễn;Phước;;;"],
            ["N:Lindqvist;Saga;;;", "NICKNAME:Mama"], ["N:Lindqvist;Saga;;;", "ORG:Fjord AS"], ["NICKNAME:Mama"],
            ["N:;;;;", "ORG:Fjord AS"], ["ORG:Fjord AS", "X-ABShowAs:COMPANY"], ["EMAIL:saga@fjord.example"], ["TEL:1"],
        ]
        let names = [
            "Mama", "MAMA", "Saga", "Lindqvist Saga", "saga lindqvist", "SAGA LINDQVIST", "Saga Lindqvist (Work)",
            "Dr. Saga Maria Lindqvist Jr.", "Saga M. Lindqvist", "Saga  Lindqvist", "小明 王", "王小明", "Phước Nguyễn",
            "Fjord AS", "FJORD AS", "saga@fjord.example", "Saga@Fjord.example", "1", "…", "Lindqvist\\, Saga",
        ]
        return others.flatMap { other in names.map { other + ["FN:\($0)"] } }
    }()

    @Test("Any formatted name comes back as it was written, in both versions", arguments: [VCardVersion.v3_0, .v4_0])
    func comesBack(version: VCardVersion) throws {
        for lines in Self.given {
            let text = (["BEGIN:VCARD", "VERSION:3.0"] + lines + ["END:VCARD", ""]).joined(separator: "\r\n")
            let read = try #require(cards(items(text)).first?.contact)
            let name = lines.last.map { String($0.dropFirst(3)) }
            #expect(names(read, version) == [name], "\(lines)")
            #expect(cards(items(VCardWriter(version: version).card(read))).map(\.contact) == [read], "\(lines)")
        }
    }

    @Test("A later change of the name's parts drops it; a change of anything else does not")
    func dropped() throws {
        let read = try #require(contact("N:Lindqvist;Saga;;;", "ORG:Fjord AS", "FN:Mama", "FN;LANGUAGE=nb:Mor"))
        #expect(names(read, .v3_0) == ["Mama", "Mor"])
        for path in [\Contact.givenName, \.familyName, \.middleName, \.namePrefix, \.nameSuffix] {
            var changed = read
            changed[keyPath: path] += "x"
            #expect(names(changed, .v3_0).count == 1 && !names(changed, .v3_0).contains("Mama"))
        }
        for path in [\Contact.organizationName, \.nickname, \.note, \.jobTitle] {
            var changed = read
            changed[keyPath: path] += "x"
            #expect(names(changed, .v3_0) == ["Mama", "Mor"])
        }
    }

    @Test("The first of several formatted names stays first")
    func several() throws {
        let read = try #require(contact("N:Lindqvist;Saga;;;", "FN:Saga Lindqvist", "FN:Mama", version: "4.0"))
        #expect(names(read, .v4_0) == ["Saga Lindqvist", "Mama"])
        #expect(cards(items(VCardWriter(version: .v4_0).card(read))).map(\.contact) == [read])
    }
}
