import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerGrants

@Suite("Prompts of many weakly identified programs")
struct PromptCrowdTests {
    private let fixture: BrokerFixture
    private let asking: Asking

    init() throws {
        fixture = try BrokerFixture()
        asking = try Asking(fixture)
    }

    private func screens(_ callers: (Int) -> Caller) throws -> Int {
        try (1...100).count { try asking.asked(callers($0)) == .screen }
    }

    @Test("A program with a hundred paths takes the screen eight times in ten minutes; then its prompts are lines")
    func paths() throws {
        for round in 1...3 {
            #expect(try screens { asking.program("/tmp/\(round).\($0)") } == 8)
            // Programs with claimed names belong to the same crowd.
            #expect(try asking.asked(fixture.caller("name\(round)", strength: .claimed)) == .line)
            fixture.loop.advance(by: .seconds(600))
        }
        // A prompt counts when it is queued, even if it is withdrawn.
        for number in 1...8 {
            let app = TestApp(fixture: fixture, caller: asking.program("/opt/\(number)"))
            _ = try asking.ask(app)
            app.hangUp()
        }
        fixture.loop.advance(by: .seconds(60))
        #expect(try asking.asked(asking.program("/opt/9")) == .line)
        // An app whose name no other program can take does not have this limit.
        #expect(try asking.asked(fixture.caller("mail", strength: .sandboxed)) == .screen)
        fixture.loop.advance(by: .seconds(600))
        #expect(try asking.asked(asking.program("/opt/10")) == .screen)
    }

    @Test("The person can open a line and answer it like any other prompt")
    func opened() throws {
        for number in 1...8 { try asking.asked(asking.program("/tmp/\(number)")) }
        let mail = asking.program("/opt/mail")
        #expect(try asking.asked(mail, answering: #""level":"full""#) == .line)
        let status = try TestApp(fixture: fixture, caller: mail).call("GetAuthorization").parameters["status"]
        #expect(status?.string == "full")
    }

    @Test("After two withdrawn prompts, the next ones are held for 2, 4, 8, … and finally 60 seconds")
    func flicker() throws {
        for (number, hold) in [0, 0, 2, 4, 8, 16, 32, 60, 60, 60].enumerated() {
            let app = TestApp(fixture: fixture, caller: asking.program("/tmp/\(number)"))
            let outcome = try asking.ask(app).outcome
            if hold == 0 {
                #expect(outcome == .screen)
            } else {
                #expect(outcome == .queued, "\(number)")
                fixture.loop.advance(by: .seconds(hold) - .milliseconds(1))
                #expect(try asking.person.prompts().isEmpty, "\(number)")
                fixture.loop.advance(by: .milliseconds(1))
                // The ninth prompt and all later ones are lines.
                #expect(try asking.person.prompts().map(\.isQuiet) == [number >= 8], "\(number)")
            }
            app.hangUp()
        }
    }

    @Test("If a held prompt is shown and withdrawn, the prompt that waits behind it is held again")
    func flickerTogether() throws {
        for number in 1...2 {
            let app = TestApp(fixture: fixture, caller: asking.program("/tmp/\(number)"))
            _ = try asking.ask(app)
            app.hangUp()
        }
        let apps = (3...4).map { TestApp(fixture: fixture, caller: asking.program("/tmp/\($0)")) }
        for app in apps { #expect(try asking.ask(app).outcome == .queued) }
        fixture.loop.advance(by: .seconds(2))
        #expect(try asking.person.prompts().count == 1)
        apps[0].hangUp()
        fixture.loop.advance(by: .milliseconds(3_999))
        #expect(try asking.person.prompts().isEmpty)
        fixture.loop.advance(by: .milliseconds(1))
        #expect(try asking.person.prompts().count == 1)
    }

    @Test("A held prompt does not delay an app whose name no other program can take")
    func heldDelaysNobody() throws {
        for number in 1...7 {
            let app = TestApp(fixture: fixture, caller: asking.program("/tmp/\(number)"))
            _ = try asking.ask(app)
            fixture.loop.advance(by: .seconds(60))
            app.hangUp()
        }
        #expect(try asking.ask(asking.program("/tmp/8")).outcome == .queued)
        #expect(try asking.asked(fixture.caller("mail", strength: .installed)) == .screen)
    }

    @Test("A terminal session in which a program was approved has a separate limit of eight prompts, for all paths")
    func session() throws {
        let (mine, other) = (Asking.terminal(7), Asking.terminal(8))
        #expect(try asking.asked(asking.program("/opt/mail", session: mine), answering: #""level":"full""#) == .screen)
        #expect(try screens { asking.program("/tmp/a\($0)", session: mine) } == 8)
        // Only the approved program's own prompt has counted toward the common bucket.
        #expect(try screens { asking.program("/tmp/b\($0)", session: other) } == 7)
        // The approved program itself has no limit.
        let mail = TestApp(fixture: fixture, caller: asking.program("/opt/mail", session: mine))
        #expect(try asking.asked(mail, "PickContacts") == .screen)
    }

    @Test("An approval does not apply to a program that overwrites the approved file")
    func overwritten() throws {
        try asking.asked(asking.program("/opt/mail", hash: "1"), answering: #""level":"limited","identifiers":[]"#)
        for number in 1...7 { try asking.asked(asking.program("/tmp/\(number)")) }
        let before = TestApp(fixture: fixture, caller: asking.program("/opt/mail", hash: "1"))
        let after = TestApp(fixture: fixture, caller: asking.program("/opt/mail", hash: "2"))
        #expect(try asking.asked(before, "PickContacts") == .screen)
        #expect(try asking.asked(after, "PickContacts") == .line)
        // Both programs share one back-off, so their dismissals count together.
        #expect(try asking.asked(before, "PickContacts") == .refused(seconds: 5, reason: "refusals"))
    }

    @Test("A one-time pick counts as an approval of exactly that program, until the app is reset")
    func picked() throws {
        let app = TestApp(fixture: fixture, caller: asking.program("/opt/mail"))
        let call = try asking.ask(app, "PickContacts").call
        let prompt = try #require(fixture.prompts.open(1_000).first?.prompt)
        let shown = TestPerson.Prompt(kind: "pick", cookie: prompt.cookie, isQuiet: false)
        let row = try #require(try asking.person.rows(shown).first?.identifier)
        let fields = #""picked":[{"contact":"\#(row)","key":"identifier"}]"#
        #expect(try asking.person.answer(shown, fields).error == nil)
        try #require(fixture.loop.run { call.isOver })
        for number in 1...8 { try asking.asked(asking.program("/tmp/\(number)")) }
        #expect(try asking.asked(app, "PickContacts") == .screen)
        #expect(
            try asking.asked(TestApp(fixture: fixture, caller: asking.program("/opt/mail", hash: "2")), "PickContacts")
                == .line)
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        _ = try administrator.call("ResetGrant", #"{"app":"/opt/mail sha256:1"}"#)
        for number in 1...8 { try asking.asked(asking.program("/home/\(number)")) }
        #expect(try asking.asked(app, "PickContacts") == .line)
    }

    @Test("A file at a victim's path in another mount namespace has its own back-off and its own open prompt")
    func victim() throws {
        for _ in 1...2 { try asking.asked(asking.program("/usr/bin/mail", sandbox: "mount namespace 7")) }
        let nuisance = asking.program("/usr/bin/mail", sandbox: "mount namespace 7")
        #expect(try asking.asked(nuisance) == .refused(seconds: 5, reason: "refusals"))
        // A program at another path in the same sandbox has the same back-off.
        let other = asking.program("/usr/bin/chat", sandbox: "mount namespace 7")
        #expect(try asking.asked(other) == .refused(seconds: 5, reason: "refusals"))
        fixture.loop.advance(by: .seconds(5))
        #expect(try asking.ask(nuisance).outcome == .screen)
        #expect(try asking.ask(asking.program("/usr/bin/mail")).outcome == .queued)
    }

    @Test("Scripts in one terminal session share a back-off; scripts in different sessions do not")
    func interpreter() throws {
        func script(_ session: SessionIdentity?, _ path: String = "/usr/bin/python3") -> Caller {
            asking.program(path, session: session, isInterpreter: true)
        }
        for _ in 1...2 { try asking.asked(script(Asking.terminal(7))) }
        #expect(try asking.asked(script(Asking.terminal(7))) == .refused(seconds: 5, reason: "refusals"))
        #expect(
            try asking.asked(script(Asking.terminal(7), "/usr/bin/perl")) == .refused(seconds: 5, reason: "refusals"))
        #expect(try asking.asked(script(Asking.terminal(8))) == .screen)
        #expect(try asking.asked(script(nil)) == .screen)
    }

    @Test("A rebuilt program is the same app; a program at another path is a different app")
    func rebuilt() throws {
        for hash in ["1", "2"] { try asking.asked(asking.program("/home/a.out", hash: hash)) }
        #expect(
            try asking.asked(asking.program("/home/a.out", hash: "3")) == .refused(seconds: 5, reason: "refusals"))
        #expect(try asking.asked(asking.program("/home/b.out")) == .screen)
    }

    @Test("The crowd may have four open prompts, which come after those of an approved program and a sandboxed app")
    func fullQueue() throws {
        let approved = asking.program("/opt/mail")
        try asking.asked(approved, answering: #""level":"limited","identifiers":[]"#)
        for number in 1...4 { _ = try asking.ask(asking.program("/tmp/\(number)")) }
        #expect(try asking.ask(asking.program("/tmp/5")).outcome == .refused(seconds: 1, reason: "crowd"))
        // Another process of the approved program, and a sandboxed app.
        let mail = TestApp(fixture: fixture, caller: asking.program("/opt/mail"))
        #expect(try asking.ask(mail, "PickContacts").outcome == .queued)
        #expect(try asking.ask(fixture.caller("chat", strength: .sandboxed)).outcome == .queued)
        let order = fixture.prompts.open(1_000).map(\.prompt.caller.displayName)
        let programs = ["/tmp/1", "/opt/mail", "/tmp/2", "/tmp/3", "/tmp/4"].map { $0 + " sha256:1" }
        #expect(order == programs[..<2] + ["chat"] + programs[2...])
        #expect(fixture.prompts.open(1_000).count(where: \.isShown) == 1)
    }
}
