import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerBooks
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Declared folders")
struct DeclaredTests {
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let path = "/home/ada/app"
    private static let week: Int64 = 7 * 86_400

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private func declare(_ path: String? = nil, by person: TestPerson? = nil, checkOnly: Bool = false) throws -> Answer
    {
        let person = person ?? self.person
        let call = try person.agent.begin(
            "DeclareFolder",
            #"{"agent":"\#(person.token)","path":"\#(path ?? self.path)","checkOnly":\#(checkOnly)}"#)
        return try person.agent.replies(1, to: call)[0]
    }

    private func end(_ path: String? = nil) throws -> Answer {
        let call = try person.agent.begin("EndFolder", #"{"agent":"\#(person.token)","path":"\#(path ?? self.path)"}"#)
        return try person.agent.replies(1, to: call)[0]
    }

    private func listed() throws -> [String] {
        let reply = try person.agent.call("ListFolders", #"{"agent":"\#(person.token)"}"#)
        return reply.parameters["folders"]?.elements?.compactMap { $0["path"]?.string } ?? []
    }

    /// An app that the broker identified by the folder.
    private func hello(_ access: Access? = nil) throws -> TestApp {
        try fixture.app(path + "//hello", access, strength: .declared)
    }

    private var now: Int64 { fixture.surroundings.seconds }

    @Test("A declaration lasts seven days; what was shared ends with it, and its connections are closed, on record")
    func lasts() throws {
        let checked = try declare(checkOnly: true)
        #expect(checked.parameters["folder"]?["path"]?.string == path)
        #expect(try listed() == [])
        #expect(try declare().error == nil)
        #expect(try listed() == [path])
        #expect(fixture.broker.declaredFolders(of: 1_000).map(\.ends) == [now + Self.week])
        let app = try hello()
        let call = try app.begin("RequestAccess")
        let prompt = try #require(try person.prompts().first)
        let told = try #require(try person.told().last)
        #expect(told["caller"]?["strength"]?.string == "declared")
        #expect(told["caller"]?["folder"]?.string == path)
        #expect(told["caller"]?["folderUntil"]?.string == Timestamp.text(seconds: now + Self.week))
        #expect(told["endsAt"]?.string == Timestamp.text(seconds: now + Self.week))
        let row = try #require(try person.rows(prompt).first)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "limited")
        #expect(fixture.access.grant(of: app.principal)?.lifetime == .untilTime(now + Self.week))
        // The grant also ends with the declaration if its own end is later.
        let other = try fixture.app(path + "//other", .limited(to: fixture.records("Grace")), strength: .declared)
        #expect(try other.fetch().names == ["Grace"])
        fixture.loop.advance(by: .seconds(Self.week - 60))
        #expect(try app.fetch().names == ["Ada"])
        fixture.loop.advance(by: .seconds(61))
        #expect(app.isClosed && other.isClosed)
        #expect(fixture.access.principals.filter { $0.strength == .declared } == [])
        #expect(try listed() == [])
        #expect(
            try fixture.audit(.declaration) == [
                "declared for 7 days, by agent (claimed), without a password", "expired",
            ])
        #expect(try fixture.audit(.revocation).contains("notDetermined folder no longer declared"))
    }

    @Test("The person ends a declaration; a call under it is refused, and a denial stays")
    func ends() throws {
        _ = try declare()
        let (app, denied) = (
            try hello(.limited(to: fixture.records("Ada"))),
            try fixture.app(path + "//spy", .denied, strength: .declared)
        )
        #expect(try app.fetch().names == ["Ada"])
        #expect(try end().error == nil)
        #expect(app.isClosed)
        #expect(fixture.access.grant(of: app.principal) == nil)
        #expect(fixture.access.grant(of: denied.principal)?.access == .denied)
        #expect(try end().error == "InvalidFolder")
        // It was judged before the end, and calls after it.
        let late = try hello()
        _ = try late.begin("RequestAccess")
        #expect(late.isClosed)
        #expect(try fixture.audit(.refusal) == ["folder no longer declared"])
        #expect(try person.prompts().isEmpty)
        // The access would be nothing, even if the connection were open.
        let known = fixture.grants.effectiveAccess(of: late.session)
        #expect(known.effective == .restricted && !known.mayPrompt)
    }

    @Test("A declaration survives a restart, and ends while no broker runs")
    func restart() throws {
        _ = try declare()
        _ = try hello(.limited(to: fixture.records("Ada")))
        try fixture.restart()
        #expect(fixture.broker.declaredFolders(of: 1_000).map(\.path) == [path])
        #expect(try hello().fetch().names == ["Ada"])
        fixture.loop.advance(by: .seconds(Self.week + 1))
        try fixture.restart()
        #expect(fixture.broker.declaredFolders(of: 1_000) == [])
        let app = try hello()
        _ = try app.begin("GetAuthorization")
        #expect(app.isClosed)
    }

    @Test("Another folder at the same path gets nothing that was shared with the former one")
    func replaced() throws {
        _ = try declare()
        let app = try hello(.limited(to: fixture.records("Ada")))
        #expect(try app.fetch().names == ["Ada"])
        fixture.folders.replace()
        _ = try declare()
        #expect(app.isClosed)
        #expect(fixture.access.grant(of: app.principal) == nil)
        #expect(try listed() == [path])
        // Declared again, a folder that is the same keeps its grants.
        let again = try hello(.limited(to: fixture.records("Ada")))
        fixture.loop.advance(by: .seconds(86_400))
        _ = try declare()
        #expect(try again.fetch().names == ["Ada"])
        #expect(fixture.broker.declaredFolders(of: 1_000).map(\.ends) == [now + Self.week])
    }

    @Test("Full access is refused wherever a level is set")
    func neverFull() throws {
        _ = try declare()
        let app = try hello()
        let call = try app.begin("RequestAccess")
        let prompt = try #require(try person.prompts().first)
        #expect(try person.told().last?["maximumLevel"]?.string == "limited")
        // The first prompt.
        #expect(try person.answer(prompt, #""level":"full""#).error == "InvalidAnswer")
        try person.answer(prompt, #""level":"denied""#)
        _ = try app.replies(1, to: call)
        // The review.
        #expect(try person.manage(app, answering: #""level":"full""#) == "InvalidAnswer")
        let some = try fixture.app(path + "//some", .limited(to: fixture.records("Ada")), strength: .declared)
        #expect(try person.manage(some, answering: #""level":"full""#) == "InvalidAnswer")
        // The administrator.
        let administrator = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let set = try administrator.call(
            "SetGrant", #"{"app":"\#(path)//some","strength":"declared","status":"full"}"#)
        #expect(set.error == "InvalidValue" && set.text.contains("never gets full access"))
        // Any other code of the broker.
        var isSettled: Bool?
        fixture.grants.settle(
            Grant(access: .full, revision: 9, decidedBy: .person, decidedAt: now), for: app.principal,
            displayName: "hello", sharesPersistentKey: true
        ) { isSettled = $0 }
        #expect(isSettled == false)
        // A policy, and a grant that is there nevertheless.
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.declared]
        rule.forcedLevel = .full
        fixture.rule([rule])
        try fixture.grant(.full, to: some)
        #expect(try some.fetch().names == [])
        #expect(try some.call("GetAuthorization").parameters["status"]?.string == "limited")
    }

    @Test("What a declared app gets counts toward the 25 contacts that all weakly identified apps of a user share")
    func bound() throws {
        let authority = TestAuthority([.answer: .granted])
        let fixture = try BrokerFixture(authority: authority)
        _ = try fixture.keeper().save((0..<40).map { .add(given: "N\(10 + $0)") })
        let person = try TestPerson(fixture: fixture)
        #expect(try declare(by: person).error == nil)
        func share(_ places: Range<Int>, with app: TestApp) throws -> Call {
            _ = try app.begin("RequestAccess")
            let prompt = try #require(try person.prompts().first)
            let rows = try person.rows(prompt)[places].map { "\"\($0.identifier)\"" }
            return try person.begin(
                answering: prompt, #""level":"limited","identifiers":[\#(rows.joined(separator: ","))]"#)
        }
        let first = try share(0..<20, with: fixture.app("mail"))
        #expect(try person.agent.replies(1, to: first)[0].error == nil)
        let asked = authority.asked.count
        let second = try share(20..<26, with: fixture.app(path + "//hello", strength: .declared))
        #expect(authority.asked.count == asked + 1)
        try authority.answer(.refused)
        #expect(try person.agent.replies(1, to: second)[0].error == "AuthenticationFailed")
    }

    @Test("A policy rule for unverified apps restricts declared ones too")
    func rules() throws {
        _ = try declare()
        let app = try hello(.limited(to: fixture.records("Ada")))
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.unverified]
        rule.denies = true
        fixture.rule([rule])
        #expect(try app.fetch().error == "AccessDenied")
        rule.strengths = [.claimed]
        fixture.rule([rule])
        #expect(try app.fetch().names == ["Ada"])
    }

    @Test("Only a registered agent can declare a folder; an app, a notifier and a strange process cannot")
    func onlyAgents() throws {
        let app = try fixture.app("mail")
        #expect(try app.call("DeclareFolder", #"{"agent":"x","path":"/a"}"#).error == "MethodNotFound")
        let stranger = TestApp(fixture: fixture, caller: fixture.caller("other"), interface: .agent)
        for token in [person.token, "", "x"] {
            for (method, more) in [
                ("DeclareFolder", #","path":"/a""#), ("EndFolder", #","path":"/a""#), ("ListFolders", ""),
            ] {
                #expect(try stranger.call(method, #"{"agent":"\#(token)"\#(more)}"#).error == "NotAnAgent")
            }
        }
        let notifier = TestApp(fixture: fixture, caller: fixture.caller("notifier"), interface: .agent)
        let serve = try notifier.begin("Serve", #"{"notifyOnly":true}"#, more: true)
        _ = try notifier.replies(to: serve)
        #expect(try notifier.call("ListFolders", #"{"agent":""}"#).error == "NotAnAgent")
        #expect(try listed() == [])
    }

    @Test("A folder that the person did not confirm by its own path, and a seventeenth one, are refused")
    func bounds() throws {
        // The broker reports `/home/ada/app` for this path.
        #expect(try declare("/home/ada/link/../app", checkOnly: true).parameters["folder"]?["path"]?.string == path)
        #expect(try declare("/home/ada/link/../app").error == "InvalidFolder")
        #expect(try declare("/home/ada/none").text.contains("notFound"))
        for number in 0..<16 { #expect(try declare("/home/ada/\(number)").error == nil) }
        #expect(try declare("/home/ada/more").text.contains("tooMany"))
        #expect(try declare("/home/ada/3").error == nil)
        #expect(try person.agent.call("DeclareFolder", #"{"agent":"\#(person.token)"}"#).error == "InvalidParameter")
        #expect(try listed().count == 16)
    }

    @Test("In system mode no folder can be declared, and one in the database has no effect")
    func systemMode() throws {
        let fixture = try BrokerFixture(authority: TestAuthority([.answer: .granted]), mode: .system)
        try fixture.keeper(adding: "Ada")
        let person = try TestPerson(fixture: fixture)
        #expect(try declare(by: person).text.contains("sessionOnly"))
        let list = try person.agent.call("ListFolders", #"{"agent":"\#(person.token)"}"#)
        #expect(list.error == "InvalidFolder")
        fixture.access.declarations.declare(
            DeclaredFolder(
                uid: 1_000, path: path,
                identity: FolderIdentity(
                    deviceMajor: 8, deviceMinor: 1, inode: 7, createdSeconds: 1, createdNanoseconds: 0),
                ends: .max))
        #expect(fixture.broker.declaredFolders(of: 1_000) == [])
        let app = try fixture.app(path + "//hello", .limited(to: fixture.records("Ada")), strength: .declared)
        _ = try app.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(app.isClosed)
    }

    @Test("A full grant in the database of an app in a declared folder is denied at the start")
    func stored() throws {
        let principal = Principal(uid: 1_000, strength: .declared, app: path + "//hello")
        fixture.access.setGrant(
            Grant(access: .full, revision: fixture.access.nextRevision(), decidedBy: .person, decidedAt: now),
            for: principal, displayName: "hello", at: fixture.books.moment(of: 1_000))
        fixture.groupCommit.flush()
        try fixture.restart()
        #expect(fixture.access.grant(of: principal)?.access == .denied)
        #expect(try fixture.audit(.revocation).contains("denied unreadable grant"))
    }

    @Test("A backup gives an app in a declared folder no access where it is restored, not even with the password")
    func restored() throws {
        _ = try declare()
        let app = try hello(.limited(to: fixture.records("Ada")))
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let backup = try Backup(of: fixture)
        let other = try BrokerFixture(authority: TestAuthority([.backUp: .granted, .restore: .granted]))
        try Backup.copyKey(from: fixture, to: other)
        #expect(try backup.restore(in: other).error == nil)
        #expect(other.access.grant(of: mail.principal) != nil)
        #expect(other.access.grant(of: app.principal) == nil)
        #expect(other.broker.declaredFolders(of: 1_000) == [])
    }

    @Test("contactctl why says which folder identifies the app, and until when")
    func explained() throws {
        _ = try declare()
        _ = try hello(.limited(to: fixture.records("Ada")))
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let reply = try administrator.call("ExplainDecision", #"{"app":"\#(path)//hello"}"#)
        let until = Timestamp.text(seconds: now + Self.week)
        #expect(
            reply.strings("reasons").contains(
                "until \(until) any program with this file name in \(path) is this app: you declared the folder")
        )
        // The same in parts: each time is one, and no text has one.
        let explanation = reply.parameters["explanation"]?.elements.map(Array.init) ?? []
        let parts = explanation.map { $0["parts"]?.elements.map(Array.init) ?? [] }
        let whole = parts.map { $0.map { $0["time"]?.string ?? $0["text"]?.string ?? "" }.joined() }
        #expect(whole == reply.strings("reasons"))
        #expect(parts.joined().contains { $0["time"]?.string == until })
        #expect(parts.joined().allSatisfy { $0["text"]?.string?.contains(/[0-9]T[0-9:]+Z/) != true })
        _ = try end()
    }
}
