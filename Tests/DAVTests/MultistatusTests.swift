import BrokerDAV
import Testing

@Suite("Multistatus")
struct MultistatusTests {
    private let values: [XMLName: PropertyValue] = [
        .resourceType: .elements([.collection, .addressBook]), .getETag: .text("\"1\""), .displayName: .text("A & <b>"),
        .addressData: .card(Array("BEGIN:VCARD\r\nNOTE:a\tb\r\n".utf8)),
        .supportedAddressData: .cardVersions([.v3, .v4]), .supportedCollationSet: .collations(Collation.allCases),
        .supportedReportSet: .reports([.syncCollection, .addressBookQuery]),
        .currentUserPrivilegeSet: .privileges([.read]),
    ]

    private func written(
        _ selection: PropertySelection, minimal: Bool = false, unasked: [XMLName] = []
    ) throws -> String {
        var writer = MultistatusWriter(omittingMissing: minimal)
        writer.begin()
        writer.response("/ann/", selection, unasked: unasked) { values[$0] }
        writer.end()
        return try outline(writer.takeBytes()).replacing("D:multistatus[D:response[D:href=\"/ann/\" ", with: "")
    }

    @Test("Found properties come first, with exactly HTTP/1.1 200 OK; unknown ones follow with 404")
    func order() throws {
        let foreign = XMLName("urn:x", "y")
        #expect(
            try written(.named([foreign, .getETag, .getCTag])) == """
                D:propstat[D:prop[D:getetag=""1""] D:status="HTTP/1.1 200 OK"] \
                D:propstat[D:prop[{urn:x}y CS:getctag] D:status="HTTP/1.1 404 Not Found"]]]
                """)
        #expect(
            try written(.named([foreign, .getETag]), minimal: true)
                == #"D:propstat[D:prop[D:getetag=""1""] D:status="HTTP/1.1 200 OK"]]]"#)
    }

    @Test("A response has a status even if nothing is asked for or found")
    func nothing() throws {
        let empty = #"D:propstat[D:prop D:status="HTTP/1.1 200 OK"]]]"#
        #expect(try written(.named([])) == empty)
        #expect(try written(.named([.getCTag]), minimal: true) == empty)
        #expect(
            try written(.named([.getCTag])) == #"D:propstat[D:prop[CS:getctag] D:status="HTTP/1.1 404 Not Found"]]]"#)
    }

    @Test("allprop returns the unasked properties and the included ones, propname only names")
    func all() throws {
        let all = try written(.all(including: [.getETag, .displayName]), unasked: [.displayName])
        #expect(all == #"D:propstat[D:prop[D:displayname="A & <b>" D:getetag=""1""] D:status="HTTP/1.1 200 OK"]]]"#)
        let names = try written(.names, unasked: [.displayName, .getCTag])
        #expect(names == #"D:propstat[D:prop[D:displayname] D:status="HTTP/1.1 200 OK"]]]"#)
    }

    @Test("Each kind of value has the elements of its RFC")
    func kinds() throws {
        #expect(try written(.named([.resourceType])).contains("D:resourcetype[D:collection C:addressbook]"))
        #expect(try written(.named([.addressData])).contains("C:address-data=\"BEGIN:VCARD\r\nNOTE:a\tb\r\n\""))
        #expect(
            try written(.named([.supportedReportSet])).contains(
                """
                D:supported-report-set[D:supported-report[D:report[D:sync-collection]] \
                D:supported-report[D:report[C:addressbook-query]]]
                """))
        #expect(
            try written(.named([.currentUserPrivilegeSet])).contains(
                "D:current-user-privilege-set[D:privilege[D:read]]"))
        #expect(
            try written(.named([.supportedCollationSet])).contains(#"C:supported-collation="i;unicode-casemap""#))
        var writer = MultistatusWriter()
        writer.begin()
        writer.response("/", .named([.supportedAddressData, .owner]), unasked: []) { name in
            name == .owner ? (try? Href(["ann é"], isCollection: true)).map { .href($0) } : values[name]
        }
        writer.end()
        let bytes = writer.takeBytes()
        #expect(
            String(decoding: bytes, as: UTF8.self).contains(
                #"<C:address-data-type content-type="text/vcard" version="4.0"/>"#))
        #expect(try outline(bytes).contains(#"D:owner[D:href="/ann%20%C3%A9/"]"#))
    }

    @Test("A sync lists changes, removals and the limit, and ends with the token; bytes can be taken between")
    func sync() throws {
        var writer = MultistatusWriter()
        writer.begin()
        writer.response("/ann/a.vcf", .named([.getETag]), unasked: []) { values[$0] }
        let first = writer.takeBytes()
        #expect(writer.byteCount == 0)
        writer.response("/ann/b&c.vcf", .notFound)
        writer.response("/ann/", .insufficientStorage, because: .matchesWithinLimits)
        writer.end(syncToken: "data:,2")
        #expect(
            try outline(first + writer.takeBytes()) == """
                D:multistatus[D:response[D:href="/ann/a.vcf" D:propstat[D:prop[D:getetag=""1""] \
                D:status="HTTP/1.1 200 OK"]] D:response[D:href="/ann/b&c.vcf" D:status="HTTP/1.1 404 Not Found"] \
                D:response[D:href="/ann/" D:status="HTTP/1.1 507 Insufficient Storage" \
                D:error[D:number-of-matches-within-limits]] D:sync-token="data:,2"]
                """)
    }

    @Test("PROPPATCH is refused property by property")
    func patch() throws {
        var writer = MultistatusWriter()
        writer.begin()
        writer.response("/ann/", refusing: try PropertyPatch(try document(ClientBody.patch)))
        writer.end()
        #expect(
            try outline(writer.takeBytes()).contains(
                """
                D:prop[D:displayname {http://apple.com/ns/ical/}color] D:status="HTTP/1.1 403 Forbidden" \
                D:error[D:cannot-modify-protected-property]
                """))
    }

    @Test(
        "Error bodies",
        arguments: [
            (Precondition.validSyncToken, 400, "D:error[D:valid-sync-token]"),
            (.supportedReport, 403, "D:error[D:supported-report]"),
            (.supportedAddressData, 403, "D:error[C:supported-address-data]"),
            (.validAddressData, 403, "D:error[C:valid-address-data]"),
            (.uniqueUID(href: "/ann/a.vcf"), 409, #"D:error[C:no-uid-conflict[D:href="/ann/a.vcf"]]"#),
            (.uniqueUID(href: nil), 409, "D:error[C:no-uid-conflict]"),
            (.finiteDepth, 403, "D:error[D:propfind-finite-depth]"),
        ])
    func errors(precondition: Precondition, status: Int, body: String) throws {
        #expect(try outline(precondition.body) == body)
        #expect(precondition.status == status)
    }

    @Test("Text comes back as it was, without the characters that XML forbids and with damaged UTF-8 repaired")
    func escaping() throws {
        func roundTrip(_ value: PropertyValue) throws -> String? {
            var writer = MultistatusWriter()
            writer.begin()
            writer.response("/", .named([.displayName]), unasked: []) { _ in value }
            writer.end()
            let root = try #require(try XMLReader.document(writer.takeBytes())).root
            let names = [XMLName.dav("response"), .dav("propstat"), .dav("prop"), .displayName]
            return names.reduce(Optional(root)) { element, name in element?.firstChild(named: name) }?.text
        }
        // Pieces, because an element of a request has limited text.
        for start in stride(from: 1, to: 0x11000, by: 8_000) {
            let scalars = (UInt32(start)..<UInt32(start + 8_000)).compactMap(Unicode.Scalar.init)
            let isAllowed = { (scalar: Unicode.Scalar) in
                scalar.value >= 0x20 && !(0xFFFE...0xFFFF).contains(scalar.value) || [9, 10, 13].contains(scalar.value)
            }
            let text = scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
            let expected = scalars.filter(isAllowed).reduce(into: "") { $0.unicodeScalars.append($1) }
            let result = try #require(try roundTrip(.text(text)))
            #expect(Array(result.utf8) == Array(expected.utf8))
        }
        #expect(try roundTrip(.text("]]>&amp;\r\n\r'\"")) == "]]>&amp;\r\n\r'\"")
        #expect(try roundTrip(.card([0x61, 0xFF, 0xEF, 0xBF, 0xBE, 0xEF, 0xBF])) == "a\u{FFFD}\u{FFFD}")
    }

    @Test(
        "Any name that a client may use comes back as it was",
        arguments: [
            "<x/>", "<xml:lang/>", "<é:é xmlns:é='DAV:x'/>", "<x xmlns='a&amp;&lt;&quot;&#10;&#9;b'/>",
            "<x xmlns='&#39;>'/>",
        ])
    func names(element: String) throws {
        let find = try PropertyFind(try document("<d:propfind xmlns:d='DAV:'><d:prop>\(element)</d:prop></d:propfind>"))
        guard case .named(let names) = find.selection else { return #expect(Bool(false)) }
        var writer = MultistatusWriter()
        writer.begin()
        writer.response("/", find.selection, unasked: []) { _ in nil }
        writer.end()
        let root = try #require(try XMLReader.document(writer.takeBytes())).root
        let path = [XMLName.dav("response"), .dav("propstat"), .dav("prop")]
        let prop = path.reduce(Optional(root)) { element, name in element?.firstChild(named: name) }
        #expect(prop?.children.map(\.name) == names)
    }
}
