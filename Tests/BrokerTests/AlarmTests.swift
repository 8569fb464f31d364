import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore
@testable import BrokerCore

@Suite("Alarms")
struct AlarmTests {
    private let fixture: BrokerFixture
    private static let contacts = 60

    init() throws {
        fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        let reply = try keeper.save((0..<Self.contacts).map { .add(given: "Name\($0)x") })
        try #require(reply.error == nil)
    }

    private func alarms() throws -> [String] { try fixture.audit(.alarm) }

    /// Waits for the alarms: the broker counts contacts off the loop.
    private func alarms(awaiting count: Int) throws -> [String] {
        _ = fixture.loop.run { ((try? alarms()) ?? []).count >= count }
        return try alarms()
    }

    /// A day later, including the work off the loop.
    private func passDay() throws {
        fixture.loop.advance(by: .seconds(86_400))
        settle()
    }

    private func settle() {
        // The alarms of an earlier run are read a second after the start.
        fixture.loop.advance(by: .seconds(2))
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        // The reads of the audit are in one queue, so these follow those of the alarms.
        for _ in 0..<4 { _ = try? root.call("VerifyAudit") }
    }

    @Test("More than 20 contacts changed or deleted within an hour raise an alarm, and each save says how many")
    func changes() throws {
        let mail = try fixture.app("mail", .full, strength: .sandboxed)
        let names = try mail.fetch(#""sortOrder":"givenName""#).contacts.compactMap { $0["identifier"]?.string }
        // It has read everything, which is another alarm.
        func changeAlarms() throws -> [String] { try alarms().filter { $0 == "changesMuch" } }
        func update(_ place: Int) -> Change { .update(names[place], #""jobTitle":"T""#) }
        #expect(try mail.save((0..<12).map(update) + [.add(given: "Mine")]).error == nil)
        #expect(try fixture.audit(.save).last == "1 added, 12 changed")
        #expect(try mail.save((4..<14).map(update) + (14..<20).map { .delete(names[$0]) }).error == nil)
        #expect(try fixture.audit(.save).last == "10 changed, 6 deleted")
        #expect(try changeAlarms().isEmpty)
        // An hour later the count begins again.
        fixture.loop.advance(by: .seconds(3_601))
        #expect(try mail.save((20..<40).map(update)).error == nil)
        #expect(try changeAlarms().isEmpty)
        #expect(try mail.save([.delete(names[40])]).error == nil)
        #expect(try changeAlarms() == ["changesMuch"])
        // Adding contacts is none, and neither is repeating what is there.
        let chat = try fixture.app("chat", .full, strength: .sandboxed)
        #expect(try chat.save((0..<30).map { .add(given: "C\($0)") }).error == nil)
        #expect(try changeAlarms() == ["changesMuch"])
    }

    @Test("An app that gets almost all contacts within an hour raises one alarm in 30 days")
    func everything() throws {
        let mail = try fixture.app("mail", .full)
        _ = try mail.fetch(#""sortOrder":"givenName","limit":40"#)
        #expect(try alarms().isEmpty)
        _ = try mail.fetch(#""sortOrder":"givenName""#)
        #expect(try alarms(awaiting: 1) == ["readsEverything"])
        let record = try fixture.access.audit.reader.records(
            matching: AuditFilter(event: .alarm), after: nil, limit: 1)[0]
        #expect(record.app == "mail" && record.count == Self.contacts && record.contacts == nil)
        #expect(fixture.journal.lines.contains { $0.hasPrefix("alarm: readsEverything: mail") })
        for days in [1, 20, 10] {
            fixture.loop.advance(by: .seconds(Int64(days) * 86_400))
            _ = try mail.fetch(#""sortOrder":"familyName""#)
        }
        #expect(try alarms(awaiting: 2) == ["readsEverything", "readsEverything"])
    }

    @Test("An app that reads the contacts that it added itself raises no alarm")
    func ownContacts() throws {
        let keeper = try fixture.app("keeper")
        #expect(try keeper.fetch().names.count == Self.contacts)
        // The counting of this one comes after that of the keeper.
        let mail = try fixture.app("mail", .full)
        _ = try mail.fetch()
        #expect(try alarms(awaiting: 1) == ["readsEverything"])
        let apps = try fixture.access.audit.reader.records(
            matching: AuditFilter(event: .alarm), after: nil, limit: 9
        ).map(\.app)
        #expect(apps == ["mail"])
    }

    @Test("Few contacts, the same ones again, or many over several hours raise no alarm")
    func ordinary() throws {
        let mail = try fixture.app("mail", .full)
        for _ in 0..<40 { _ = try mail.fetch(#""sortOrder":"givenName","limit":30"#) }
        for start in 0..<6 {
            fixture.loop.advance(by: .seconds(3_600))
            _ = try mail.fetch(#""predicate":{"name":"Name\#(start)"}"#)
        }
        let some = try fixture.app("some", .limited(to: fixture.records("Name1x")))
        _ = try some.fetch()
        #expect(try alarms().isEmpty)
    }

    @Test("A restart does not repeat an alarm")
    func restart() throws {
        _ = try fixture.app("mail", .full).fetch()
        _ = try alarms(awaiting: 1)
        try fixture.restart()
        settle()
        _ = try fixture.app("mail", .full).fetch()
        #expect(try alarms() == ["readsEverything"])
    }

    @Test("A changed file of an app that has access, and an app with a weaker identity, raise one alarm a day")
    func identities() throws {
        func caller(_ app: String, _ strength: IdentityStrength) -> TestApp {
            TestApp(fixture: fixture, caller: fixture.caller(app, strength: strength), interface: .contacts)
        }
        let former = caller("/usr/bin/ink sha256:00", .unverified)
        try fixture.grant(.limited(to: []), to: former)
        let mail = caller("org.example.Mail", .sandboxed)
        try fixture.grant(.full, to: mail)
        for app in [
            former, mail, caller("/usr/bin/inks sha256:00", .unverified), caller("org.example.Other", .claimed),
        ] {
            _ = try app.call("GetAuthorization")
        }
        #expect(try alarms().isEmpty)
        for hash in ["01", "02"] { _ = try caller("/usr/bin/ink sha256:\(hash)", .unverified).call("GetAuthorization") }
        _ = try caller("org.example.Mail", .claimed).call("GetAuthorization")
        _ = try caller("org.example.Mail", .claimed).call("GetAuthorization")
        #expect(try alarms() == ["executableChanged", "weakerIdentity, now claimed"])
        try passDay()
        _ = try caller("/usr/bin/ink sha256:03", .unverified).call("GetAuthorization")
        #expect(try alarms().count == 3)
    }

    @Test("Access that is not used for 90 days raises an alarm, and use postpones it")
    func unused() throws {
        let mail = try fixture.app("mail", .limited(to: fixture.records("Name1x")))
        for _ in 0..<89 { try passDay() }
        #expect(try alarms().filter { $0.hasPrefix("unusedGrant") }.isEmpty)
        _ = try mail.fetch()
        for _ in 0..<3 { try passDay() }
        // The keeper was last used at the beginning.
        #expect(try alarms().map { $0.prefix(11) } == ["unusedGrant"])
        let record = try fixture.access.audit.reader.records(
            matching: AuditFilter(event: .alarm), after: nil, limit: 1)[0]
        #expect(record.app == "keeper")
    }

    @Test("A broken chain raises an alarm")
    func broken() throws {
        let file = try Database.open(fixture.folder + "/access.sqlite", .readWrite)
        try file.execute("DROP TRIGGER auditKeepsWords")
        try file.execute("UPDATE audit SET time = time + 1 WHERE sequence = 2")
        try passDay()
        #expect(try alarms().contains { $0.hasPrefix("auditBroken, at record ") })
    }
}
