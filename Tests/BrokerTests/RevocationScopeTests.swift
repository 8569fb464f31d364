import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerLedger

@Suite("The reach of a revocation")
struct RevocationScopeTests {
    private let fixture: BrokerFixture

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
    }

    private func administrator(uid: UInt32 = 1_000) -> TestApp {
        TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: uid), interface: .admin)
    }

    private func app(_ name: String, session number: Int32, isInterpreter: Bool = false) -> TestApp {
        let caller = fixture.caller(
            name, strength: .unverified, path: "/usr/bin/" + name, session: Self.session(number),
            isInterpreter: isInterpreter)
        return TestApp(fixture: fixture, caller: caller)
    }

    /// Gives an app access for its terminal session.
    private func settle(_ app: TestApp, in number: Int32) throws {
        try fixture.settle(
            .full, lifetime: .session, for: app, as: app.principal.bound(to: .session(Self.session(number))))
    }

    private static func session(_ number: Int32) -> SessionIdentity {
        SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: number, startTime: 7))
    }

    private func status(_ app: TestApp) throws -> String? {
        try app.call("GetAuthorization").parameters["status"]?.string
    }

    @Test("A program that was revoked in one terminal is denied in every other one, and listed once")
    func terminals() throws {
        let (here, there) = (app("tool", session: 50), app("tool", session: 60))
        try settle(here, in: 50)
        #expect(try status(here) == "full" && status(there) == "notDetermined")
        #expect(try administrator().call("SetGrant", #"{"app":"tool","status":"denied"}"#).error == nil)
        #expect(try status(here) == "denied" && status(there) == "denied")
        let grants = try administrator().call("ListGrants").parameters["grants"]?.elements.map(Array.init) ?? []
        let listed = grants.filter { $0["app"]?.string == "tool" }
        #expect(
            listed.count == 1
                && listed[0]["decidedThrough"]?.string?.hasPrefix("revoked by /usr/bin/contactctl") == true)
        #expect(listed[0]["decidedBy"]?.string == "person" && listed[0]["session"] == nil)
        // One act has one record, so the audit ends with what the list says.
        #expect(try fixture.audit(.revocation) == ["denied"])
    }

    @Test("A revocation lasts longer than the access that it takes away would have", arguments: [true, false])
    func outlasts(byAgent: Bool) throws {
        let tool = try fixture.app("tool")
        try fixture.settle(
            .full, lifetime: .untilTime(fixture.surroundings.seconds + 60), for: tool, as: tool.principal)
        if byAgent {
            let person = try TestPerson(fixture: fixture)
            #expect(try person.manage(tool, answering: #""level":"denied""#) == nil)
        } else {
            #expect(try administrator().call("SetGrant", #"{"app":"tool","status":"denied"}"#).error == nil)
        }
        fixture.loop.advance(by: .seconds(120))
        #expect(try status(tool) == "denied")
    }

    @Test("An interpreter is denied only in the terminal where it had access")
    func interpreter() throws {
        let here = app("python3", session: 50, isInterpreter: true)
        let there = app("python3", session: 60, isInterpreter: true)
        try settle(here, in: 50)
        #expect(try administrator().call("SetGrant", #"{"app":"python3","status":"denied"}"#).error == nil)
        #expect(try status(here) == "denied" && status(there) == "notDetermined")
    }

    @Test("Ending a session's access leaves access that lasts longer, and denials")
    func endsSession() throws {
        let (bound, lasting) = (app("tool", session: 50), try fixture.app("mail", .full))
        let denied = try fixture.app("game", .denied)
        try settle(bound, in: 50)
        let answer = try administrator().call("EndSessionGrants")
        #expect(answer.parameters["count"]?.integer == 1)
        #expect(try status(bound) == "notDetermined" && status(lasting) == "full" && status(denied) == "denied")
        #expect(try administrator().call("EndSessionGrants", #"{"app":"none"}"#).error == "UnknownApp")
    }

    @Test("Root revokes and resets an app for all users at once, and the audit says who did it")
    func everybody() throws {
        let apps = try [1_000, 1_001, 1_002].map { try fixture.app("mail", .full, uid: $0) }
        let other = try fixture.app("chat", .full, uid: 1_001)
        let root = administrator(uid: 0)
        #expect(try root.call("SetGrant", #"{"app":"mail","status":"denied","allUsers":true}"#).error == nil)
        for app in apps { #expect(try status(app) == "denied") }
        #expect(try status(other) == "full")
        #expect(try fixture.audit(.revocation) == Array(repeating: "denied by root", count: 3))
        let listed = try root.call("ListGrants", #"{"uid":1001}"#).parameters["grants"]?.elements.map(Array.init) ?? []
        let mail = listed.first { $0["app"]?.string == "mail" }
        #expect(mail?["decidedBy"]?.string == "administrator" && mail?["decidedThrough"]?.string == "revoked by root")
        let reset = try root.call("ResetGrant", #"{"app":"mail","allUsers":true}"#)
        #expect(reset.parameters["count"]?.integer == 3)
        for app in apps { #expect(try status(app) == "notDetermined") }
        #expect(
            try fixture.audit(.revocation).suffix(3) == Array(repeating: "notDetermined reset, by root", count: 3)[...])
        #expect(try root.call("ResetGrant", #"{"app":"mail","allUsers":true}"#).error == "UnknownApp")
    }
}
