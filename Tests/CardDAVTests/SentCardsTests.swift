import BrokerCardText
import Testing

@testable import BrokerCardDAV

@Suite("What the service remembers of cards")
struct SentCardsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("It is there after a restart, for its connection only, and without any text of a card")
    func kept() throws {
        let text = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Lovelace\r\nTEL:+46 1234567\r\nEND:VCARD\r\n"
        let properties = try #require(CardHash(key: [1, 2]).properties(ofCard: Array(text.utf8)))
        do {
            let sent = try SentCards(folder: folder.path)
            try sent.keep([("a", SentCards.bytes(properties)), ("b", [])], of: "1")
            try sent.made("c", name: "c.vcf", uid: "u", of: "1")
        }
        let sent = try SentCards(folder: folder.path)
        #expect(try sent.card("a", of: "1").sent?.map(\.token) == properties.map(\.token))
        #expect(try sent.card("b", of: "1").sent?.isEmpty == true)
        #expect(try sent.card("a", of: "2") == SentCards.Card())
        #expect(try sent.identifier(named: "c.vcf", of: "1") == "c" && sent.identifier(uid: "u", of: "1") == "c")
        #expect(try sent.identifier(named: "c.vcf", of: "2") == nil)
        for file in ["/carddav.sqlite", "/carddav.sqlite-wal"] {
            let bytes = TemporaryFolder.bytes(of: folder.path + file)
            #expect(!bytes.contains("Lovelace") && !bytes.contains("1234567"))
        }
        // Another key, another hash.
        #expect(CardHash(key: [1, 3]).properties(ofCard: Array(text.utf8))?.map(\.token) != properties.map(\.token))
    }

    @Test("A refused change is listed once for each place in the history")
    func refused() throws {
        let sent = try SentCards(folder: folder.path)
        #expect(try sent.lastRefusal(of: "1") == 0)
        try sent.refused("a", of: "1")
        try sent.refused("b", of: "1")
        #expect(try sent.refused(after: 0, of: "1").cards.sorted() == ["a", "b"])
        try sent.refused("a", of: "1")
        let later = try sent.refused(after: 2, of: "1")
        #expect(later.cards == ["a"] && later.last == 3)
        #expect(try sent.refused(after: 3, of: "1").cards.isEmpty)
        #expect(try sent.lastRefusal(of: "2") == 0)
    }

    @Test("A file of another version is refused, and stays as it is")
    func otherVersion() throws {
        try folder.write("not a database, but long enough to look like one", to: "carddav.sqlite")
        #expect(throws: BrokerFailure.self) { try SentCards(folder: folder.path) }
        #expect(TemporaryFolder.bytes(of: folder.path + "/carddav.sqlite").hasPrefix("not a database"))
    }
}
