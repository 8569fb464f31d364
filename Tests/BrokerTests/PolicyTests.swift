import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerBooks
@testable import BrokerCalls
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

/// A rule for installed apps.
private func installed(_ fill: (inout Rule) -> Void) -> [Rule] {
    var rule = Rule(place: "test.toml:1")
    rule.strengths = [.installed]
    fill(&rule)
    return [rule]
}

@Suite("The policy applied to grants")
struct PolicyTests {
    let fixture: BrokerFixture
    let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Grace")
    }

    private func status(_ app: TestApp) throws -> String? {
        try app.call("GetAuthorization").parameters["status"]?.string
    }

    // MARK: Forced levels

    @Test("An app that a rule gives full access sees everything without a prompt, with persistent identifiers")
    func forcesFull() throws {
        fixture.rule(installed { $0.forcedLevel = .full })
        let app = try fixture.app("mail", strength: .installed)
        #expect(try status(app) == "full")
        let seen = try app.fetch()
        #expect(seen.names == ["Ada", "Grace"])
        #expect(fixture.prompts.openCount(1_000) == 0)
        // The rule covers installed apps only.
        #expect(try status(fixture.app("mail")) == "notDetermined")
        try fixture.restart()
        fixture.rule(installed { $0.forcedLevel = .full })
        let again = try fixture.app("mail", strength: .installed)
        #expect(
            try again.fetch().contacts.map { $0["identifier"]?.string }
                == seen.contacts.map { $0["identifier"]?.string })
        fixture.rule([])
        #expect(try status(again) == "notDetermined")
    }

    @Test(
        "When a rule that forces a level is removed, the app keeps the contacts that it added and no others",
        arguments: [true, false])
    func ownCards(full: Bool) throws {
        fixture.rule(installed { $0.forcedLevel = full ? .full : .limited })
        let app = try fixture.app("mail", strength: .installed)
        #expect(try app.fetch().names == (full ? ["Ada", "Grace"] : []))
        #expect(try app.save([.add(given: "Own")]).error == nil)
        #expect(try app.save([.add(given: "Second")]).error == nil)
        #expect(try app.fetch().names == (full ? ["Ada", "Grace", "Own", "Second"] : ["Own", "Second"]))
        let grant = try #require(fixture.access.grant(of: app.principal))
        #expect(grant.decidedBy == .administrator)
        #expect(grant.access.status == .limited)
        #expect(try fixture.audit(.grant) == ["limited policy"])
        try fixture.restart()
        let again = try fixture.app("mail", strength: .installed)
        #expect(try status(again) == "limited")
        #expect(try again.fetch().names == ["Own", "Second"])
    }

    @Test(
        "A refused save changes neither the grant nor the token of an app with a forced level",
        arguments: [true, false])
    func refusedSave(full: Bool) throws {
        fixture.rule(installed { $0.forcedLevel = full ? .full : .limited })
        let app = try fixture.app("mail", strength: .installed)
        let made = try app.call("SaveContacts", #"{"changes":[{"operation":"add","group":{"name":"G"}}]}"#)
        let group = try #require(made.strings("identifiers").first)
        let token = try app.fetch().token
        let refused = try app.call(
            "SaveContacts",
            """
            {"changes":[{"operation":"add","contact":{"givenName":"Own"}},\
            {"operation":"addSubgroup","group":{"identifier":"\(group)","name":"G"},"member":"\(group)"}]}
            """)
        #expect(refused.error == "ContainmentCycle")
        #expect(try app.fetch().token == token)
        #expect(fixture.access.grant(of: app.principal) == nil)
        #expect(try fixture.audit(.revocation) == ["notDetermined not done"])
        #expect(try app.save([.add(given: "Own")]).error == nil)
        #expect(try app.fetch().names.contains("Own"))
    }

    @Test(
        "A card that the person accepts from an app with a forced level joins its granted set",
        arguments: [true, false])
    func proposedCard(full: Bool) throws {
        fixture.rule(installed { $0.forcedLevel = full ? .full : .limited })
        let app = try fixture.app("mail", strength: .installed)
        let person = try TestPerson(fixture: fixture)
        let call = try app.begin("ProposeContact", #"{"contact":{"givenName":"New"}}"#)
        try person.answer(try #require(person.prompts().first), #""addProposed":true"#)
        let told = try app.replies(1, to: call)[0].parameters["identifier"]?.string
        #expect(try told == app.identifier(of: "New"))
        fixture.rule([])
        #expect(try status(app) == "limited")
        #expect(try app.fetch().names == ["New"])
    }

    @Test("A forced level overrides the person's decision, which applies again without the rule")
    func forcesOver() throws {
        let ada = try fixture.records("Ada")
        let refused = try fixture.app("refused", .denied, strength: .installed)
        let few = try fixture.app("few", .limited(to: ada), strength: .installed)
        fixture.rule(installed { $0.forcedLevel = .full })
        #expect(try refused.fetch().names == ["Ada", "Grace"])
        #expect(try few.fetch().names == ["Ada", "Grace"])
        fixture.rule(installed { $0.forcedLevel = .limited })
        #expect(try refused.fetch().names == [])
        #expect(try few.fetch().names == ["Ada"])
        fixture.rule([])
        #expect(try refused.fetch().error == "AccessDenied")
        #expect(try few.fetch().names == ["Ada"])
        #expect(try status(few) == "limited")
    }

    @Test(
        "A contact that an app adds while a rule limits it stays visible, and is visible under such a rule again",
        arguments: [true, false])
    func ownUnderCap(capped: Bool) throws {
        let rules = installed { if capped { $0.capsLevel = true } else { $0.forcedLevel = .limited } }
        let app = try fixture.app("mail", capped ? .full : .denied, strength: .installed)
        fixture.rule(rules)
        let token = try #require(app.fetch().token)
        #expect(try app.fetch().names == [])
        #expect(try app.save([.add(given: "Own"), .add(given: "Gone")]).error == nil)
        #expect(try app.fetch().names == ["Gone", "Own"])
        let told = try app.call("FetchHistory", #"{"token":"\#(token)"}"#)
        #expect(told.parameters["events"]?.elements?.map { $0["kind"]?.string } == ["addContact", "addContact"])
        #expect(try app.save([.delete(app.identifier(of: "Gone"))]).error == nil)
        #expect(try app.fetch().names == ["Own"])
        try fixture.restart()
        fixture.rule(rules)
        let again = try fixture.app("mail", strength: .installed)
        #expect(try again.fetch().names == ["Own"])
        fixture.rule([])
        #expect(try status(again) == (capped ? "full" : "denied"))
        if capped { #expect(try again.fetch().names == ["Ada", "Grace", "Own"]) }
        // Without a rule, added contacts are not stored separately.
        if capped { #expect(try again.save([.add(given: "Later")]).error == nil) }
        fixture.rule(rules)
        #expect(try again.fetch().names == ["Own"])
        #expect(fixture.access.grant(of: again.principal)?.access.status == (capped ? .full : .denied))
    }

    // MARK: Time

    @Test(
        "A maximum lifetime ends the grant and its watches on time, and has no effect once the rule is gone"
    )
    func lifetime() throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        fixture.rule(installed { $0.maximumLifetime = 3_600 })
        let watch = try app.begin("WatchChanges", more: true)
        #expect(try app.replies(1, to: watch).count == 1)
        fixture.loop.advance(by: .seconds(3_590))
        #expect(try status(app) == "full")
        #expect(!watch.isOver)
        let before = try fixture.audit(.revocation).count
        fixture.loop.advance(by: .seconds(20))
        // The grant ended on time, before any call.
        #expect(watch.isOver)
        #expect(try app.replies(to: watch).last?.error == "AccessDenied")
        #expect(try fixture.audit(.revocation).dropFirst(before) == ["notDetermined expired"])
        #expect(try status(app) == "notDetermined")
        // The end is recorded once.
        fixture.loop.advance(by: .seconds(7_200))
        #expect(try fixture.audit(.revocation).count == before + 1)
        fixture.rule([])
        #expect(try app.fetch().names == ["Ada", "Grace"])
        // The grant has already ended when this rule takes effect. Nothing is recorded and nothing is granted.
        fixture.rule(installed { $0.maximumLifetime = 60 })
        #expect(try status(app) == "notDetermined")
        #expect(try fixture.audit(.revocation).count == before + 1)
    }

    @Test(
        "Lowering a grant does not extend it, and does not restore an ended one",
        arguments: ["full", "limited"])
    func lowering(status: String) throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        fixture.rule(installed { $0.maximumLifetime = 3_600 })
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let lower = #"{"app":"mail","status":"\#(status)"}"#
        fixture.loop.advance(by: .seconds(3_500))
        #expect(try administrator.call("SetGrant", lower).error == nil)
        #expect(try self.status(app) == status)
        fixture.loop.advance(by: .seconds(101))
        #expect(try self.status(app) == "notDetermined")
        #expect(try administrator.call("SetGrant", lower).error == nil)
        #expect(try self.status(app) == "notDetermined")
    }

    @Test("A grant with times out of range has ended, and other apps are not affected", arguments: [Int64.min, .max])
    func absurdTimes(time: Int64) throws {
        let app = try fixture.app("mail", strength: .installed)
        _ = try fixture.access.makeIdentifiers(for: app.principal, sharesPersistentKey: true)
        var grant = Grant(
            access: .full, revision: fixture.access.nextRevision(), decidedBy: .person, decidedAt: time)
        if time < 0 { grant.lifetime = .untilTime(time) }
        fixture.access.setGrant(grant, for: app.principal, displayName: "mail", at: fixture.books.moment(of: 1_000))
        fixture.rule(installed { $0.maximumLifetime = 3_600 })
        fixture.loop.advance(by: .seconds(1))
        #expect(try status(app) == "notDetermined")
        #expect(try status(keeper) == "full")
    }

    @Test("Two grants expire, each at its own time")
    func lifetimes() throws {
        fixture.rule(installed { $0.maximumLifetime = 600 })
        let first = try fixture.app("first", .full, strength: .installed)
        fixture.loop.advance(by: .seconds(300))
        let second = try fixture.app("second", .full, strength: .installed)
        fixture.grants.scheduleExpiry()
        fixture.loop.advance(by: .seconds(301))
        #expect(try status(first) == "notDetermined")
        #expect(try status(second) == "full")
        fixture.loop.advance(by: .seconds(300))
        #expect(try status(second) == "notDetermined")
        #expect(try fixture.audit(.revocation) == ["notDetermined expired", "notDetermined expired"])
    }

    // MARK: Calls in progress

    @Test("A waiting save is decided again when its turn comes", arguments: ["denied", "keys"])
    func waitingSave(how: String) throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        // Another save is in progress, so this one waits.
        fixture.saves.whenNoneIsWritten(1_000) {}
        let save = try app.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"New","nickname":"N"}}]}"#)
        #expect(!save.isOver)
        fixture.rule(
            installed {
                if how == "keys" { $0.maximumKeys = ContactKeySet([.givenName]) } else { $0.denies = true }
            })
        fixture.saves.ended(1_000)
        #expect(fixture.loop.run { save.isOver })
        #expect(try app.replies(to: save).map(\.error) == ["AccessDenied"])
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
    }

    @Test("A reply that was read before the policy changed is not sent after it")
    func queuedReply() throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        #expect(try app.fetch().names.count == 2)
        let root = try JSONDocument(parsing: Array(#"{"keys":["givenName"]}"#.utf8)).root
        let call = Call(
            method: "io.contactbroker.Contacts.FetchContacts", parameters: root, more: false, oneway: false,
            connection: app)
        // The reply is queued, and the loop has not run since.
        fixture.broker.answer(call)
        #expect(!call.isOver)
        fixture.rule(installed { $0.denies = true })
        #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
        #expect(try fixture.audit(.withheld).count == 1)
    }

    @Test("A token from before a cap is invalid under the cap and valid again after it")
    func tokens() throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        let token = try #require(app.fetch().token)
        let history = #"{"token":"\#(token)"}"#
        #expect(try app.call("FetchHistory", history).parameters["events"]?.count == 0)
        fixture.rule(installed { $0.capsLevel = true })
        let capped = try app.call("FetchHistory", history)
        #expect(capped.parameters["events"]?.elements?.first { _ in true }?["kind"]?.string == "dropEverything")
        #expect(try app.fetch().token != token)
        fixture.rule([])
        #expect(try app.fetch().token == token)
        #expect(try app.call("FetchHistory", history).parameters["events"]?.count == 0)
    }

    @Test("All periods under a forced level form one history, whatever was decided in between")
    func forcedHistoryGoesOn() throws {
        fixture.rule(installed { $0.forcedLevel = .full })
        let app = try fixture.app("mail", strength: .installed)
        let token = try #require(app.fetch().token)
        try fixture.grant(.limited(to: []), to: app)
        fixture.access.endGrant(of: app.principal)
        fixture.history.movedOfAll()
        #expect(try app.fetch().token == token)
        #expect(try keeper.save([.add(given: "New")]).error == nil)
        #expect(try app.history(token).events == ["addContact New"])
    }

    @Test("Under a forced level, an expired granted set is no longer visible and the history starts over")
    func overUnderForced() throws {
        fixture.rule(
            installed {
                $0.forcedLevel = .limited
                $0.maximumLifetime = 600
            })
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), strength: .installed)
        let token = try #require(app.fetch().token)
        fixture.loop.advance(by: .seconds(601))
        #expect(try app.fetch().names == [])
        #expect(try app.fetch().token != token)
        #expect(try app.history(token).events == ["dropEverything"])
    }

    @Test("An app's own cards that a lowered grant no longer includes are reported as revoked under a cap")
    func loweredOwn() throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        fixture.rule(installed { $0.capsLevel = true })
        let token = try #require(try app.save([.add(given: "Own")]).token)
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        #expect(try administrator.call("SetGrant", #"{"app":"mail","status":"full"}"#).error == nil)
        #expect(try app.fetch().names == [])
        #expect(try app.fetch().token != token)
        #expect(try app.history(token).events == ["revoked"])
    }

    @Test("Under a forced full level, changes of the app's granted set do not move its token")
    func forcedToken() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), strength: .installed)
        fixture.rule(installed { $0.forcedLevel = .full })
        let token = try app.fetch().token
        try fixture.grant(.limited(to: fixture.records("Ada", "Grace")), to: app)
        #expect(try app.fetch().token == token)
        fixture.rule([])
        #expect(try app.fetch().names == ["Ada", "Grace"])
    }

    // MARK: A durable audit

    @Test(
        "With a durable audit a reply waits until its record is synced, and later replies share the next sync"
    )
    func durable() throws {
        let disk = SlowDisk(waits: false)
        let fixture = try BrokerFixture(disk: disk)
        try fixture.keeper(adding: "Ada", "Grace")
        let app = try fixture.app("mail", .full, strength: .installed)
        fixture.rule([], isAuditDurable: true)
        disk.wait()
        let before = disk.syncs
        let first = try app.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(fixture.loop.run { disk.syncs == before + 1 })
        let others = try ["a", "b"].map { try fixture.app($0, .full, strength: .installed) }
        let calls = try others.map { try $0.begin("FetchContacts", #"{"keys":["givenName"]}"#) }
        // The disclosures are recorded, but not sent. A reply that discloses nothing does not wait.
        #expect(try fixture.audit(.disclosure).count == 3)
        #expect(disk.syncs == before + 1)
        #expect(!first.isOver && calls.allSatisfy { !$0.isOver })
        #expect(try status(app) == "full")
        disk.end()
        #expect(fixture.loop.run { first.isOver && disk.syncs == before + 2 })
        #expect(calls.allSatisfy { !$0.isOver })
        // The policy denies one app during the sync.
        fixture.rule(
            installed {
                $0.apps = ["a"]; $0.denies = true
            }, isAuditDurable: true)
        disk.end()
        #expect(fixture.loop.run { calls.allSatisfy { $0.isOver } })
        #expect(try others[0].replies(to: calls[0]).map(\.error) == ["AccessDenied"])
        #expect(try others[1].replies(to: calls[1]).map(\.names) == [["Ada", "Grace"]])
        #expect(disk.syncs == before + 2)
    }

    @Test("With a durable audit nothing is disclosed if the sync fails")
    func durableFails() throws {
        let disk = SlowDisk(waits: false)
        let fixture = try BrokerFixture(disk: disk)
        let app = try fixture.app("mail", .full, strength: .installed)
        fixture.rule([], isAuditDurable: true)
        disk.fail()
        #expect(try app.fetch().error == "StoreUnavailable")
    }

    @Test("With a durable audit on a real disk, calls and lists are answered")
    func durableForReal() throws {
        fixture.rule([], isAuditDurable: true)
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
        #expect(try keeper.save((0..<600).map { .add(given: "N\($0)") }).error == nil)
        let replies = try keeper.stream("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(replies.count > 1)
        #expect(replies.flatMap(\.names).count == 602)
    }
}
