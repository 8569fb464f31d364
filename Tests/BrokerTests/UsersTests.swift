import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerAppCalls
@testable import BrokerBooks
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Several users")
struct UsersTests {
    /// An app that may see everything of its user and has saved one card.
    private func keeper(of uid: UInt32, adding name: String, in fixture: BrokerFixture) throws -> TestApp {
        let app = try fixture.app("keeper", .full, uid: uid)
        try #require(try app.save([.add(given: name)]).error == nil)
        return app
    }

    private func hasFolder(_ uid: UInt32, _ fixture: BrokerFixture) -> Bool {
        access("\(fixture.folder)/users/\(uid)", F_OK) == 0
    }

    private func purge(_ uid: UInt32, _ fixture: BrokerFixture) throws -> Answer {
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        return try root.call("PurgeUser", #"{"uid":\#(uid)}"#)
    }

    @Test("Each user has their own book, decisions and prompts")
    func apart() throws {
        let fixture = try BrokerFixture()
        let ada = try keeper(of: 1_000, adding: "Ada", in: fixture)
        let bob = try keeper(of: 1_001, adding: "Bob", in: fixture)
        #expect(try ada.fetch().names == ["Ada"])
        #expect(try bob.fetch().names == ["Bob"])
        // The same app of another user is another principal.
        let person = try TestPerson(fixture: fixture)
        let mail = try fixture.app("mail", uid: 1_001)
        let call = try mail.begin("RequestAccess")
        #expect(try person.prompts().isEmpty)
        #expect(!call.isOver)
        #expect(try TestPerson(fixture: fixture, uid: 1_001).prompts().count == 1)
    }

    @Test("A save of one user neither computes another user's access again nor checks their watchers")
    func apartInTime() throws {
        let fixture = try BrokerFixture()
        let ada = try keeper(of: 1_000, adding: "Ada", in: fixture)
        let bob = try keeper(of: 1_001, adding: "Bob", in: fixture)
        let watcher = try fixture.app("keeper", uid: 1_001)
        _ = try watcher.replies(1, to: watcher.begin("WatchChanges", more: true))
        #expect(try bob.call("GetAuthorization").parameters["status"]?.string == "full")
        // A mark in the kept access is lost when the access is computed again.
        let mark = CallerAccess(
            effective: .notDetermined, ruling: fixture.grants.ruling(of: bob.session), mayPrompt: false)
        bob.session.known?.effective = mark
        watcher.session.known = nil
        #expect(try ada.save([.add(given: "Alan")]).error == nil)
        fixture.loop.iterate()
        #expect(try bob.call("GetAuthorization").parameters["status"]?.string == "notDetermined")
        #expect(watcher.session.known == nil)
        // A save of the same user does both, and a new policy does it for all users.
        #expect(try keeper(of: 1_001, adding: "Ben", in: fixture).call("GetAuthorization").error == nil)
        fixture.loop.iterate()
        #expect(try bob.call("GetAuthorization").parameters["status"]?.string == "full")
        #expect(watcher.session.known != nil)
        bob.session.known?.effective = mark
        fixture.rule([])
        #expect(try bob.call("GetAuthorization").parameters["status"]?.string == "full")
    }

    @Test("If a user ID is reassigned to another person, every call is refused and the former data stays hidden")
    func reused() throws {
        let fixture = try BrokerFixture()
        _ = try keeper(of: 1_000, adding: "Ada", in: fixture)
        fixture.names[1_000] = "somebody else"
        let app = try fixture.app("keeper")
        for method in ["GetAuthorization", "FetchContacts", "ListGroups", "RequestAccess"] {
            #expect(
                try app.call(method, method == "FetchContacts" ? #"{"keys":["givenName"]}"# : "{}").error
                    == "StoreUnavailable")
        }
        #expect(try app.save([.add(given: "Mine")]).error == "StoreUnavailable")
        let agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        #expect(try agent.call("Serve").error == "PermissionDenied")
        #expect(fixture.journal.lines.contains { $0.contains("user 1000 is now somebody else") })
        // The user ID belongs to the former person again.
        fixture.names[1_000] = "user 1000"
        #expect(try fixture.app("keeper").fetch().names == ["Ada"])
    }

    @Test("The user database, which may be remote, is never queried on the event loop")
    func names() throws {
        let fixture = try BrokerFixture()
        _ = try keeper(of: 1_000, adding: "Ada", in: fixture)
        _ = try keeper(of: 1_001, adding: "Bob", in: fixture)
        try fixture.restart()
        // Open the book before anybody has connected, as the broker does when it starts.
        fixture.broker.openBook(of: 1_000)
        #expect(fixture.loop.run { fixture.books.opened(1_000) != nil })
        #expect(try fixture.app("keeper").fetch().names == ["Ada"])
        // Purge a user whose programs have never connected.
        #expect(try purge(1_001, fixture).error == nil)
        #expect(!hasFolder(1_001, fixture))
        #expect(fixture.names.lookUps.on == 0)
        #expect(fixture.names.lookUps.off > 0)
    }

    @Test("A decision without a contacts database keeps the user ID for its person, across a restart")
    func reusedWithoutBook() throws {
        let fixture = try BrokerFixture()
        _ = try fixture.app("mail", .full)
        #expect(!hasFolder(1_000, fixture))
        try fixture.restart()
        fixture.names[1_000] = "somebody else"
        #expect(try fixture.app("mail").call("GetAuthorization").error == "StoreUnavailable")
    }

    @Test("A purge removes the book, the decisions and the prompts of one user, and frees the user ID")
    func purging() throws {
        let fixture = try BrokerFixture()
        let ada = try keeper(of: 1_000, adding: "Ada", in: fixture)
        let bob = try keeper(of: 1_001, adding: "Bob", in: fixture)
        let identifier = try ada.identifier(of: "Ada")
        let person = try TestPerson(fixture: fixture)
        let asking = try fixture.app("mail")
        let question = try asking.begin("RequestAccess")
        let watching = try ada.begin("WatchChanges", more: true)
        #expect(try person.prompts().count == 1)

        #expect(try purge(1_000, fixture).error == nil)

        #expect(ada.isClosed && asking.isClosed && question.isOver && watching.isOver)
        #expect(!hasFolder(1_000, fixture))
        #expect(fixture.access.principals.allSatisfy { $0.uid != 1_000 })
        #expect(fixture.prompts.openCount(1_000) == 0)
        #expect(try fixture.audit(.purge).count == 1)
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        #expect(try root.call("VerifyAudit").parameters["brokenAt"] == nil)
        #expect(try bob.fetch().names == ["Bob"])

        fixture.names[1_000] = "somebody else"
        let next = try fixture.app("keeper")
        #expect(try next.call("GetAuthorization").parameters["status"]?.string == "notDetermined")
        try fixture.grant(.full, to: next)
        #expect(try next.fetch().names == [])
        #expect(try next.fetch(#""predicate":{"identifiers":["\#(identifier)"]}"#).names == [])
        #expect(try next.save([.add(given: "Mine")]).error == nil)
        try fixture.restart()
        #expect(try fixture.app("keeper").fetch().names == ["Mine"])
    }

    @Test("A save that is read while its user is purged creates no key for an app with a forced level")
    func purgedWhileRead() throws {
        let fixture = try BrokerFixture(readsSavesByStep: true)
        _ = try keeper(of: 1_000, adding: "Ada", in: fixture)
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        rule.forcedLevel = .full
        fixture.rule([rule])
        let app = try fixture.app("mail", strength: .installed)
        let steps = (0..<50).map { #"{"operation":"add","contact":{"givenName":"\#($0)"}}"# }.joined(separator: ",")
        let save = try app.begin("SaveContacts", #"{"changes":[\#(steps)]}"#, turning: false)
        #expect(try purge(1_000, fixture).error == nil)
        #expect(fixture.loop.run { save.isOver })
        #expect(fixture.access.principals.allSatisfy { $0.uid != 1_000 })
        try fixture.restart()
        #expect(fixture.access.principals.allSatisfy { $0.uid != 1_000 })
        #expect(fixture.access.identifiers(for: app.principal, sharesPersistentKey: true) == nil)
    }

    @Test("After a purge, the audit's identifiers for contacts can no longer be matched to contacts")
    func pseudonyms() throws {
        let fixture = try BrokerFixture()
        _ = try keeper(of: 1_000, adding: "Ada", in: fixture)
        let record = try #require(try fixture.records("Ada").first)
        let before = fixture.access.audit.pseudonyms.pseudonym(of: record, uid: 1_000)
        #expect(try purge(1_000, fixture).error == nil)
        try fixture.restart()
        #expect(fixture.access.audit.pseudonyms.pseudonym(of: record, uid: 1_000) != before)
    }

    @Test("The next start completes an interrupted purge, and calls are refused until then")
    func crash() throws {
        let fixture = try BrokerFixture()
        _ = try keeper(of: 1_000, adding: "Ada", in: fixture)
        _ = try keeper(of: 1_001, adding: "Bob", in: fixture)
        // The state after a crash between removing the decisions and removing the book.
        fixture.access.beginPurge(of: 1_000)
        try fixture.access.commit()
        try fixture.restart()
        #expect(try fixture.app("keeper").call("GetAuthorization").error == "StoreUnavailable")
        #expect(fixture.loop.run { fixture.access.owners.openPurges.isEmpty })
        #expect(!hasFolder(1_000, fixture) && hasFolder(1_001, fixture))
        let app = try fixture.app("keeper")
        #expect(try app.call("GetAuthorization").parameters["status"]?.string == "notDetermined")
        try fixture.restart()
        #expect(fixture.access.owners.openPurges.isEmpty)
        #expect(try fixture.app("keeper", uid: 1_001).fetch().names == ["Bob"])
    }

    @Test("If the book cannot be removed, the purge fails and the user's calls are refused")
    func cannotRemove() throws {
        let fixture = try BrokerFixture()
        _ = try keeper(of: 1_000, adding: "Ada", in: fixture)
        // A folder cannot be unlinked, not even by root.
        #expect(mkdir(fixture.book + "/folder", 0o700) == 0)
        #expect(try purge(1_000, fixture).error == "InvalidValue")
        #expect(try fixture.app("keeper").call("GetAuthorization").error == "StoreUnavailable")
        #expect(rmdir(fixture.book + "/folder") == 0)
        #expect(try purge(1_000, fixture).error == nil)
        #expect(try fixture.app("keeper").call("GetAuthorization").error == nil)
    }

    @Test("A purge of a user without data succeeds at once")
    func nothingKept() throws {
        let fixture = try BrokerFixture()
        #expect(try purge(4_242, fixture).error == nil)
        #expect(try purge(4_242, fixture).error == nil)
        #expect(
            try TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin).call("PurgeUser")
                .error
                == "InvalidParameter")
    }

    @Test("A book is closed some time after its user's last program disconnects, and is opened again for the next")
    func idle() throws {
        let fixture = try BrokerFixture()
        let ada = try keeper(of: 1_000, adding: "Ada", in: fixture)
        let other = try fixture.app("mail")
        _ = try other.call("GetAuthorization")
        ada.hangUp()
        fixture.loop.advance(by: .seconds(600))
        #expect(fixture.books.opened(1_000) != nil, "one program is still connected")
        other.hangUp()
        fixture.loop.advance(by: .seconds(299))
        #expect(fixture.books.opened(1_000) != nil)
        fixture.loop.advance(by: .seconds(2))
        #expect(fixture.books.opened(1_000) == nil)
        #expect(try fixture.app("keeper").fetch().names == ["Ada"])
    }

    @Test("A program that connects again in time finds the book open")
    func back() throws {
        let fixture = try BrokerFixture()
        let ada = try keeper(of: 1_000, adding: "Ada", in: fixture)
        ada.hangUp()
        fixture.loop.advance(by: .seconds(200))
        let again = try fixture.app("keeper")
        #expect(try again.fetch().names == ["Ada"])
        fixture.loop.advance(by: .seconds(400))
        #expect(fixture.books.opened(1_000) != nil)
    }
}
