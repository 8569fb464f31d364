import BrokerDAV
import BrokerJSON
import BrokerModel
import BrokerVCard
import Testing

@testable import BrokerCardDAV

@Suite("Cards of the CardDAV service")
struct ListedCardTests {
    private let folder: TemporaryFolder
    private let names: CardNames

    init() throws {
        folder = try TemporaryFolder()
        names = CardNames(sent: try SentCards(folder: folder.path), connection: "1")
    }

    private func card(_ members: String) throws -> ListedCard {
        let json = try JSONDocument(parsing: Array(#"{"identifier":"0af","revision":"1b2",\#(members)}"#.utf8)).root
        return try #require(try ListedCard(json, names))
    }

    @Test("The UID is the identifier, whatever UIDs the contact has")
    func identifiers() throws {
        let card = try card(#""givenName":"Ada","extraProperties":["UID:foreign","item1.UID;ALTID=1:other","X-A:b"]"#)
        for version in CardVersion.allCases {
            let lines = String(decoding: card.text(version), as: UTF8.self).split(separator: "\r\n")
            #expect(lines.filter { $0.contains("UID") } == ["UID:0af"])
            #expect(lines.contains("X-A:b") && lines.contains("VERSION:\(version.rawValue)"))
        }
    }

    @Test("Each version has its tag, and a listed tag does not depend on the version that the client asks for")
    func tags() throws {
        let card = try card(#""givenName":"Ada""#)
        #expect(card.tag(.v3)?.text == #""1b2-3""#)
        #expect(card.tag(.v4)?.text == #""1b2-4""#)
        for version in CardVersion.allCases {
            #expect(card.property(.getETag, of: "ann", mayWrite: true, version) == .text(#""1b2-3""#))
        }
    }

    @Test("A card has no control characters, and no dates that change with what the client may not see")
    func characters() throws {
        let card = try card(#""givenName":"A\u0001d\u0000a\u001b","familyName":"B\u007f","note":"a\u0007\nb""#)
        let text = String(decoding: card.text(.v3), as: UTF8.self)
        #expect(text.contains("FN:Ada B\r\n") && text.contains("NOTE:a\\nb\r\n"))
        #expect(!ListedCard.keys.contains(.modificationDate) && !ListedCard.keys.contains(.creationDate))
    }

    @Test("A filter sees the properties of the written card, unfolded and without escapes")
    func filters() throws {
        let long = String(repeating: "long ", count: 40)
        let card = try card(
            #""givenName":"Ada","familyName":"Love, lace","note":"\#(long)end","emailAddresses":[{"label":"_$!<Home>!$_","#
                + #""value":"ada@example.org"}]"#)
        let properties = CardProperty.all(in: card.text(.v3))
        func values(_ name: String) -> [String] { properties.filter { $0.name == name }.map(\.value) }
        #expect(values("FN") == ["Ada Love, lace"])
        #expect(values("N") == ["Love, lace;Ada;;;"])
        #expect(values("NOTE") == [long + "end"])
        #expect(values("BEGIN").isEmpty && values("EMAIL") == ["ada@example.org"])
        let types = properties.first { $0.name == "EMAIL" }?.parameters.flatMap(\.values)
        #expect(types == ["INTERNET", "HOME"])
    }

    @Test("What is not a contact with a revision is no card")
    func damaged() throws {
        for text in ["{}", #"{"identifier":"a"}"#, #"{"identifier":"a","revision":"b","odd":1}"#, "[]", "1"] {
            #expect(try ListedCard(try JSONDocument(parsing: Array(text.utf8)).root, names) == nil)
        }
    }
}
