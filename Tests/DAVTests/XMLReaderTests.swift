import BrokerDAV
import Testing

@Suite("Reading XML from a stream")
struct XMLReaderTests {
    private let clock = ContinuousClock()

    @Test("A document is the same however the stream is split", arguments: ClientBody.all)
    func pieces(body: String) throws {
        let whole = try #require(try document(body))
        for size in [1, 2, 3, 7, 100] {
            let split = try #require(try document(Array(body.utf8), pieces: size))
            #expect(outline(split.root) == outline(whole.root))
        }
    }

    @Test("Names, attributes, references, CDATA and comments are read as XML defines them")
    func content() throws {
        let root = try #require(
            try document(
                """
                <?xml version="1.0"?><!-- c --><a:x xmlns:a="urn:a" b="1&#10;&lt;" a:b="2"> ignored <y xmlns="">one\
                <!-- c -->&amp;<![CDATA[<two>]]>&#x263A;</y><z xmlns="urn:z"/>ignored</a:x>
                """)
        ).root
        #expect(root.name == XMLName("urn:a", "x"))
        #expect(root.attribute("b") == "1\n<")
        #expect(outline(root) == "{urn:a}x[y=\"one&<two>☺\" {urn:z}z]")
    }

    @Test("An empty body is no document; one of white space is malformed")
    func empty() throws {
        #expect(try document("") == nil)
        #expect(throws: XMLError.malformed(offset: 2)) { try document("  ") }
    }

    @Test(
        "A document type declaration ends the parse",
        arguments: [
            #"<!DOCTYPE a><a/>"#,
            #"<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>"#,
            #"<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>"#,
            #"<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;"><!ENTITY d "&c;&c;&c;">]><a>&d;</a>"#,
            #"<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/"> %p;]><a/>"#,
        ])
    func doctype(text: String) {
        #expect(throws: XMLError.doctype) { try document(text) }
        #expect(throws: XMLError.doctype) { try document(Array(text.utf8), pieces: 1) }
    }

    @Test("After an error every call throws it again, and nothing more is parsed")
    func failed() {
        let reader = XMLReader()
        let bytes = Array(("<!DOCTYPE a [" + String(repeating: " ", count: 20_000)).utf8)
        #expect(throws: XMLError.doctype) { try reader.append(bytes.span.bytes) }
        #expect(throws: XMLError.doctype) { try reader.append([0x20].span.bytes) }
        #expect(throws: XMLError.doctype) { try reader.finish() }
    }

    @Test("Entities other than the five of XML do not exist")
    func entities() {
        #expect(throws: XMLError.malformed(offset: 3)) { try document("<a>&nbsp;</a>") }
    }

    @Test("Elements may be 64 levels deep and no deeper")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "<a>", count: levels) + String(repeating: "</a>", count: levels)
        }
        #expect(try document(nested(DAVBounds.depth)) != nil)
        #expect(throws: XMLError.tooDeep) { try document(nested(DAVBounds.depth + 1)) }
        #expect(throws: XMLError.tooDeep) { try document(nested(200_000)) }
    }

    @Test("An element may have 32 attributes; 200,000 are refused at once")
    func attributes() throws {
        func element(_ count: Int) -> String {
            "<a" + (0..<count).map { " a\($0)=\"\"" }.joined() + "/>"
        }
        #expect(try document(element(DAVBounds.attributes))?.root.attribute("a31") == "")
        #expect(throws: XMLError.tooManyAttributes) { try document(element(DAVBounds.attributes + 1)) }
        let flood = Array(element(200_000).utf8)
        let time = clock.measure {
            #expect(throws: XMLError.tokenTooLong) { try document(flood, pieces: 1_000) }
        }
        #expect(time < .seconds(1))
    }

    @Test("Text of an element has a limit, which a long text reaches in linear time")
    func text() throws {
        let bytes = Array("<a>".utf8) + [UInt8](repeating: 0x78, count: 12_000_000) + Array("</a>".utf8)
        #expect(throws: XMLError.textTooLong) { try document(bytes, pieces: 4_096) }
        let limits = XMLLimits(text: 12_000_000)
        var size: Int?
        let time = try clock.measure { size = try document(bytes, pieces: 100, limits: limits)?.root.bytes.count }
        #expect(size == 12_000_000)
        #expect(time < .seconds(20))
        #expect(throws: XMLError.textTooLong) {
            try document(bytes, pieces: 4_096, limits: XMLLimits(text: 11_999_999))
        }
    }

    @Test(
        "A comment, a tag and a name that do not end are refused, in linear time",
        arguments: ["<!--", "<?p ", "<a b='", "<"])
    func token(start: String) {
        let bytes = Array(start.utf8) + [UInt8](repeating: 0x78, count: 12_000_000)
        let time = clock.measure {
            #expect(throws: XMLError.tokenTooLong) { try document(bytes, pieces: 10) }
        }
        #expect(time < .seconds(1))
    }

    @Test("The size of a document has a limit")
    func size() throws {
        #expect(try document("<a/>", limits: XMLLimits(bytes: 4)) != nil)
        #expect(throws: XMLError.bodyTooLarge) { try document("<a/> ", limits: XMLLimits(bytes: 4)) }
    }

    @Test("Numbers of elements and of names, and lengths of names and namespaces have limits")
    func names() throws {
        let items = String(repeating: "<a/>", count: DAVBounds.elements - 1)
        #expect(try document("<r>\(items)</r>") != nil)
        #expect(throws: XMLError.tooManyElements) { try document("<r>\(items)<a/></r>") }
        let different = (0..<DAVBounds.names).map { "<a\($0)/>" }.joined()
        #expect(throws: XMLError.tooManyNames) { try document("<r>\(different)</r>") }
        let long = String(repeating: "n", count: DAVBounds.name)
        #expect(try document("<\(long)/>") != nil)
        #expect(throws: XMLError.nameTooLong) { try document("<\(long)n/>") }
        #expect(throws: XMLError.nameTooLong) { try document("<a xmlns:p=\"\(long)n\"/>") }
        // A separator in a namespace cannot forge another name.
        #expect(throws: XMLError.self) { try document("<a xmlns=\"DAV:&#12;prop\"/>") }
    }

    @Test("A long namespace with many names in it is refused where it is declared")
    func namespaceFlood() {
        let text =
            "<r xmlns:p='\(String(repeating: "n", count: 60_000))'>" + String(repeating: "<p:a/>", count: 200_000)
        let time = clock.measure { #expect(throws: XMLError.nameTooLong) { try document(text) } }
        #expect(time < .seconds(1))
    }

    @Test("Only UTF-8 is read, with or without a byte order mark and a declaration")
    func encodings() throws {
        let utf16 = Array("<a>ä</a>".utf16)
        let little = utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        for bytes in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big] {
            #expect(throws: XMLError.unsupportedEncoding) { try document(bytes, pieces: 1) }
        }
        for name in ["ISO-8859-1", "UTF-16", "windows-1252", "utf-7", "x"] {
            let text = "<?xml version='1.0' encoding='\(name)'?><a/>"
            #expect(throws: XMLError.unsupportedEncoding, "\(name)") { try document(text) }
        }
        for start in [
            "\u{FEFF}", "<?xml version='1.0' encoding='UTF-8'?>", "<?xml version='1.0' encoding='us-ascii'?>",
        ] {
            #expect(try document(start + "<a>ä</a>")?.root.text == "ä")
        }
    }

    @Test(
        "Invalid UTF-8, forbidden characters and broken structure are malformed",
        arguments: [
            "<a>\u{1}</a>", "<a>\0</a>", "<a>&#0;</a>", "<a>&#xFFFE;</a>", "<a>\u{FFFF}</a>", "<a", "<a>", "<a></b>",
            "<a/><a/>", "<p:a/>", "<a b='1' b='2'/>", "<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>", "text", "<a b=c/>",
        ])
    func malformed(text: String) {
        #expect(throws: XMLError.self) { try document(text) }
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE4]] {
            #expect(throws: XMLError.self) { try document(Array("<a>".utf8) + bytes + Array("</a>".utf8), pieces: 1) }
        }
    }
}
