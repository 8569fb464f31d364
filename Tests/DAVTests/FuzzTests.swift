import BrokerDAV
import Testing

@Suite("Mutated requests")
struct FuzzTests {
    /// splitmix64: the same requests in every run.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    private static let pieces = [
        "<", ">", "/>", "</", "&", "&lt;", "&#0;", "&#x10FFFF;", "]]>", "<![CDATA[", "<!--", "<!DOCTYPE a [",
        "<?xml ?>", "\"",
        "xmlns=\"\"", "xmlns:D='u'", "DAV:", "<D:href>", "</D:href>", "<D:prop>", "\0", "\u{FEFF}", "\u{10FFFF}", "%2e",
    ].map { Array($0.utf8) }

    private static let words = [
        "prop", "href", "getetag", "DAV:", "urn:ietf:params:xml:ns:carddav", "FN", "contains", "anyof", "yes", "4.0",
        "25",
        "text-match", "is-not-defined", "sync-token", "propfind", "addressbook-query", "1", "/ann/", "filter",
    ]

    /// Changes bytes, or replaces a word, which keeps many requests well-formed.
    private func mutated(_ bytes: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var bytes = bytes
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...30, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...place, using: &random))
        case 3: bytes.insert(contentsOf: Array(repeating: bytes[place..<end], count: 20).joined(), at: place)
        case 4: bytes.insert(contentsOf: Self.pieces[place % Self.pieces.count], at: place)
        default:
            let (old, new) = (Self.words.randomElement(using: &random), Self.words.randomElement(using: &random))
            bytes = Array(String(decoding: bytes, as: UTF8.self).replacing(old ?? "", with: new ?? "").utf8)
        }
        return bytes
    }

    /// Uses everything that a server does with a body. Returns the response, which must be XML.
    private func respond(to document: XMLDocument?) -> [UInt8] {
        var writer = MultistatusWriter()
        writer.begin()
        if let find = try? PropertyFind(document) {
            writer.response("/", find.selection, unasked: [.getETag]) { $0 == .getETag ? .text($0.local) : nil }
        }
        if let patch = try? PropertyPatch(document) { writer.response("/", refusing: patch) }
        switch try? Report(document) {
        case .multiget(let multiget):
            for text in multiget.hrefs {
                let href = (try? Href(parsing: text, authority: "127.0.0.1:5232"))?.text
                writer.response(href ?? text, multiget.properties.selection, unasked: []) { _ in nil }
            }
        case .query(let query):
            if query.filter.matches({ [FilteredProperty(value: $0)] }) { writer.response("/q", .notFound) }
        case .sync(let sync):
            writer.end(syncToken: sync.token)
            return writer.takeBytes()
        case .unknown, nil: break
        }
        writer.end()
        return writer.takeBytes()
    }

    @Test("No mutated request crashes the reader, and every response is XML, however the request is split")
    func bodies() throws {
        var random = Seeded(state: 2_026)
        var accepted = 0
        for round in 0..<6_000 {
            var bytes = Array(ClientBody.all[round % ClientBody.all.count].utf8)
            for _ in 0...(round % 4) { bytes = mutated(bytes, &random) }
            let whole = Result { try XMLReader.document(bytes) }
            let split = Result { try document(bytes, pieces: 1 + round % 50) }
            switch (whole, split) {
            case (.success(let whole), .success(let split)):
                accepted += 1
                #expect(whole.map { outline($0.root) } == split.map { outline($0.root) })
                #expect(throws: Never.self) { try XMLReader.document(respond(to: whole)) }
            case (.failure(let whole), .failure(let split)): #expect("\(whole)" == "\(split)")
            default: #expect(Bool(false), "round \(round)")
            }
        }
        #expect(accepted > 600)
    }

    @Test("No mutated href or field crashes")
    func fields() throws {
        var random = Seeded(state: 7)
        let seeds = [
            "/a/%C3%A9/b.vcf", "http://127.0.0.1:5232/a", #"W/"1", "2""#, "text/vcard; version=\"4.0\";q=0.5, */*",
            "return=minimal; x", "Basic YW5uOnNlY3JldA==",
        ]
        for round in 0..<20_000 {
            let text = String(decoding: mutated(Array(seeds[round % seeds.count].utf8), &random), as: UTF8.self)
            if let href = try? Href(parsing: text, authority: "127.0.0.1:5232") {
                #expect(try Href(parsing: href.text, authority: nil) == href)
                #expect(try Href(href.segments, isCollection: href.isCollection) == href)
            }
            if case .tags(let tags) = try? EntityTagList([text]) {
                #expect(try EntityTagList(tags.map(\.text)) == .tags(tags))
            }
            _ = CardVersion.preferred(byAccept: [text])
            _ = ReturnPreference([text])
            _ = BasicCredentials(authorization: text)
        }
    }
}
