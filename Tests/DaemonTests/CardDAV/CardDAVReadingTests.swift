import BrokerDAV
import Testing

@Suite("Reading by CardDAV")
struct CardDAVReadingTests {
    @Test("A client that knows only the address finds the book, and each property that clients ask for")
    func discovery() throws {
        let service = try CardDAVFixture()
        let wellKnown = try service.send("PROPFIND", "/.well-known/carddav", "", ["Authorization": ""])
        #expect(wellKnown.status == 301 && wellKnown.fields["location"] == "/")

        let root = try service.find("/", depth: 0, "<D:current-user-principal/><D:resourcetype/>")
        #expect(root.found["/"] == ["current-user-principal": "/thunderbird/", "resourcetype": "collection"])
        let home = try service.find("/thunderbird/", depth: 1, "<C:addressbook-home-set/><D:resourcetype/>")
        #expect(home.found["/thunderbird/"]?["addressbook-home-set"] == "/thunderbird/")
        #expect(home.found[service.book] == ["resourcetype": "collection addressbook"])

        let asked = """
            <D:unknown/><D:displayname/><CS:getctag/><D:sync-token/><D:current-user-privilege-set/>\
            <D:supported-report-set/><C:supported-address-data/><D:owner/><D:getetag/>
            """
        let book = try service.find(service.book, depth: 0, asked)
        #expect(book.first[service.book] == "HTTP/1.1 200 OK")
        let found = try #require(book.found[service.book])
        #expect(found["displayname"] == "thunderbird" && found["owner"] == "/thunderbird/" && found["getetag"] == nil)
        #expect(found["getctag"]?.hasPrefix("urn:contactbroker:sync:") == true)
        #expect(
            found["current-user-privilege-set"]
                == "read write write-content bind unbind read-current-user-privilege-set")
        #expect(found["supported-report-set"] == "addressbook-multiget addressbook-query sync-collection")

        let options = try service.send("OPTIONS", service.book)
        #expect(options.status == 200 && options.fields["dav"] == "1, 3, addressbook")
        #expect(options.fields["allow"] == "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, REPORT")
    }

    @Test("The book has the three granted contacts, and nothing else of the twenty")
    func limited() throws {
        let service = try CardDAVFixture()
        let listed = try service.find(service.book, depth: 1, "<D:getetag/><D:getcontenttype/><D:resourcetype/>")
        #expect(listed.found.count == 4)
        let cards = listed.found.filter { $0.key != service.book }
        #expect(cards.values.allSatisfy { $0["getcontenttype"] == "text/vcard; charset=utf-8" })

        let hrefs = cards.keys.sorted()
        let made = service.book + String(repeating: "0", count: 32) + ".vcf"
        let asked = hrefs + [made, "/other/contacts/a.vcf", service.book + "..%2Fx.vcf", "//host/x.vcf"]
        let multiget = try service.report(
            """
            <C:addressbook-multiget \(CardDAVFixture.spaces)><D:prop><D:getetag/><C:address-data/></D:prop>\
            \(asked.map { "<D:href>\($0)</D:href>" }.joined())</C:addressbook-multiget>
            """)
        #expect(multiget.statuses.count == 4 && multiget.statuses.values.allSatisfy { $0.contains("404") })
        var names: Set<String> = []
        for href in hrefs {
            let got = try service.send("GET", href)
            #expect(got.status == 200 && got.fields["content-type"] == "text/vcard; charset=utf-8")
            #expect(got.fields["etag"] == cards[href]?["getetag"])
            #expect(multiget.found[href] == ["getetag": cards[href]?["getetag"] ?? "", "address-data": got.text])
            let lines = got.text.split(separator: "\r\n")
            #expect(lines.prefix(2) == ["BEGIN:VCARD", "VERSION:3.0"] && !got.text.contains("NOTE"))
            #expect(lines.contains("UID:" + href.dropFirst(service.book.count).dropLast(4)))
            names.insert(String(lines.first { $0.hasPrefix("FN:") }?.dropFirst(3) ?? ""))
            let head = try service.send("HEAD", href)
            #expect(head.status == 200 && head.fields["content-length"] == "\(got.body.count)")
            #expect(try service.send("GET", href, "", ["If-None-Match": got.fields["etag"] ?? ""]).status == 304)
            let fourth = try service.send("GET", href, "", ["Accept": "text/vcard;version=4.0"])
            #expect(fourth.text.contains("VERSION:4.0") && fourth.fields["etag"] != got.fields["etag"])
        }
        #expect(names == Set(CardDAVFixture.shared))
    }

    @Test("A query finds only what the client may see")
    func query() throws {
        let service = try CardDAVFixture()
        func found(_ filter: String, _ rest: String = "") throws -> Multistatus {
            try service.report(
                """
                <C:addressbook-query \(CardDAVFixture.spaces)><D:prop><C:address-data/></D:prop>\
                <C:filter>\(filter)</C:filter>\(rest)</C:addressbook-query>
                """)
        }
        let email = try found(
            #"<C:prop-filter name="EMAIL"><C:text-match>ADA@EXAMPLE</C:text-match></C:prop-filter>"#)
        #expect(email.found.count == 1)
        #expect(email.found.values.first?["address-data"]?.contains("FN:Ada Lovelace") == true)
        let hidden = try found(#"<C:prop-filter name="FN"><C:text-match>Hidden</C:text-match></C:prop-filter>"#)
        #expect(hidden.found.isEmpty)
        #expect(try found(#"<C:prop-filter name="NOTE"/>"#).found.isEmpty)
        let limited = try found("", "<C:limit><C:nresults>2</C:nresults></C:limit>")
        #expect(limited.found.count == 2 && limited.statuses[service.book]?.contains("507") == true)
        #expect(try service.find("/", depth: 0, "<D:resourcetype/>").found.count == 1)
    }

    @Test("A sync lists changes that the client can see; what it cannot see changes no tag and no token")
    func sync() throws {
        let service = try CardDAVFixture()
        let first = try service.sync(nil, "<D:getetag/><C:address-data/>")
        #expect(first.found.count == 3)
        let token = try #require(first.token)
        let tags = try service.tags()
        let ada = try service.href("Ada Lovelace")

        // A hidden contact, and a hidden property of a shared one.
        let noter = try service.fixture.app(
            "noter", .everythingAndNotes, by: service.person, keys: ["givenName", "familyName", "note"])
        func update(_ name: String, _ members: String, by app: App) throws {
            let all = try app.fetch("")
            let identifiers = Dictionary(uniqueKeysWithValues: zip(all.names, all.identifiers))
            let saved = try app.save([
                #"{"operation":"update","contact":{"identifier":"\#(identifiers[name] ?? "")",\#(members)}}"#
            ])
            #expect(saved.error == nil, "\(saved.text)")
        }
        try update("Hidden1 Person", #""nickname":"unseen""#, by: service.keeper)
        try update("Ada Lovelace", #""note":"unseen""#, by: noter)
        let unchanged = try service.sync(token)
        #expect(unchanged.found.isEmpty && unchanged.statuses.isEmpty && unchanged.token == token)
        #expect(try service.tags() == tags)

        try update("Ada Lovelace", #""nickname":"Countess""#, by: service.keeper)
        let changed = try service.sync(token, "<D:getetag/><C:address-data/>")
        #expect(changed.found.count == 1 && changed.statuses.isEmpty && changed.token != token)
        #expect(changed.found[ada]?["address-data"]?.contains("NICKNAME:Countess") == true)
        #expect(changed.found[ada]?["getetag"] != tags[ada])
        #expect(try service.sync(token).found.keys == changed.found.keys, "an old token gives the same")
    }

    @Test("A contact that is taken back is gone at the next sync, and its href is a 404")
    func takenBack() throws {
        let service = try CardDAVFixture()
        let token = try #require(try service.sync(nil).token)
        let grace = try service.href("Grace Hopper")
        try service.revoke(contact: "Grace Hopper")
        let changed = try service.sync(token)
        #expect(changed.statuses == [grace: "HTTP/1.1 404 Not Found"] && changed.found.isEmpty)
        #expect(try service.send("GET", grace).status == 404)
        #expect(try service.tags().count == 2)
    }

    @Test("After a revocation the book is empty and read-only, and an old token is refused")
    func revoked() throws {
        let service = try CardDAVFixture()
        let token = try #require(try service.sync(nil).token)
        let ada = try service.href("Ada Lovelace")
        try service.revokeAll()
        let refused = try service.send("REPORT", service.book, CardDAVFixture.syncBody(token))
        #expect(refused.status == 400 && refused.text.contains("valid-sync-token"))
        let empty = try service.sync(nil)
        #expect(empty.found.isEmpty && empty.statuses.isEmpty)
        #expect(try service.sync(empty.token).token == empty.token)
        #expect(try service.find(service.book, depth: 1, "<D:getetag/>").found.isEmpty)
        #expect(
            try service.find(service.book, depth: 0, "<CS:getctag/>").found[service.book]?["getctag"] == empty.token)
        #expect(try service.send("GET", ada).status == 404)
        let multiget = try service.report(
            "<C:addressbook-multiget \(CardDAVFixture.spaces)><D:prop><C:address-data/></D:prop>"
                + "<D:href>\(ada)</D:href></C:addressbook-multiget>")
        #expect(multiget.statuses == [ada: "HTTP/1.1 404 Not Found"])
        #expect(try service.person.wasNotAsked())
    }

    @Test("A token of another connection, of nobody, or of no known form is refused")
    func tokens() throws {
        let service = try CardDAVFixture()
        let other = try service.connect("other", .only(["Ada Lovelace"]))
        let theirs = try service.send(
            "PROPFIND", "/other/contacts/",
            "<D:propfind \(CardDAVFixture.spaces)><D:prop><D:sync-token/></D:prop></D:propfind>",
            ["Depth": "0", "Authorization": CardDAVFixture.authorization("other", other)])
        let token = try #require(try Multistatus(theirs).found["/other/contacts/"]?["sync-token"])
        let own = try #require(try service.sync(nil).token)
        for wrong in [token, own + "0", "urn:contactbroker:sync:", "data:,1", String(repeating: "x", count: 5_000)] {
            let refused = try service.send("REPORT", service.book, CardDAVFixture.syncBody(wrong))
            #expect(refused.status == 400 && refused.text.contains("valid-sync-token"), "\(wrong)")
        }
    }

    @Test("What a password does not open is not there, and a wrong password is a 401 like no password")
    func refusals() throws {
        let service = try CardDAVFixture()
        _ = try service.connect("other", .only(["Ada Lovelace"]))
        for target in [
            "/other/", "/other/contacts/", "/nobody/", "/thunderbird/more/", "/thunderbird/contacts/x/y", "/..", "/?a",
        ] {
            for method in ["PROPFIND", "GET", "REPORT", "PUT", "OPTIONS"] {
                let refused = try service.send(method, target)
                #expect(refused.status == 404 && refused.body.isEmpty, "\(method) \(target)")
            }
        }
        for authorization in [
            "", "Basic", "Bearer x", CardDAVFixture.authorization("thunderbird", "wrong"),
            CardDAVFixture.authorization("nobody", service.password),
        ] {
            let refused = try service.send(
                "PROPFIND", service.book, "", ["Authorization": authorization, "Depth": "0"])
            #expect(refused.status == 401 && refused.body.isEmpty)
            #expect(refused.fields["www-authenticate"] == #"Basic realm="contactbroker", charset="UTF-8""#)
        }
        let infinite = try service.send("PROPFIND", service.book, "", ["Depth": "infinity"])
        #expect(infinite.status == 403 && infinite.text.contains("propfind-finite-depth"))
        let unknown = try service.send("REPORT", service.book, #"<x xmlns="DAV:"/>"#)
        #expect(unknown.status == 403 && unknown.text.contains("supported-report"))
        let patch = try service.send(
            "PROPPATCH", service.book,
            "<D:propertyupdate \(CardDAVFixture.spaces)><D:set><D:prop><D:displayname>x</D:displayname></D:prop></D:set>"
                + "</D:propertyupdate>")
        #expect(patch.status == 207 && patch.text.contains("403 Forbidden"))
        #expect(try service.send("GET", service.book).status == 405)
        #expect(try service.send("MKCOL", service.book).status == 405)
        #expect(try service.send("PUT", service.book).status == 405)
    }
}
