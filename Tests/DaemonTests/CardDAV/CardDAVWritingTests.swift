import BrokerJSON
import Testing

@Suite("Writing by CardDAV")
struct CardDAVWritingTests {
    private static let card = ["Content-Type": "text/vcard; charset=utf-8"]

    private static func fields(_ more: [String: String] = [:]) -> [String: String] { card.merging(more) { $1 } }

    private static func vcard(_ uid: String, _ lines: String...) -> String {
        (["BEGIN:VCARD", "VERSION:3.0", "UID:\(uid)"] + lines + ["END:VCARD"]).map { $0 + "\r\n" }.joined()
    }

    /// The numbers of a contact, as the person's own app sees them.
    private static func numbers(of name: String, _ service: CardDAVFixture) throws -> [String] {
        let answer = try service.keeper.call(
            "FetchContacts", #"{"keys":["phoneNumbers"],"predicate":{"name":"\#(name)"}}"#)
        return answer["contacts"]?.elements?.flatMap { contact in
            contact["phoneNumbers"]?.elements?.compactMap { $0["value"]?.string } ?? []
        } ?? []
    }

    @Test("A card that the client adds keeps its path and its UID, and can be changed and deleted")
    func added() throws {
        let service = try CardDAVFixture()
        let href = service.book + "6A0F-New.vcf"
        let text = Self.vcard("6A0F-New", "FN:Marie Curie", "N:Curie;Marie;;;", "TEL;TYPE=HOME:+33 1")
        let start = try #require(try service.sync(nil).token)
        #expect(try service.send("PUT", href, text, Self.fields(["If-None-Match": "*"])).status == 201)
        let got = try service.send("GET", href)
        #expect(got.status == 200 && got.text.contains("UID:6A0F-New\r\n") && got.text.contains("FN:Marie Curie"))
        #expect(try service.sync(start).found.keys.contains(href))
        #expect(try Self.numbers(of: "Marie", service) == ["+33 1"])
        #expect(try service.send("PUT", href, text, Self.fields(["If-None-Match": "*"])).status == 412)
        // The same UID at another path.
        let conflict = try service.send("PUT", service.book + "other.vcf", text, Self.fields())
        #expect(conflict.status == 409 && conflict.text.contains("no-uid-conflict") && conflict.text.contains(href))
        #expect(try service.send("PUT", href, text.replacing("+33 1", with: "+33 2"), Self.fields()).status == 204)
        #expect(try Self.numbers(of: "Marie", service) == ["+33 2"])
        let other = try service.send("PUT", href, text.replacing("6A0F-New", with: "x"), Self.fields())
        #expect(other.status == 409)
        #expect(try service.send("DELETE", href).status == 204)
        #expect(try service.send("GET", href).status == 404 && service.send("DELETE", href).status == 404)
        #expect(try service.sync(start).found.isEmpty)
        #expect(try Self.numbers(of: "Marie", service).isEmpty)
    }

    @Test("What others changed since stays, what the client was sent and leaves out goes, and hidden values stay")
    func merged() throws {
        let service = try CardDAVFixture()
        let href = try service.href("Ada Lovelace")
        // The client reads the card, and the next request on the connection says that it has it.
        func read() throws -> String {
            let line = try HTTPLine(port: service.port)
            line.send(service.request("GET", href))
            let text = try #require(try line.response()).text
            line.send(service.request("OPTIONS", href))
            #expect(try line.response()?.status == 200)
            return text
        }
        let first = try read().replacing("END:VCARD", with: "TEL;TYPE=HOME:+99 1\r\nTEL;TYPE=WORK:+99 2\r\nEND:VCARD")
        let put = try service.send("PUT", href, first, Self.fields())
        #expect(put.status == 204 && put.fields["etag"] == nil)
        #expect(try Self.numbers(of: "Ada", service).suffix(2) == ["+99 1", "+99 2"])
        let text = try read()
        // Meanwhile the person adds a number and a note.
        let ada = try #require(
            try service.keeper.call("FetchContacts", #"{"keys":["phoneNumbers"],"predicate":{"name":"Ada"}}"#)[
                "contacts"]?
                .elements?.first { _ in true })
        let former = ada["phoneNumbers"]?.elements?.compactMap { value -> String? in
            guard let number = value["value"]?.string, let identifier = value["identifier"]?.string else { return nil }
            let label = value["label"]?.string.map { #","label":"\#($0)""# } ?? ""
            return #"{"identifier":"\#(identifier)","value":"\#(number)"\#(label)}"#
        }
        let all = ((former ?? []) + [#"{"value":"+99 3"}"#]).joined(separator: ",")
        let change =
            #"{"operation":"update","contact":{"identifier":"\#(ada["identifier"]?.string ?? "")","phoneNumbers":[\#(all)]}}"#
        #expect(try service.keeper.call("SaveContacts", #"{"changes":[\#(change)]}"#).error == nil)
        // The client, which does not know that, removes one number and changes another.
        let edited =
            text.split(separator: "\r\n").filter { !$0.contains("+99 1") }.joined(separator: "\r\n")
            .replacing("+99 2", with: "+99 4") + "\r\n"
        #expect(try service.send("PUT", href, edited, Self.fields()).status == 204)
        let now = try Self.numbers(of: "Ada", service)
        #expect(!now.contains("+99 1") && !now.contains("+99 2") && now.contains("+99 3") && now.contains("+99 4"))
    }

    @Test("Neither a HEAD nor If-Match: * says that the client has read the card")
    func unread() throws {
        let service = try CardDAVFixture()
        let href = try service.href("Grace Hopper")
        let text = try service.send("GET", href).text
        let later = text.replacing("END:VCARD", with: "TEL:+99 5\r\nEND:VCARD")
        #expect(try service.send("PUT", href, later, Self.fields()).status == 204)
        #expect(try service.send("HEAD", href).status == 200)
        #expect(try service.send("PUT", href, text, Self.fields()).status == 204)
        #expect(try service.send("PUT", href, text, Self.fields(["If-Match": "*"])).status == 204)
        #expect(try Self.numbers(of: "Grace", service).contains("+99 5"))
    }

    @Test("A precondition that does not hold changes nothing")
    func conditions() throws {
        let service = try CardDAVFixture()
        let href = try service.href("Grace Hopper")
        let got = try service.send("GET", href)
        let tag = try #require(got.fields["etag"])
        let edited = got.text.replacing("END:VCARD", with: "TITLE:Admiral\r\nEND:VCARD")
        for wrong in [#""nothing""#, "\"\(tag.dropFirst().dropLast())x\""] {
            #expect(try service.send("PUT", href, edited, Self.fields(["If-Match": wrong])).status == 412)
            #expect(try service.send("DELETE", href, "", ["If-Match": wrong]).status == 412)
        }
        #expect(try service.send("GET", href).fields["etag"] == tag)
        #expect(try service.send("PUT", href, edited, Self.fields(["If-Match": tag])).status == 204)
        #expect(try service.send("GET", href).text.contains("TITLE:Admiral"))
        #expect(try service.send("PUT", service.book + "x.vcf", edited, Self.fields(["If-Match": tag])).status == 412)
    }

    @Test("A refused change has another tag, so that the client reads the card again")
    func refused() throws {
        let service = try CardDAVFixture()
        let href = try service.href("Lin Lanying")
        let before = try service.tags()
        let token = try #require(try service.sync(nil).token)
        // The right to change what it sees does not include deleting.
        let narrowed = try Command(
            DaemonFixture.programs + "/contactctl", ["set", CardDAVFixture.user, "--changes", "edit"],
            in: service.fixture)
        #expect(narrowed.end == .exited(0), "\(narrowed.errors)")
        #expect(try service.send("DELETE", href).status == 403)
        let after = try service.tags()
        #expect(after.count == before.count && after[href] != before[href])
        let listed = try service.sync(token)
        #expect(Array(listed.found.keys) == [href] && listed.found[href]?["getetag"] == after[href])
        #expect(try service.sync(listed.token).found.isEmpty)
    }

    @Test("What is no card, or not the client's to change, is refused, and nothing of it is saved")
    func bad() throws {
        let service = try CardDAVFixture()
        let href = service.book + "new.vcf"
        let tags = try service.tags()
        for (body, type) in [
            ("", "text/vcard"), ("hello", "text/vcard"), (Self.vcard("a"), "text/vcard"),
            (Self.vcard("a", "FN:A", "N:;A;;;") + Self.vcard("b", "FN:B", "N:;B;;;"), "text/vcard"),
            (Self.vcard("a", "FN:A", "N:;A;;;"), "application/xml"),
            (Self.vcard("a", "FN:A", "N:;A;;;"), "text/vcard; charset=utf-16"),
            (Self.vcard("a", "FN:A").replacing("VERSION:3.0", with: "VERSION:2.1"), "text/vcard"),
            (Self.vcard("a", "NOTE:secret"), "text/vcard"),
        ] {
            let response = try service.send("PUT", href, body, ["Content-Type": type])
            #expect(response.status == 403, "\(body) \(type): \(response.status)")
        }
        #expect(try service.send("DELETE", href).status == 404)
        #expect(try service.tags() == tags)
        // A card that the connection does not see is as one that is not there.
        let made = service.book + String(repeating: "0", count: 32) + ".vcf"
        #expect(try service.send("DELETE", made).status == 404)
        // Nor is one that was taken back, which must not come back as a second one.
        let taken = try service.href("Grace Hopper")
        let text = try service.send("GET", taken).text
        try service.revoke(contact: "Grace Hopper")
        for href in [made, taken] {
            #expect(try service.send("PUT", href, text, ["Content-Type": "text/vcard"]).status == 404)
        }
        try service.revokeAll()
        #expect(
            try service.send("PUT", href, Self.vcard("a", "FN:A", "N:;A;;;"), ["Content-Type": "text/vcard"]).status
                == 403)
    }

    @Test("It goes on after a kill of either program")
    func killed() throws {
        let service = try CardDAVFixture()
        let href = service.book + "kept.vcf"
        let text = Self.vcard("kept", "FN:Marie Curie", "N:Curie;Marie;;;")
        #expect(try service.send("PUT", href, text, Self.fields()).status == 201)
        service.service?.kill()
        try service.startService()
        #expect(try service.send("GET", href).text.contains("UID:kept\r\n"))
        service.fixture.kill()
        #expect(try service.send("GET", href).status == 503)
        try service.fixture.start()
        #expect(try service.send("PUT", href, text.replacing("Curie", with: "Skłodowska"), Self.fields()).status == 204)
        #expect(try service.send("GET", href).text.contains("N:Skłodowska;Marie"))
    }
}
