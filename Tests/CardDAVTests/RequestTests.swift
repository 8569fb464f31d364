import BrokerBounds
import BrokerDAV
import Testing

@testable import BrokerCardDAV

@Suite("Requests to the CardDAV service")
struct RequestTests {
    private let host = "127.0.0.1:20001"

    private func status(_ fields: [(String, String)], target: String = "/") -> Int? {
        RequestHead(method: "PROPFIND", target: target, fields: fields.map { (name: $0, value: $1) })
            .refusal(host: host)?.status
    }

    @Test("One host, which is the literal address of this service")
    func hosts() {
        #expect(status([("Host", host)]) == nil)
        #expect(status([("hOST", host)]) == nil)
        #expect(status([]) == 400)
        #expect(status([("Host", host), ("Host", host)]) == 400)
        for other in ["localhost:20001", "127.0.0.1:20002", "127.0.0.1", "[::1]:20001", "\(host),\(host)", ""] {
            #expect(status([("Host", other)]) == 421, "\(other)")
        }
    }

    @Test("Only the path of a target, and only this service's origin")
    func origins() {
        #expect(status([("Host", host)], target: "http://\(host)/") == 400)
        #expect(status([("Host", host)], target: "") == 400)
        #expect(status([("Host", host), ("Origin", "http://" + host)]) == nil)
        for origins in [["null"], ["https://" + host], [""], ["http://" + host, "http://" + host]] {
            #expect(status([("Host", host)] + origins.map { ("Origin", $0) }) == 403, "\(origins)")
        }
        for (site, expected) in [("same-origin", nil), ("none", nil), ("same-site", 403), ("cross-site", 403)] {
            #expect(status([("Host", host), ("Sec-Fetch-Site", site)]) == expected)
        }
    }

    @Test("A body of the longest length is accepted, and one byte more is not")
    func lengths() {
        #expect(status([("Host", host), ("Content-Length", "\(CardDAVLimits.body)")]) == nil)
        #expect(status([("Host", host), ("Content-Length", "\(CardDAVLimits.body + 1)")]) == 413)
        #expect(status([("Host", host), ("Transfer-Encoding", "Chunked")]) == nil)
        #expect(status([("Host", host), ("Transfer-Encoding", "gzip, chunked")]) == 501)
        #expect(status([("Host", host), ("Expect", "100-Continue")]) == nil)
        #expect(status([("Host", host), ("Expect", "more")]) == 417)
    }

    @Test(
        "A connection's paths, and nobody else's",
        arguments: [
            ("/", Resource.root), ("/ann/", .home), ("/ann", .home), ("/ann/contacts/", .book),
            ("/%61nn/contacts", .book),
            ("/ann/contacts/0af.vcf", .card("0af.vcf")), ("/ann/contacts/0af.vcf/", nil),
            ("/ann/contacts/a%20b", .card("a b")), ("/ann/contacts/a/b.vcf", nil),
            ("/bob/", nil),
            ("/bob/contacts/", nil), ("/ann/other/", nil), ("/Ann/", nil),
            ("/ann/contacts/\(String(repeating: "a", count: 256))", nil),
        ])
    func resources(path: String, resource: Resource?) throws {
        #expect(Resource(try Href(parsing: path, authority: nil), of: "ann") == resource)
        if let resource, let href = resource.href(of: "ann") { #expect(Resource(href, of: "ann") == resource) }
    }

    @Test("A token comes back as it was, and only to its connection")
    func tokens() {
        for token in [SyncToken.place("0af", refusal: 7), .nothingShared] {
            #expect(SyncToken(token.text(of: "1"), of: "1") == token)
            #expect(SyncToken(token.text(of: "1"), of: "2") == nil)
        }
        #expect(SyncToken("urn:contactbroker:sync:1", of: "1") == nil)
        #expect(SyncToken("", of: "") == nil)
    }
}
