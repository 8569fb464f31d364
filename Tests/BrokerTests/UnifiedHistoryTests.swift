import BrokerAccessControl
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls

@Suite("The change history of linked contacts")
struct UnifiedHistoryTests {
    /// Each event in a few words. A unified contact is called by the name of its first card.
    private static func events(
        _ app: TestApp, since token: String?, _ more: String = "", names: [String: String] = [:]
    ) throws -> [String] {
        let token = token.map { #","token":"\#($0)""# } ?? ""
        let answer = try app.call("FetchHistory", #"{"keys":["givenName"]\#(token)\#(more)}"#)
        try #require(answer.error == nil, "\(answer.text)")
        return (answer.parameters["events"]?.elements.map(Array.init) ?? []).map { event in
            let identifier = event["identifier"]?.string ?? ""
            let known = event["contact"]?["givenName"]?.string ?? ""
            return "\(event["kind"]?.string ?? "") \(names[identifier] ?? known)".trimmed
        }
    }

    private static func names(_ app: TestApp) throws -> [String: String] {
        var names: [String: String] = [:]
        for contact in try app.fetch(#""unify":false"#).contacts {
            names[contact["identifier"]?.string ?? ""] = contact["givenName"]?.string
        }
        for contact in try app.fetch().contacts where names[contact["identifier"]?.string ?? ""] == nil {
            names[contact["identifier"]?.string ?? ""] = "unified " + (contact["givenName"]?.string ?? "")
        }
        return names
    }

    @Test("Linking reports the cards as deleted and their unified contact as added, and unlinking does the reverse")
    func linking() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob")))
        let start = try mail.fetch().token
        try LinkTests.link(keeper, "Ada", "Bob", "Cid")
        let names = try Self.names(mail)
        #expect(
            try Self.events(mail, since: start, names: names)
                == ["deleteContact Ada", "deleteContact Bob", "addContact unified Ada"])
        // An app that reads each card alone gets no event.
        #expect(try Self.events(mail, since: start, #","unify":false"#) == [])
        #expect(try Self.events(mail, since: nil, names: names) == ["dropEverything", "addContact unified Ada"])

        let linked = try mail.fetch().token
        #expect(linked != start)
        _ = try keeper.save([.update(keeper.identifier(of: "Bob"), #""nickname":"B""#)])
        #expect(try Self.events(mail, since: linked, names: names) == ["updateContact unified Ada"])
        #expect(try Self.events(mail, since: linked, #","unify":false"#) == ["updateContact Bob"])
        let ada = try keeper.identifier(of: "Ada")
        let edited = try mail.fetch().token
        _ = try keeper.save([LinkTests.step("unlink", ada, ada)])
        #expect(
            try Self.events(mail, since: edited, names: names)
                == ["deleteContact unified Ada", "addContact Ada", "addContact Bob"])
        // The unified contact existed only in between and is reported as deleted. An app that has listed it gets the
        // cards instead.
        #expect(
            try Self.events(mail, since: start, names: names)
                == ["deleteContact unified Ada", "updateContact Ada", "updateContact Bob"])
    }

    @Test("An app that sees one of two linked cards gets no event and keeps its token")
    func hidden() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Cid")))
        let start = try #require(try mail.fetch().token)
        let watch = try mail.begin("WatchChanges", more: true)
        try LinkTests.link(keeper, "Ada", "Bob")
        fixture.loop.advance(by: .seconds(1))
        #expect(try mail.fetch().token == start)
        #expect(try mail.replies(to: watch).count == 1)
        #expect(try Self.events(mail, since: start) == [])
        // Through the hidden card, two visible cards become linked.
        try LinkTests.link(keeper, "Bob", "Cid")
        fixture.loop.advance(by: .seconds(1))
        #expect(try mail.fetch().token != start)
        #expect(try mail.replies(to: watch).count == 2)
        #expect(try Self.events(mail, since: start, names: Self.names(mail)).last == "addContact unified Ada")
        // The token is the same after a restart, when the position is looked up again.
        let token = try mail.fetch().token
        try fixture.restart()
        #expect(try fixture.app("mail").fetch().token == token)
    }

    @Test("A card that is revoked or deleted leaves its unified contact")
    func leaving() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob", "Cid")))
        try LinkTests.link(keeper, "Ada", "Bob", "Cid")
        let names = try Self.names(mail)
        let start = try mail.fetch().token
        _ = try keeper.save([.delete(keeper.identifier(of: "Cid"))])
        #expect(try Self.events(mail, since: start, names: names) == ["updateContact unified Ada"])
        let two = try mail.fetch().token
        try fixture.grant(.limited(to: fixture.records("Bob")), to: mail)
        #expect(try Self.events(mail, since: two, names: names) == ["revoked unified Ada", "addContact Bob"])
        let one = try mail.fetch().token
        try fixture.grant(.limited(to: fixture.records("Ada", "Bob")), to: mail)
        #expect(try Self.events(mail, since: one, names: names) == ["deleteContact Bob", "granted unified Ada"])
        // A change of a link that the app no longer sees does not change what it knew.
        let last = try mail.fetch().token
        let ada = try keeper.identifier(of: "Ada")
        try fixture.grant(.limited(to: []), to: mail)
        #expect(try keeper.save([LinkTests.step("unlink", ada, ada)]).error == nil)
        #expect(try Self.events(mail, since: last, names: names) == ["revoked unified Ada"])
    }

    @Test("An app may leave out the events of its own links")
    func ownAuthor() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let start = try keeper.fetch().token
        let (ada, bob) = (try keeper.identifier(of: "Ada"), try keeper.identifier(of: "Bob"))
        #expect(try keeper.save([LinkTests.step("link", ada, bob)], author: "sync").error == nil)
        let names = try Self.names(keeper)
        #expect(try Self.events(keeper, since: start, #","excludedAuthors":["sync"]"#, names: names) == [])
        #expect(try Self.events(keeper, since: start, names: names).count == 3)
    }
}

extension String {
    fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
