import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerBooks
@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Resets and silenced apps")
struct ResetTests {
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let administrator: TestApp

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        person = try TestPerson(fixture: fixture)
        administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    private static let query = #"{"query":"ada"}"#

    /// The app prompts until it must wait; the person dismisses its prompts.
    private func bother(_ app: TestApp) throws {
        for _ in 1...2 {
            let call = try app.begin("RequestContacts", Self.query)
            _ = fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 }
            guard !call.isOver else { break }
            try person.answer(try #require(try person.prompts().last))
            try #require(fixture.loop.run { call.isOver })
        }
        try #require(try app.call("RequestContacts", Self.query).error == "TooManyPrompts")
    }

    private func isAsked(_ name: String, _ strength: IdentityStrength) throws -> Bool {
        let app = try fixture.app(name, strength: strength)
        let call = try app.begin("RequestContacts", Self.query)
        _ = fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 }
        let isAsked = !call.isOver
        app.hangUp()
        return isAsked
    }

    private func reset(_ fields: String = "", method: String = "ResetGrant") throws -> Answer {
        try administrator.call(method, "{\(fields)}")
    }

    private func reasons(_ name: String, _ strength: IdentityStrength) throws -> String {
        try administrator.call("ExplainDecision", #"{"app":"\#(name)","strength":"\#(strength.rawValue)"}"#)
            .strings("reasons").joined(separator: "\n")
    }

    @Test(
        "A reset app may prompt at once, whatever its back-off",
        arguments: [IdentityStrength.installed, .unverified])
    func denied(strength: IdentityStrength) throws {
        let app = try fixture.app("mail", .denied, strength: strength)
        for _ in 1...14 {
            try bother(app)
            fixture.loop.advance(by: .seconds(24 * 3_600))
        }
        try bother(app)
        #expect(try reasons("mail", strength).contains("it has to wait"))
        #expect(try reset(#""app":"mail""#).parameters["count"]?.integer == 1)
        #expect(try !reasons("mail", strength).contains("it has to wait"))
        #expect(try isAsked("mail", strength))
    }

    @Test("An undecided app can be reset too, and a reset of an unknown app is an error")
    func undecided() throws {
        try bother(fixture.app("mail", strength: .installed))
        try bother(fixture.app("chat", strength: .installed))
        #expect(try reset(#""app":"nobody""#).error == "UnknownApp")
        #expect(try reset(#""app":"mail","strength":"sandboxed""#).error == "UnknownApp")
        #expect(try reset(#""app":"mail""#).parameters["count"]?.integer == 1)
        #expect(try isAsked("mail", .installed))
        // The other app still backs off.
        #expect(
            try fixture.app("chat", strength: .installed).call("RequestContacts", Self.query).error == "TooManyPrompts")
    }

    @Test("Resetting an unverified program removes its back-off and the limits that it shares with others")
    func crowd() throws {
        func isLine(_ name: String) throws -> Bool {
            let call = try fixture.app(name, strength: .unverified).begin("RequestContacts", Self.query)
            try #require(fixture.loop.run { fixture.prompts.openCount(1_000) > 0 })
            let prompt = try #require(try person.prompts().last)
            try person.answer(prompt)
            try #require(fixture.loop.run { call.isOver })
            return prompt.isQuiet
        }
        for number in 1...8 { #expect(try !isLine("program\(number)")) }
        #expect(try isLine("program9"))
        try bother(fixture.app("tool", strength: .unverified))
        // A program that never asked is unknown, although it shares the limits.
        #expect(try reset(#""app":"other""#).error == "UnknownApp")
        _ = try reset(#""app":"tool","strength":"unverified""#)
        #expect(try isAsked("tool", .unverified))
        #expect(try !isLine("program10"))
    }

    @Test("A reset does not affect another user's apps")
    func otherUser() throws {
        let other = try fixture.app("mail", strength: .installed, uid: 1_001)
        let neighbour = try TestPerson(fixture: fixture, uid: 1_001)
        for _ in 1...2 {
            let call = try other.begin("RequestContacts", Self.query)
            try #require(fixture.loop.run { fixture.prompts.openCount(1_001) > 0 })
            try neighbour.answer(try #require(try neighbour.prompts().last))
            try #require(fixture.loop.run { call.isOver })
        }
        #expect(try reset(#""app":"mail""#).error == "UnknownApp")
        #expect(try other.call("RequestContacts", Self.query).error == "TooManyPrompts")
    }

    @Test(
        "While many grants end, the broker serves other callers",
        arguments: ["ResetGrant", "EndSessionGrants", "expired"])
    func many(how: String) throws {
        let limit = fixture.surroundings.limits.grantsPerIteration
        let access = fixture.access
        let count = 640
        for number in 1...count {
            var principal = Principal(uid: 1_000, strength: .sandboxed, app: "app \(number)")
            if how == "EndSessionGrants" {
                principal = principal.bound(to: .process(ProcessIdentity(pid: Int32(number), startTime: 1)))
            }
            _ = try access.makeIdentifiers(for: principal, sharesPersistentKey: true)
            var grant = Grant(
                access: .full, revision: access.nextRevision(), decidedBy: .person,
                decidedAt: fixture.surroundings.seconds)
            if how == "expired" { grant.lifetime = .untilTime(fixture.surroundings.seconds) }
            access.setGrant(grant, for: principal, displayName: "app", at: SetMoment(change: 0, time: 0))
        }
        fixture.groupCommit.flush()
        let before = access.principals.count
        // Looks in each iteration, as another caller could, and calls in one of them.
        let reader = try fixture.app("keeper")
        var (left, isServed) = ([before], false)
        func look() {
            left.append(access.principals.count)
            if left.count == 4 {
                let call = try? reader.begin("GetAuthorization", turning: false)
                isServed = call?.isOver == true
            }
            if left.last != before - count, left.count < 100 { fixture.loop.later(look) }
        }
        fixture.loop.later(look)
        if how == "expired" {
            // The first look-up of an expired grant ends all of them. A timer would end them after the last look.
            #expect(try fixture.app("app 1", strength: .sandboxed).call("GetAuthorization").error == nil)
        } else {
            let answer = try reset(method: how)
            #expect(answer.error == nil && answer.parameters["count"]?.integer ?? 0 >= count)
        }
        #expect(access.principals.filter { $0.strength == .sandboxed }.isEmpty)
        #expect(zip(left, left.dropFirst()).allSatisfy { $0 - $1 <= limit + 1 }, "\(left)")
        #expect(left.count > 10 && isServed)
        #expect(try fixture.audit(.revocation).count >= count)
    }

    @Test("A silenced app is listed and explained, with and without a grant")
    func silenced() throws {
        let file = "/opt/game/run sha256:ab"
        for (name, strength) in [(file, IdentityStrength.unverified), ("mail", .installed)] {
            let app = try fixture.app(name, strength: strength)
            let call = try app.begin("RequestContacts", Self.query)
            try #require(fixture.loop.run { fixture.prompts.openCount(1_000) > 0 })
            try person.answer(try #require(try person.prompts().last), #""neverAskAgain":true"#)
            try #require(fixture.loop.run { call.isOver })
        }
        try fixture.grant(.limited(to: []), to: fixture.app("mail", strength: .installed))
        for _ in 1...2 {
            let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
            let grants = try administrator.call("ListGrants").parameters["grants"]?.elements.map(Array.init) ?? []
            #expect(grants.compactMap { $0["app"]?.string } == ["keeper", "mail", file])
            #expect(grants.map { $0["silenced"]?.bool == true } == [false, true, true])
            #expect(grants.map { $0["status"]?.string } == ["full", "limited", "notDetermined"])
            #expect(grants.last?["displayName"]?.string == "run")
            let why = try administrator.call("ExplainDecision", #"{"app":"\#(file)"}"#)
            #expect(
                why.strings("reasons").contains {
                    $0.hasSuffix("you are not asked about it")
                })
            #expect(why.parameters["status"]?.string == "notDetermined")
            try fixture.restart()
        }
        let later = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        #expect(try later.call("ResetGrant", #"{"app":"\#(file)"}"#).error == nil)
        #expect(try later.call("ListGrants").parameters["grants"]?.count == 2)
        // Another user's list does not contain it.
        #expect(try later.call("ListGrants", #"{"uid":1001}"#).parameters["grants"]?.count == 0)
    }
}

@Suite("The status that a user gets from the system's broker")
struct OwnStatusTests {
    @Test("A user gets their own prompts and counts without a password, and none of other users")
    func own() throws {
        let authority = TestAuthority()
        let fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada")
        let other = try fixture.app("secret", .full, uid: 1_001)
        _ = try other.call("GetAuthorization")
        _ = try other.begin("RequestContacts", #"{"query":"x"}"#)
        let waiting = try fixture.app("waits", uid: 1_001).begin("RequestAccess")
        _ = fixture.loop.run { fixture.prompts.openCount(1_001) > 0 }
        let mine = try fixture.app("mail").begin("RequestAccess")
        _ = fixture.loop.run { fixture.prompts.openCount(1_000) > 0 }
        try #require(!waiting.isOver && !mine.isOver)
        let user = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", strength: .unverified), interface: .admin)
        let pending = try user.call("ListPending").parameters["prompts"]?.elements.map(Array.init) ?? []
        #expect(pending.map { $0["app"]?.string } == ["mail"])
        fixture.problems.note(.unavailable(reason: "the other's"), of: 1_001)
        let status = try #require(try user.call("GetStatus").parameters["status"])
        #expect(status["promptsOpen"]?.integer == 1 && status["grants"]?.integer == 1)
        // The connections of two apps, and the user's own.
        #expect(status["connections"]?.integer == 3)
        #expect(status["auditRecords"] == nil && status["lastProblem"] == nil)
        // A user does not see the totals of all sockets.
        #expect(status["openConnections"] == nil && status["heldBytes"] == nil)
        #expect(authority.asked.isEmpty)
        let root = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", uid: 0, strength: .unverified), interface: .admin)
        let whole = try #require(try root.call("GetStatus").parameters["status"])
        // Root's count also includes the connections of the other user's apps and of root.
        #expect(whole["connections"]?.integer == 6)
        #expect(whole["auditRecords"] != nil && whole["lastProblem"] != nil)
        #expect(whole["openConnections"]?.integer == 7 && whole["openConnectionsLimit"]?.integer == 9)
        #expect(whole["heldBytes"]?.integer == 8 && whole["heldBytesLimit"]?.integer == 10)
    }
}

@Suite("The purpose in the record of a prompt")
struct PurposeRecordTests {
    @Test("The record shows whether two purposes are the same, but not their text")
    func hash() throws {
        let fixture = try BrokerFixture()
        let person = try TestPerson(fixture: fixture)
        for reason in [#""purpose":"to send cards""#, #""purpose":"to send cards""#, #""purpose":"to call""#, ""] {
            let app = try fixture.app("mail", strength: .installed)
            let call = try app.begin("RequestAccess", "{\(reason)}")
            try #require(fixture.loop.run { fixture.prompts.openCount(1_000) > 0 })
            try person.answer(try #require(try person.prompts().last))
            try #require(fixture.loop.run { call.isOver })
            fixture.loop.advance(by: .seconds(600))
        }
        let records = try fixture.audit(.prompt)
        #expect(records.count == 4 && records[0] == records[1] && records[1] != records[2])
        // The first 16 digits of the SHA-256 of the text.
        #expect(records[0] == "access purpose:\(try #require(purposeHash(of: "to send cards")))")
        #expect(purposeHash(of: "abc") == "ba7816bf8f01cfea")
        #expect(records[3] == "access")
    }
}
