import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerCore

@Suite("Several users")
struct UsersTests {
    /// An app that may see everything of its user and has saved one card.
    private func keeper(of uid: UInt32, adding name: String, in house: BrokerHouse) throws -> TestApp {
        let app = try house.app("keeper", .full, uid: uid)
        try #require(try app.save([.add(given: name)]).error == nil)
        return app
    }

    private func hasFolder(_ uid: UInt32, _ house: BrokerHouse) -> Bool {
        access("\(house.folder)/users/\(uid)", F_OK) == 0
    }

    private func purge(_ uid: UInt32, _ house: BrokerHouse) throws -> Answer {
        let root = TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin)
        return try root.call("PurgeUser", #"{"uid":\#(uid)}"#)
    }

    @Test("Each user has their own book, decisions and prompts")
    func apart() throws {
        let house = try BrokerHouse()
        let ada = try keeper(of: 1_000, adding: "Ada", in: house)
        let bob = try keeper(of: 1_001, adding: "Bob", in: house)
        #expect(try ada.fetch().names == ["Ada"])
        #expect(try bob.fetch().names == ["Bob"])
        // The same app of another user is another principal.
        let person = try TestPerson(house: house)
        let mail = try house.app("mail", uid: 1_001)
        let call = try mail.begin("RequestAccess")
        #expect(try person.prompts().isEmpty)
        #expect(!call.isOver)
        #expect(try TestPerson(house: house, uid: 1_001).prompts().count == 1)
    }

    @Test("If a user ID belongs to another person now, every call is refused and the former data stays hidden")
    func reused() throws {
        let house = try BrokerHouse()
        _ = try keeper(of: 1_000, adding: "Ada", in: house)
        house.names[1_000] = "somebody else"
        let app = try house.app("keeper")
        for method in ["GetAuthorization", "FetchContacts", "ListGroups", "RequestAccess"] {
            #expect(
                try app.call(method, method == "FetchContacts" ? #"{"keys":["givenName"]}"# : "{}").error
                    == "StoreUnavailable")
        }
        #expect(try app.save([.add(given: "Mine")]).error == "StoreUnavailable")
        let agent = TestApp(house: house, caller: house.caller("agent"), door: .agent)
        #expect(try agent.call("Serve").error == "PermissionDenied")
        #expect(house.journal.lines.contains { $0.contains("user 1000 is now somebody else") })
        // The user ID belongs to the former person again.
        house.names[1_000] = "user 1000"
        #expect(try house.app("keeper").fetch().names == ["Ada"])
    }

    @Test("The user database, which may be remote, is never queried on the event loop")
    func names() throws {
        let house = try BrokerHouse()
        _ = try keeper(of: 1_000, adding: "Ada", in: house)
        _ = try keeper(of: 1_001, adding: "Bob", in: house)
        try house.restart()
        // Opened before anybody has connected, as at the start.
        house.broker.openBook(of: 1_000)
        #expect(house.loop.run { house.broker.books.opened(1_000) != nil })
        #expect(try house.app("keeper").fetch().names == ["Ada"])
        // Purged, although nobody of that user has connected.
        #expect(try purge(1_001, house).error == nil)
        #expect(!hasFolder(1_001, house))
        #expect(house.names.lookUps.on == 0)
        #expect(house.names.lookUps.off > 0)
    }

    @Test("A decision without a contacts database keeps the user ID for its person, across a restart")
    func reusedWithoutBook() throws {
        let house = try BrokerHouse()
        _ = try house.app("mail", .full)
        #expect(!hasFolder(1_000, house))
        try house.restart()
        house.names[1_000] = "somebody else"
        #expect(try house.app("mail").call("GetAuthorization").error == "StoreUnavailable")
    }

    @Test("A purge removes the book, the decisions and the prompts of one user, and frees the user ID")
    func purging() throws {
        let house = try BrokerHouse()
        let ada = try keeper(of: 1_000, adding: "Ada", in: house)
        let bob = try keeper(of: 1_001, adding: "Bob", in: house)
        let identifier = try ada.identifier(of: "Ada")
        let person = try TestPerson(house: house)
        let asking = try house.app("mail")
        let question = try asking.begin("RequestAccess")
        let watching = try ada.begin("WatchChanges", more: true)
        #expect(try person.prompts().count == 1)

        #expect(try purge(1_000, house).error == nil)

        #expect(ada.isClosed && asking.isClosed && question.isOver && watching.isOver)
        #expect(!hasFolder(1_000, house))
        #expect(house.broker.access.principals.allSatisfy { $0.uid != 1_000 })
        #expect(house.broker.prompts.openCount(1_000) == 0)
        #expect(try house.audit(.purge).count == 1)
        let root = TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin)
        #expect(try root.call("VerifyAudit").parameters["brokenAt"] == nil)
        #expect(try bob.fetch().names == ["Bob"])

        house.names[1_000] = "somebody else"
        let next = try house.app("keeper")
        #expect(try next.call("GetAuthorization").parameters["status"]?.string == "notDetermined")
        try house.grant(.full, to: next)
        #expect(try next.fetch().names == [])
        #expect(try next.fetch(#""predicate":{"identifiers":["\#(identifier)"]}"#).names == [])
        #expect(try next.save([.add(given: "Mine")]).error == nil)
        try house.restart()
        #expect(try house.app("keeper").fetch().names == ["Mine"])
    }

    @Test("A save that is read while its user is purged creates no key for an app with a forced level")
    func purgedWhileRead() throws {
        let house = try BrokerHouse(readsSavesByStep: true)
        _ = try keeper(of: 1_000, adding: "Ada", in: house)
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        rule.forcedLevel = .full
        house.rule([rule])
        let app = try house.app("mail", strength: .installed)
        let steps = (0..<50).map { #"{"operation":"add","contact":{"givenName":"\#($0)"}}"# }.joined(separator: ",")
        let save = try app.begin("SaveContacts", #"{"changes":[\#(steps)]}"#, turning: false)
        #expect(try purge(1_000, house).error == nil)
        #expect(house.loop.run { save.isOver })
        #expect(house.broker.access.principals.allSatisfy { $0.uid != 1_000 })
        try house.restart()
        #expect(house.broker.access.principals.allSatisfy { $0.uid != 1_000 })
        #expect(house.broker.access.identifiers(for: app.principal, sharesStandingKey: true) == nil)
    }

    @Test("After a purge, the audit's identifiers for contacts can no longer be matched to contacts")
    func pseudonyms() throws {
        let house = try BrokerHouse()
        _ = try keeper(of: 1_000, adding: "Ada", in: house)
        let record = try #require(try house.records("Ada").first)
        let before = house.broker.access.pseudonym(of: record, uid: 1_000)
        #expect(try purge(1_000, house).error == nil)
        try house.restart()
        #expect(house.broker.access.pseudonym(of: record, uid: 1_000) != before)
    }

    @Test("The next start completes an interrupted purge, and calls are refused until then")
    func crash() throws {
        let house = try BrokerHouse()
        _ = try keeper(of: 1_000, adding: "Ada", in: house)
        _ = try keeper(of: 1_001, adding: "Bob", in: house)
        // The state after a crash between removing the decisions and removing the book.
        house.broker.access.beginPurge(of: 1_000)
        try house.broker.access.commit()
        try house.restart()
        #expect(try house.app("keeper").call("GetAuthorization").error == "StoreUnavailable")
        #expect(house.loop.run { house.broker.access.openPurges.isEmpty })
        #expect(!hasFolder(1_000, house) && hasFolder(1_001, house))
        let app = try house.app("keeper")
        #expect(try app.call("GetAuthorization").parameters["status"]?.string == "notDetermined")
        try house.restart()
        #expect(house.broker.access.openPurges.isEmpty)
        #expect(try house.app("keeper", uid: 1_001).fetch().names == ["Bob"])
    }

    @Test("If the book cannot be removed, the purge fails and the user's calls are refused")
    func cannotRemove() throws {
        let house = try BrokerHouse()
        _ = try keeper(of: 1_000, adding: "Ada", in: house)
        // A folder cannot be unlinked, not even by root.
        #expect(mkdir(house.book + "/folder", 0o700) == 0)
        #expect(try purge(1_000, house).error == "InvalidValue")
        #expect(try house.app("keeper").call("GetAuthorization").error == "StoreUnavailable")
        #expect(rmdir(house.book + "/folder") == 0)
        #expect(try purge(1_000, house).error == nil)
        #expect(try house.app("keeper").call("GetAuthorization").error == nil)
    }

    @Test("A purge of a user without data succeeds at once")
    func nothingKept() throws {
        let house = try BrokerHouse()
        #expect(try purge(4_242, house).error == nil)
        #expect(try purge(4_242, house).error == nil)
        #expect(
            try TestApp(house: house, caller: house.caller("root", uid: 0), door: .admin).call("PurgeUser").error
                == "InvalidParameter")
    }

    @Test("A book is closed some time after its user's last program disconnects, and is opened again for the next")
    func idle() throws {
        let house = try BrokerHouse()
        let ada = try keeper(of: 1_000, adding: "Ada", in: house)
        let other = try house.app("mail")
        _ = try other.call("GetAuthorization")
        ada.hangUp()
        house.loop.advance(by: .seconds(600))
        #expect(house.broker.books.opened(1_000) != nil, "one program is still connected")
        other.hangUp()
        house.loop.advance(by: .seconds(299))
        #expect(house.broker.books.opened(1_000) != nil)
        house.loop.advance(by: .seconds(2))
        #expect(house.broker.books.opened(1_000) == nil)
        #expect(try house.app("keeper").fetch().names == ["Ada"])
    }

    @Test("A program that connects again in time finds the book open")
    func back() throws {
        let house = try BrokerHouse()
        let ada = try keeper(of: 1_000, adding: "Ada", in: house)
        ada.hangUp()
        house.loop.advance(by: .seconds(200))
        let again = try house.app("keeper")
        #expect(try again.fetch().names == ["Ada"])
        house.loop.advance(by: .seconds(400))
        #expect(house.broker.books.opened(1_000) != nil)
    }
}
