import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

/// A rule for installed apps.
private func installed(_ fill: (inout Rule) -> Void) -> [Rule] {
    var rule = Rule(place: "test.toml:1")
    rule.strengths = [.installed]
    fill(&rule)
    return [rule]
}

@Suite("The policy applied to grants")
struct PolicyTests {
    let house: BrokerHouse
    let keeper: TestApp

    init() throws {
        house = try BrokerHouse()
        keeper = try house.keeper(adding: "Ada", "Grace")
    }

    private func status(_ app: TestApp) throws -> String? {
        try app.call("GetAuthorization").parameters["status"]?.string
    }

    // MARK: Forced levels

    @Test("An app that a rule gives full access sees everything without a prompt, under lasting identifiers")
    func forcesFull() throws {
        house.rule(installed { $0.forcedLevel = .full })
        let app = try house.app("mail", strength: .installed)
        #expect(try status(app) == "full")
        let seen = try app.fetch()
        #expect(seen.names == ["Ada", "Grace"])
        #expect(house.broker.prompts.openCount(1_000) == 0)
        // The rule covers installed apps only.
        #expect(try status(house.app("mail")) == "notDetermined")
        try house.restart()
        house.rule(installed { $0.forcedLevel = .full })
        let again = try house.app("mail", strength: .installed)
        #expect(
            try again.fetch().contacts.map { $0["identifier"]?.string }
                == seen.contacts.map { $0["identifier"]?.string })
        house.rule([])
        #expect(try status(again) == "notDetermined")
    }

    @Test(
        "When a rule that forces a level goes, the app keeps the contacts that it added and no others",
        arguments: [true, false])
    func ownCards(full: Bool) throws {
        house.rule(installed { $0.forcedLevel = full ? .full : .limited })
        let app = try house.app("mail", strength: .installed)
        #expect(try app.fetch().names == (full ? ["Ada", "Grace"] : []))
        #expect(try app.save([.add(given: "Own")]).error == nil)
        #expect(try app.save([.add(given: "Second")]).error == nil)
        #expect(try app.fetch().names == (full ? ["Ada", "Grace", "Own", "Second"] : ["Own", "Second"]))
        let grant = try #require(house.broker.access.grant(of: app.principal))
        #expect(grant.decidedBy == .administrator)
        #expect(grant.access.status == .limited)
        #expect(try house.audit(.grant) == ["limited policy"])
        try house.restart()
        let again = try house.app("mail", strength: .installed)
        #expect(try status(again) == "limited")
        #expect(try again.fetch().names == ["Own", "Second"])
    }

    @Test(
        "A refused save changes neither the grant nor the token of an app with a forced level",
        arguments: [true, false])
    func refusedSave(full: Bool) throws {
        house.rule(installed { $0.forcedLevel = full ? .full : .limited })
        let app = try house.app("mail", strength: .installed)
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
        #expect(house.broker.access.grant(of: app.principal) == nil)
        #expect(try house.audit(.revocation) == ["notDetermined not done"])
        #expect(try app.save([.add(given: "Own")]).error == nil)
        #expect(try app.fetch().names.contains("Own"))
    }

    @Test(
        "A card that the person accepts from an app with a forced level joins its granted set",
        arguments: [true, false])
    func proposedCard(full: Bool) throws {
        house.rule(installed { $0.forcedLevel = full ? .full : .limited })
        let app = try house.app("mail", strength: .installed)
        let person = try TestPerson(house: house)
        let call = try app.begin("ProposeContact", #"{"contact":{"givenName":"New"}}"#)
        try person.answer(try #require(person.prompts().first), #""addProposed":true"#)
        let told = try app.replies(1, to: call)[0].parameters["identifier"]?.string
        #expect(try told == app.identifier(of: "New"))
        house.rule([])
        #expect(try status(app) == "limited")
        #expect(try app.fetch().names == ["New"])
    }

    @Test("A forced level overrides the person's decision, which applies again without the rule")
    func forcesOver() throws {
        let ada = try house.records("Ada")
        let refused = try house.app("refused", .denied, strength: .installed)
        let few = try house.app("few", .limited(to: ada), strength: .installed)
        house.rule(installed { $0.forcedLevel = .full })
        #expect(try refused.fetch().names == ["Ada", "Grace"])
        #expect(try few.fetch().names == ["Ada", "Grace"])
        house.rule(installed { $0.forcedLevel = .limited })
        #expect(try refused.fetch().names == [])
        #expect(try few.fetch().names == ["Ada"])
        house.rule([])
        #expect(try refused.fetch().error == "AccessDenied")
        #expect(try few.fetch().names == ["Ada"])
        #expect(try status(few) == "limited")
    }

    @Test(
        "A contact that an app adds while a rule limits it stays visible, and is visible under such a rule again",
        arguments: [true, false])
    func ownUnderCap(capped: Bool) throws {
        let rules = installed { if capped { $0.capsLevel = true } else { $0.forcedLevel = .limited } }
        let app = try house.app("mail", capped ? .full : .denied, strength: .installed)
        house.rule(rules)
        let token = try #require(app.fetch().token)
        #expect(try app.fetch().names == [])
        #expect(try app.save([.add(given: "Own"), .add(given: "Gone")]).error == nil)
        #expect(try app.fetch().names == ["Gone", "Own"])
        let told = try app.call("FetchHistory", #"{"token":"\#(token)"}"#)
        #expect(told.parameters["events"]?.elements?.map { $0["kind"]?.string } == ["addContact", "addContact"])
        #expect(try app.save([.delete(app.identifier(of: "Gone"))]).error == nil)
        #expect(try app.fetch().names == ["Own"])
        try house.restart()
        house.rule(rules)
        let again = try house.app("mail", strength: .installed)
        #expect(try again.fetch().names == ["Own"])
        house.rule([])
        #expect(try status(again) == (capped ? "full" : "denied"))
        if capped { #expect(try again.fetch().names == ["Ada", "Grace", "Own"]) }
        // Without a rule, added contacts are not kept apart.
        if capped { #expect(try again.save([.add(given: "Later")]).error == nil) }
        house.rule(rules)
        #expect(try again.fetch().names == ["Own"])
        #expect(house.broker.access.grant(of: again.principal)?.access.status == (capped ? .full : .denied))
    }

    // MARK: Time

    @Test(
        "A maximum lifetime ends the grant and its watches on time, and has no effect once the rule is gone"
    )
    func lifetime() throws {
        let app = try house.app("mail", .full, strength: .installed)
        house.rule(installed { $0.maximumLifetime = 3_600 })
        let watch = try app.begin("WatchChanges", more: true)
        #expect(try app.replies(1, to: watch).count == 1)
        house.loop.advance(by: .seconds(3_590))
        #expect(try status(app) == "full")
        #expect(!watch.isOver)
        let before = try house.audit(.revocation).count
        house.loop.advance(by: .seconds(20))
        // The grant ended on time, before any call.
        #expect(watch.isOver)
        #expect(try app.replies(to: watch).last?.error == "AccessDenied")
        #expect(try house.audit(.revocation).dropFirst(before) == ["notDetermined expired"])
        #expect(try status(app) == "notDetermined")
        // The end is recorded once.
        house.loop.advance(by: .seconds(7_200))
        #expect(try house.audit(.revocation).count == before + 1)
        house.rule([])
        #expect(try app.fetch().names == ["Ada", "Grace"])
        // The grant has ended already when this rule comes. Nothing is recorded and nothing is granted.
        house.rule(installed { $0.maximumLifetime = 60 })
        #expect(try status(app) == "notDetermined")
        #expect(try house.audit(.revocation).count == before + 1)
    }

    @Test(
        "Lowering a grant does not extend it, and does not restore an ended one",
        arguments: ["full", "limited"])
    func lowering(status: String) throws {
        let app = try house.app("mail", .full, strength: .installed)
        house.rule(installed { $0.maximumLifetime = 3_600 })
        let administrator = TestApp(house: house, caller: house.caller("contactctl"), door: .admin)
        let lower = #"{"app":"mail","status":"\#(status)"}"#
        house.loop.advance(by: .seconds(3_500))
        #expect(try administrator.call("SetGrant", lower).error == nil)
        #expect(try self.status(app) == status)
        house.loop.advance(by: .seconds(101))
        #expect(try self.status(app) == "notDetermined")
        #expect(try administrator.call("SetGrant", lower).error == nil)
        #expect(try self.status(app) == "notDetermined")
    }

    @Test("A grant with times out of range has ended, and other apps are not affected", arguments: [Int64.min, .max])
    func absurdTimes(time: Int64) throws {
        let app = try house.app("mail", strength: .installed)
        let broker = house.broker
        _ = try broker.access.makeIdentifiers(for: app.principal, sharesStandingKey: true)
        var grant = Grant(
            access: .full, revision: broker.access.nextRevision(), decidedBy: .person, decidedAt: time)
        if time < 0 { grant.lifetime = .untilTime(time) }
        broker.access.setGrant(grant, for: app.principal, displayName: "mail", at: broker.books.moment(of: 1_000))
        house.rule(installed { $0.maximumLifetime = 3_600 })
        house.loop.advance(by: .seconds(1))
        #expect(try status(app) == "notDetermined")
        #expect(try status(keeper) == "full")
    }

    @Test("Two grants expire, each at its own time")
    func lifetimes() throws {
        house.rule(installed { $0.maximumLifetime = 600 })
        let first = try house.app("first", .full, strength: .installed)
        house.loop.advance(by: .seconds(300))
        let second = try house.app("second", .full, strength: .installed)
        house.broker.grants.scheduleExpiry()
        house.loop.advance(by: .seconds(301))
        #expect(try status(first) == "notDetermined")
        #expect(try status(second) == "full")
        house.loop.advance(by: .seconds(300))
        #expect(try status(second) == "notDetermined")
        #expect(try house.audit(.revocation) == ["notDetermined expired", "notDetermined expired"])
    }

    // MARK: Calls in progress

    @Test("A waiting save is decided again when its turn comes", arguments: ["denied", "keys"])
    func waitingSave(how: String) throws {
        let app = try house.app("mail", .full, strength: .installed)
        // Another save is in progress, so this one waits.
        house.broker.app.saves.whenItsTurn(1_000) {}
        let save = try app.begin(
            "SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"New","nickname":"N"}}]}"#)
        #expect(!save.isOver)
        house.rule(
            installed {
                if how == "keys" { $0.maximumKeys = ContactKeySet([.givenName]) } else { $0.denies = true }
            })
        house.broker.app.saves.ended(1_000)
        #expect(house.loop.run { save.isOver })
        #expect(try app.replies(to: save).map(\.error) == ["AccessDenied"])
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
    }

    @Test("A reply that was read before the policy changed is not sent after it")
    func queuedReply() throws {
        let app = try house.app("mail", .full, strength: .installed)
        #expect(try app.fetch().names.count == 2)
        let root = try JSONDocument(parsing: Array(#"{"keys":["givenName"]}"#.utf8)).root
        let call = Call(
            method: "io.contactbroker.Contacts.FetchContacts", parameters: root, more: false, oneway: false,
            connection: app)
        // The reply is queued, and the loop has not run since.
        house.broker.answer(call)
        #expect(!call.isOver)
        house.rule(installed { $0.denies = true })
        #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
        #expect(try house.audit(.withheld).count == 1)
    }

    @Test("A token from before a cap is invalid under the cap and valid again after it")
    func tokens() throws {
        let app = try house.app("mail", .full, strength: .installed)
        let token = try #require(app.fetch().token)
        let history = #"{"token":"\#(token)"}"#
        #expect(try app.call("FetchHistory", history).parameters["events"]?.count == 0)
        house.rule(installed { $0.capsLevel = true })
        let capped = try app.call("FetchHistory", history)
        #expect(capped.parameters["events"]?.elements?.first { _ in true }?["kind"]?.string == "dropEverything")
        #expect(try app.fetch().token != token)
        house.rule([])
        #expect(try app.fetch().token == token)
        #expect(try app.call("FetchHistory", history).parameters["events"]?.count == 0)
    }

    @Test("All times under a forced level are one history, whatever was decided in between")
    func forcedHistoryGoesOn() throws {
        house.rule(installed { $0.forcedLevel = .full })
        let app = try house.app("mail", strength: .installed)
        let token = try #require(app.fetch().token)
        try house.grant(.limited(to: []), to: app)
        house.broker.access.endGrant(of: app.principal)
        house.broker.history.moved()
        #expect(try app.fetch().token == token)
        #expect(try keeper.save([.add(given: "New")]).error == nil)
        #expect(try app.history(token).events == ["addContact New"])
    }

    @Test("Under a forced level, an expired granted set is no longer visible and the history starts over")
    func overUnderForced() throws {
        house.rule(
            installed {
                $0.forcedLevel = .limited
                $0.maximumLifetime = 600
            })
        let app = try house.app("mail", .limited(to: house.records("Ada")), strength: .installed)
        let token = try #require(app.fetch().token)
        house.loop.advance(by: .seconds(601))
        #expect(try app.fetch().names == [])
        #expect(try app.fetch().token != token)
        #expect(try app.history(token).events == ["dropEverything"])
    }

    @Test("An app's own cards that a lowered grant no longer includes are reported as revoked under a cap")
    func loweredOwn() throws {
        let app = try house.app("mail", .full, strength: .installed)
        house.rule(installed { $0.capsLevel = true })
        let token = try #require(try app.save([.add(given: "Own")]).token)
        let administrator = TestApp(house: house, caller: house.caller("contactctl"), door: .admin)
        #expect(try administrator.call("SetGrant", #"{"app":"mail","status":"full"}"#).error == nil)
        #expect(try app.fetch().names == [])
        #expect(try app.fetch().token != token)
        #expect(try app.history(token).events == ["revoked"])
    }

    @Test("Under a forced full level, changes of the app's granted set do not move its token")
    func forcedToken() throws {
        let app = try house.app("mail", .limited(to: house.records("Ada")), strength: .installed)
        house.rule(installed { $0.forcedLevel = .full })
        let token = try app.fetch().token
        try house.grant(.limited(to: house.records("Ada", "Grace")), to: app)
        #expect(try app.fetch().token == token)
        house.rule([])
        #expect(try app.fetch().names == ["Ada", "Grace"])
    }

    // MARK: A durable audit

    @Test(
        "With a durable audit a reply waits until its record is synced, and later replies share the next sync"
    )
    func durable() throws {
        let disk = SlowDisk(waits: false)
        let house = try BrokerHouse(disk: disk)
        try house.keeper(adding: "Ada", "Grace")
        let app = try house.app("mail", .full, strength: .installed)
        house.rule([], isAuditDurable: true)
        disk.wait()
        let before = disk.syncs
        let first = try app.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(house.loop.run { disk.syncs == before + 1 })
        let others = try ["a", "b"].map { try house.app($0, .full, strength: .installed) }
        let calls = try others.map { try $0.begin("FetchContacts", #"{"keys":["givenName"]}"#) }
        // The disclosures are recorded, but not sent. A reply that discloses nothing does not wait.
        #expect(try house.audit(.disclosure).count == 3)
        #expect(disk.syncs == before + 1)
        #expect(!first.isOver && calls.allSatisfy { !$0.isOver })
        #expect(try status(app) == "full")
        disk.end()
        #expect(house.loop.run { first.isOver && disk.syncs == before + 2 })
        #expect(calls.allSatisfy { !$0.isOver })
        // The policy denies one app during the sync.
        house.rule(
            installed {
                $0.apps = ["a"]; $0.denies = true
            }, isAuditDurable: true)
        disk.end()
        #expect(house.loop.run { calls.allSatisfy { $0.isOver } })
        #expect(try others[0].replies(to: calls[0]).map(\.error) == ["AccessDenied"])
        #expect(try others[1].replies(to: calls[1]).map(\.names) == [["Ada", "Grace"]])
        #expect(disk.syncs == before + 2)
    }

    @Test("With a durable audit nothing is disclosed if the sync fails")
    func durableFails() throws {
        let disk = SlowDisk(waits: false)
        let house = try BrokerHouse(disk: disk)
        let app = try house.app("mail", .full, strength: .installed)
        house.rule([], isAuditDurable: true)
        disk.fail()
        #expect(try app.fetch().error == "StoreUnavailable")
    }

    @Test("With a durable audit on a real disk, calls and lists are answered")
    func durableForReal() throws {
        house.rule([], isAuditDurable: true)
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
        #expect(try keeper.save((0..<600).map { .add(given: "N\($0)") }).error == nil)
        let replies = try keeper.stream("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(replies.count > 1)
        #expect(replies.flatMap(\.names).count == 602)
    }
}
