import Testing

@Suite("Bad input by HTTP")
struct CardDAVBadInputTests {
    private static func service() throws -> CardDAVFixture { try CardDAVFixture() }

    @Test("Only the literal address is a host, only its own origin an origin, and no response allows another one")
    func webPages() throws {
        let service = try CardDAVFixture()
        let host = service.host
        func status(_ fields: [String: String], _ target: String = "/") throws -> Int {
            let response = try service.send("PROPFIND", target, "", fields.merging(["Depth": "0"]) { $1 })
            #expect(!response.fields.keys.contains { $0.hasPrefix("access-control") })
            return response.status
        }
        #expect(try status([:]) == 207)
        #expect(try status(["Origin": "http://\(host)", "Sec-Fetch-Site": "same-origin"]) == 207)
        #expect(try status(["Sec-Fetch-Site": "none"]) == 207)
        for origin in [
            "null", "http://localhost:\(service.port)", "https://\(host)", "http://evil.example", "http://127.0.0.1",
        ] {
            #expect(try status(["Origin": origin]) == 403, "\(origin)")
        }
        for site in ["cross-site", "same-site", ""] where !site.isEmpty {
            #expect(try status(["Sec-Fetch-Site": site]) == 403, "\(site)")
        }
        for other in ["localhost:\(service.port)", "127.0.0.1", "127.0.0.1:1", "[::1]:\(service.port)", "evil.example"]
        {
            #expect(try status(["Host": other]) == 421, "\(other)")
        }
        #expect(try status(["Host": ""]) == 400)
        #expect(try status([:], "http://\(host)/") == 400)
        #expect(try status([:], "*") == 400)

        let twice = try HTTPLine(port: service.port)
        twice.send("GET / HTTP/1.1\r\nHost: \(host)\r\nHost: \(host)\r\n\r\n")
        #expect(try twice.response()?.status == 400)
        let old = try HTTPLine(port: service.port)
        old.send("GET / HTTP/1.0\r\nHost: \(host)\r\n\r\n")
        #expect(try old.response()?.status == 505)
    }

    @Test("Smuggled, oversized and unknown requests are refused, and the service goes on")
    func framing() throws {
        let service = try CardDAVFixture()
        let start =
            "REPORT \(service.book) HTTP/1.1\r\nHost: \(service.host)\r\n"
            + "Authorization: \(CardDAVFixture.authorization(CardDAVFixture.user, service.password))\r\n"
        let refused = [
            "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "Content-Length: -1\r\n\r\n",
            "Content-Length: 999999999999\r\n\r\n", "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
            "Expect: something\r\nContent-Length: 0\r\n\r\n", "X: a\r\n folded\r\n\r\n", "X : a\r\n\r\n",
            "X: \(String(repeating: "a", count: 9_000))\r\n\r\n",
            (0..<100).map { "X\($0): a\r\n" }.joined() + "\r\n",
            "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        ]
        for rest in refused {
            let line = try HTTPLine(port: service.port)
            line.send(start + rest)
            let response = try line.response()
            #expect(
                response.map { (400...501).contains($0.status) } ?? true, "\(rest.prefix(40)): \(response?.status ?? 0)"
            )
            #expect(try line.isClosed(within: .seconds(10)))
        }
        let target = try HTTPLine(port: service.port)
        target.send("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nHost: \(service.host)\r\n\r\n")
        #expect(try target.isClosed(within: .seconds(10)))
        let unknown = try HTTPLine(port: service.port)
        unknown.send("BREW / HTTP/1.1\r\nHost: \(service.host)\r\n\r\n")
        #expect(try unknown.isClosed(within: .seconds(10)))
        #expect(try service.tags().count == 3)
    }

    @Test("A body of 16 MiB is the longest; a longer one is refused as soon as it is known")
    func bodies() throws {
        let service = try CardDAVFixture()
        let piece = String(repeating: "a", count: 1_048_576)
        let chunk = "100000\r\n" + piece + "\r\n"
        let line = try HTTPLine(port: service.port)
        line.send(
            service.request("PUT", service.book + "a.vcf", "", ["Transfer-Encoding": "chunked", "Content-Length": ""]))
        for _ in 0..<16 { line.send(chunk) }
        line.send("0\r\n\r\n")
        #expect(try line.response()?.status == 403)
        line.send(
            service.request("PUT", service.book + "a.vcf", "", ["Transfer-Encoding": "chunked", "Content-Length": ""]))
        for _ in 0..<17 { line.send(chunk) }
        let tooLong = try line.response()
        #expect(tooLong == nil || tooLong?.status == 413)
        #expect(try service.send("PUT", service.book, "", ["Content-Length": "\(16 * 1_048_576 + 1)"]).status == 413)

        let asking = try HTTPLine(port: service.port)
        let body = "<D:propfind \(CardDAVFixture.spaces)><D:prop><D:resourcetype/></D:prop></D:propfind>"
        let request = service.request("PROPFIND", "/", body, ["Expect": "100-continue", "Depth": "0"])
        asking.send(request.dropLast(body.count).utf8)
        #expect(try asking.response()?.status == 100)
        asking.send(body)
        #expect(try asking.response()?.status == 207)
        let unknown = try service.send(
            "PUT", "/", "", ["Expect": "100-continue", "Authorization": "", "Content-Length": "5"])
        #expect(unknown.status == 401)
    }

    @Test("XML bombs, deep and damaged documents are refused")
    func documents() throws {
        let service = try CardDAVFixture()
        let bomb = #"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>"#
        let documents: [(String, Int)] = [
            (bomb, 400), (String(repeating: "<a>", count: 10_000), 413), ("<a><b></a>", 400), ("no xml", 400),
            ("<a xmlns='DAV:'>\u{1}</a>", 400), ("<x xmlns='DAV:'/>", 400),
        ]
        for (document, status) in documents {
            #expect(
                try service.send("PROPFIND", "/", document, ["Depth": "0"]).status == status, "\(document.prefix(40))")
        }
        #expect(try service.send("PROPFIND", "/", "<x/>", ["Depth": "0", "Content-Type": "text/plain"]).status == 415)
        #expect(try service.send("PROPFIND", "/", "", ["Depth": "2"]).status == 400)
    }

    @Test("Requests on one connection are answered in their order")
    func pipelining() throws {
        let service = try CardDAVFixture()
        let line = try HTTPLine(port: service.port)
        let requests = [("OPTIONS", "/", 200), ("PROPFIND", "/", 207), ("GET", "/nobody/", 404), ("REPORT", "/", 400)]
        line.send(requests.map { service.request($0.0, $0.1, "", ["Depth": "0"]) }.joined())
        for (_, _, status) in requests { #expect(try line.response()?.status == status) }
        line.send(service.request("OPTIONS", "/", "", ["Connection": "close"]))
        #expect(try line.response()?.status == 200)
        #expect(try line.isClosed(within: .seconds(10)))
    }

    @Test("The answers to many wrong passwords wait, and right ones do not")
    func wrongPasswords() throws {
        let service = try CardDAVFixture()
        let wrong = service.request(
            "OPTIONS", "/", "", ["Authorization": CardDAVFixture.authorization(CardDAVFixture.user, "wrong")])
        let lines = try (0..<32).map { _ in try HTTPLine(port: service.port) }
        for line in lines.prefix(5) {
            line.send(wrong)
            #expect(try line.response()?.status == 401)
        }
        for line in lines.dropFirst(5) { line.send(wrong) }
        // All threads would be busy if they waited.
        #expect(try service.send("OPTIONS", "/").status == 200)
        #expect(try lines[31].response(within: .seconds(20))?.status == 401)
    }

    @Test("A user has at most 64 connections; the 65th is closed, and one that ends makes room")
    func manyConnections() throws {
        let service = try CardDAVFixture()
        var lines: [HTTPLine] = []
        for _ in 0..<64 {
            let line = try HTTPLine(port: service.port)
            line.send(service.request("OPTIONS", "/"))
            #expect(try line.response()?.status == 200)
            lines.append(line)
        }
        #expect(try HTTPLine(port: service.port).isClosed(within: .seconds(10)))
        lines.removeLast()
        let hasRoom = try service.wait {
            let line = try HTTPLine(port: service.port)
            line.send(service.request("OPTIONS", "/"))
            return try line.response()?.status == 200
        }
        #expect(hasRoom)
    }
}
