import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore

@Suite("Who may see a contact, and who saw it")
struct ContactLookUpTests {
    private let fixture: BrokerFixture
    private let administrator: TestApp

    init() throws {
        fixture = try BrokerFixture()
        let saga = Change.add(
            given: "Saga",
            extra: #","familyName":"Noren","emailAddresses":[{"value":"saga@example.org"}],"#
                + #""phoneNumbers":[{"value":"+46 8 123 45 67"}]"#)
        let others: [Change] = [.add(given: "Sagan"), .add(given: "Bo")]
        let reply = try fixture.app("keeper", .full).save([saga] + others)
        try #require(reply.error == nil)
        administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    private func who(_ contact: String, _ more: String = "", by caller: TestApp? = nil) throws -> Answer {
        try (caller ?? administrator).call("FindContactAccess", #"{"contact":"\#(contact)"\#(more)}"#)
    }

    private func apps(_ answer: Answer, _ list: String) -> [String] {
        answer.parameters[list]?.elements?.compactMap { $0["app"]?.string } ?? []
    }

    @Test(
        "A contact is found by its name, e-mail address, phone number or an app's identifier",
        arguments: ["Saga Noren", "noren saga", "SAGA@example.org", "08-1234567", "+4681234567", "Noren"])
    func finds(text: String) throws {
        #expect(try who(text).parameters["matches"]?.integer == 1)
    }

    @Test("An identifier finds its contact, also another app's; several or no matches disclose nothing")
    func matches() throws {
        let mail = try fixture.app("mail", .full)
        #expect(try who(mail.identifier(of: "Bo")).parameters["matches"]?.integer == 1)
        for (text, count) in [("Saga", 2), ("nobody", 0), ("0123456789abcdef0123456789abcdef", 0)] {
            let answer = try who(text)
            #expect(answer.parameters["matches"]?.integer == Int64(count))
            #expect(apps(answer, "now").isEmpty && apps(answer, "seen").isEmpty)
        }
        #expect(try who(" ").error?.hasSuffix("InvalidParameter") == true)
        #expect(try who(String(repeating: "a", count: 257)).error == "LimitExceeded")
    }

    @Test(
        "A limited app sees what it was granted, saw what it fetched, and a revocation ends the one and not the other")
    func limited() throws {
        let mail = try fixture.app("mail")
        try fixture.settle(.limited(to: fixture.records("Saga")), for: mail)
        #expect(try apps(who("Saga Noren"), "now") == ["keeper", "mail"] && apps(who("Bo"), "now") == ["keeper"])
        #expect(try apps(who("Saga Noren"), "seen").isEmpty)
        let identifier = try mail.identifier(of: "Saga")
        #expect(try apps(who("Saga Noren"), "seen") == ["mail"] && apps(who("Bo"), "seen").isEmpty)
        _ = try mail.call(
            "FetchContacts", #"{"keys":["emailAddresses"],"predicate":{"identifiers":["\#(identifier)"]}}"#)
        let seen = try #require(try who("Saga Noren").parameters["seen"]?.elements?.first { _ in true })
        #expect(seen["keys"]?.elements?.compactMap(\.string).sorted() == ["emailAddresses", "givenName"])
        #expect(seen["times"]?.integer == 2 && seen["inLists"]?.integer == 1)
        _ = try administrator.call("SetGrant", #"{"app":"mail","status":"denied"}"#)
        #expect(try apps(who("Saga Noren"), "now") == ["keeper"] && apps(who("Saga Noren"), "seen") == ["mail"])
    }

    @Test("An answer has no name, pseudonym, identifier, sequence or hash")
    func discloses() throws {
        let mail = try fixture.app("mail")
        try fixture.settle(.limited(to: fixture.records("Saga")), for: mail)
        let identifier = try mail.identifier(of: "Saga")
        let record = try #require(try fixture.records("Saga").first)
        let answer = try who("Saga Noren")
        let text = String(decoding: answer.parameters.text, as: UTF8.self)
        let hidden = [
            "Saga", "Noren", "example.org", identifier,
            fixture.access.audit.pseudonyms.pseudonym(of: record, uid: 1_000),
            "sequence",
            "hash", String(record.rawValue),
        ]
        for each in hidden { #expect(!text.contains(each), "\(each) is in \(text)") }
    }

    @Test("Each look-up is recorded, and its record does not name the contact")
    func recorded() throws {
        _ = try who("Saga Noren")
        var filter = AuditFilter(uid: 1_000)
        filter.event = .lookUp
        let records = try fixture.access.audit.reader.records(matching: filter, after: nil, limit: 10)
        #expect(records.count == 1 && records[0].contacts == nil && records[0].detail == nil)
    }

    @Test("Root looks up others' contacts only if the settings permit it, by whole values, and 20 times an hour")
    func foreign() throws {
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        let user = #","uid":1000"#
        #expect(try who("Saga Noren", user, by: root).error?.hasSuffix("InvalidValue") == true)
        let file = try BrokerFixture(mayLookUpContacts: true)
        try #require(try file.app("keeper", .full).save([.add(given: "Saga"), .add(given: "Sagan")]).error == nil)
        let there = TestApp(fixture: file, caller: file.caller("contactctl", uid: 0), interface: .admin)
        #expect(try who("Saga", user, by: there).parameters["matches"]?.integer == 1)
        for _ in 1..<ParameterLimits.lookUps {
            #expect(try who("Sag", user, by: there).parameters["matches"]?.integer == 0)
        }
        #expect(try who("Saga", user, by: there).error?.hasSuffix("InvalidValue") == true)
        #expect(try file.audit(.lookUp).first == "by root")
    }

    /// Random grants, revocations and reads. Afterwards every contact's sightings are compared with what the apps
    /// received, and its present access with what they receive then.
    @Test("The answers agree with what recording apps received", arguments: [1, 2, 3, 4])
    func random(seed: UInt64) throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        let names = (0..<12).map { "N\($0)x" }
        try #require(try keeper.save(names.map { .add(given: $0) }).error == nil)
        let apps = try (0..<4).map { try fixture.app("app\($0)") }
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let run = LookUpRun(fixture: fixture, apps: apps, names: names, ctl: ctl, seed: seed)
        for _ in 0..<900 { try run.step() }
        try run.compare()
    }
}

/// The state of one random run.
private final class LookUpRun {
    private let fixture: BrokerFixture
    private let apps: [TestApp]
    private let names: [String]
    private let ctl: TestApp
    private var numbers: SeededNumbers
    /// The apps that received each contact by name: in a reply that the audit names it in, or in a list.
    private var received: [String: Set<String>] = [:]

    init(fixture: BrokerFixture, apps: [TestApp], names: [String], ctl: TestApp, seed: UInt64) {
        self.fixture = fixture
        self.apps = apps
        self.names = names
        self.ctl = ctl
        numbers = SeededNumbers(seed: seed)
    }

    private func pick<Item>(_ items: [Item]) -> Item { items[Int.random(in: 0..<items.count, using: &numbers)] }

    func step() throws {
        let app = pick(apps)
        switch Int.random(in: 0..<12, using: &numbers) {
        case 10: try change("revoke", app)
        case 11: try change("narrow", app)
        case 0: try settle(.limited(to: records(Int.random(in: 0...4, using: &numbers))), app)
        case 1: if Int.random(in: 0..<3, using: &numbers) == 0 { try settle(.full, app) }
        case 2: _ = try ctl.call("SetGrant", #"{"app":"\#(app.caller.app)","status":"denied"}"#)
        case 3: _ = try ctl.call("ResetGrant", #"{"app":"\#(app.caller.app)"}"#)
        case 4...6: try note(fetch(#""sortOrder":"givenName""#, by: app), app)
        default: try note(fetch(#""predicate":{"name":"\#(pick(names))"}"#, by: app), app)
        }
    }

    private func change(_ change: String, _ app: TestApp) throws {
        let contacts = (0..<Int.random(in: 1...6, using: &numbers)).map { _ in "\"\(pick(names))\"" }
        _ = try ctl.call(
            "ChangeGrantedContacts",
            #"{"app":"\#(app.caller.app)","change":"\#(change)","contacts":[\#(contacts.joined(separator: ","))]}"#)
    }

    /// An app without a grant would wait for the person's answer.
    private func fetch(_ parameters: String, by app: TestApp) throws -> [JSONValue] {
        guard fixture.access.grant(of: app.principal) != nil else { return [] }
        return try app.fetch(parameters).contacts
    }

    private func records(_ count: Int) throws -> Set<RecordNumber> {
        try (0..<count).reduce(into: []) { set, _ in set.formUnion(try fixture.records(pick(names))) }
    }

    private func settle(_ access: Access, _ app: TestApp) throws {
        // The broker records what a narrower grant takes away as the agent does: a revocation, then the grant.
        if fixture.access.grant(of: app.principal) != nil {
            _ = try ctl.call("ResetGrant", #"{"app":"\#(app.caller.app)"}"#)
        }
        try fixture.settle(access, for: app)
    }

    private func note(_ contacts: [JSONValue], _ app: TestApp) throws {
        for contact in contacts {
            if let name = contact["givenName"]?.string { received[name, default: []].insert(app.caller.app) }
        }
    }

    func compare() throws {
        for name in names {
            let answer = try ctl.call("FindContactAccess", #"{"contact":"\#(name)"}"#)
            #expect(answer.parameters["matches"]?.integer == 1)
            let seen = answer.parameters["seen"]?.elements?.map { $0["app"]?.string ?? "" } ?? []
            #expect(Set(seen) == received[name] ?? [], "\(name)")
            let audit = try ctl.call("QueryAudit", #"{"named":"\#(name)","event":"disclosure","limit":100000}"#)
            let records = audit.parameters["records"]?.elements.map(Array.init) ?? []
            #expect(Set(records.map { $0["app"]?.string ?? "" }) == Set(seen), "\(name)")
            let times = answer.parameters["seen"]?.elements?.compactMap { $0["times"]?.integer } ?? []
            #expect(records.reduce(0) { $0 + ($1["repeats"]?.integer ?? 1) } == times.reduce(0, +), "\(name)")
            let now = Set(answer.parameters["now"]?.elements?.compactMap { $0["app"]?.string } ?? [])
            for app in apps {
                let found = try fetch(#""predicate":{"name":"\#(name)"}"#, by: app)
                let sees = found.contains { $0["givenName"]?.string == name }
                #expect(now.contains(app.caller.app) == sees, "\(name), \(app.caller.app)")
            }
        }
    }
}
