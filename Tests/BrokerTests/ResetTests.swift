import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore

/// What the person takes back of their own sternness, and where they see that it is there.
@Suite("Asking again, and being told who waits")
struct ResetTests {
    private let house: BrokerHouse
    private let person: TestPerson
    private let administrator: TestApp

    init() throws {
        house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        person = try TestPerson(house: house)
        administrator = TestApp(house: house, caller: house.caller("contactctl"), door: .admin)
    }

    private static let query = #"{"query":"ada"}"#

    /// Asks and is dismissed, until the app must wait.
    private func bother(_ app: TestApp) throws {
        let call = try app.begin("RequestContacts", Self.query)
        try #require(house.loop.run { house.broker.prompts.openCount(1_000) > 0 })
        try person.answer(try #require(try person.prompts().last))
        try #require(house.loop.run { call.isOver })
        try #require(try app.call("RequestContacts", Self.query).error == "TooManyPrompts")
    }

    private func isAsked(_ name: String, _ strength: IdentityStrength) throws -> Bool {
        let app = try house.app(name, strength: strength)
        let call = try app.begin("RequestContacts", Self.query)
        _ = house.loop.run { call.isOver || house.broker.prompts.openCount(1_000) > 0 }
        let isAsked = !call.isOver
        app.hangUp()
        return isAsked
    }

    private func reset(_ fields: String) throws -> Answer { try administrator.call("ResetGrant", "{\(fields)}") }

    private func reasons(_ name: String, _ strength: IdentityStrength) throws -> String {
        try administrator.call("ExplainDecision", #"{"app":"\#(name)","strength":"\#(strength.rawValue)"}"#)
            .strings("reasons").joined(separator: "\n")
    }

    @Test(
        "An app that is reset may be asked about at once, whatever it had to wait for",
        arguments: [IdentityStrength.installed, .unverified])
    func denied(strength: IdentityStrength) throws {
        let app = try house.app("mail", .denied, strength: strength)
        for _ in 1...14 {
            try bother(app)
            house.loop.advance(by: .seconds(24 * 3_600))
        }
        try bother(app)
        #expect(try reasons("mail", strength).contains("it has to wait"))
        #expect(try reset(#""app":"mail""#).parameters["count"]?.integer == 1)
        #expect(try !reasons("mail", strength).contains("it has to wait"))
        #expect(try isAsked("mail", strength))
    }

    @Test("One that nothing was decided about is asked about again too; of one that nothing is known of, it is said")
    func undecided() throws {
        try bother(house.app("mail", strength: .installed))
        try bother(house.app("chat", strength: .installed))
        #expect(try reset(#""app":"nobody""#).error == "UnknownApp")
        #expect(try reset(#""app":"mail","strength":"sandboxed""#).error == "UnknownApp")
        #expect(try reset(#""app":"mail""#).parameters["count"]?.integer == 1)
        #expect(try isAsked("mail", .installed))
        // The other one waits on.
        #expect(
            try house.app("chat", strength: .installed).call("RequestContacts", Self.query).error == "TooManyPrompts")
    }

    @Test("A program without a lasting name waits with its crowd, and is asked about once that is forgotten")
    func crowd() throws {
        let app = try house.app("tool", strength: .unverified)
        try bother(app)
        // Of another crowd member that is not there nothing is known.
        #expect(try reset(#""app":"other""#).error == "UnknownApp")
        _ = try reset(#""app":"tool","strength":"unverified""#)
        #expect(try isAsked("tool", .unverified))
    }

    @Test("Another user's apps wait on")
    func otherUser() throws {
        let other = try house.app("mail", strength: .installed, uid: 1_001)
        let call = try other.begin("RequestContacts", Self.query)
        try #require(house.loop.run { house.broker.prompts.openCount(1_001) > 0 })
        house.loop.advance(by: .seconds(6))
        try #require(call.isOver)
        #expect(try reset(#""app":"mail""#).error == "UnknownApp")
        #expect(try other.call("RequestContacts", Self.query).error == "TooManyPrompts")
    }

    @Test("An app that is never to be asked about is listed and explained, with and without a grant")
    func silenced() throws {
        let file = "/opt/game/run sha256:ab"
        for (name, strength) in [(file, IdentityStrength.unverified), ("mail", .installed)] {
            let app = try house.app(name, strength: strength)
            let call = try app.begin("RequestContacts", Self.query)
            try #require(house.loop.run { house.broker.prompts.openCount(1_000) > 0 })
            try person.answer(try #require(try person.prompts().last), #""neverAskAgain":true"#)
            try #require(house.loop.run { call.isOver })
        }
        try house.grant(.limited(to: []), to: house.app("mail", strength: .installed))
        for _ in 1...2 {
            let administrator = TestApp(house: house, caller: house.caller("contactctl"), door: .admin)
            let grants = try administrator.call("ListGrants").parameters["grants"]?.elements.map(Array.init) ?? []
            #expect(grants.compactMap { $0["app"]?.string } == ["keeper", "mail", file])
            #expect(grants.map { $0["silenced"]?.bool == true } == [false, true, true])
            #expect(grants.map { $0["status"]?.string } == ["full", "limited", "notDetermined"])
            #expect(grants.last?["displayName"]?.string == "run")
            let why = try administrator.call("ExplainDecision", #"{"app":"\#(file)"}"#)
            #expect(
                why.strings("reasons").contains { $0.hasSuffix("the person is not asked to pick or to share for it") })
            #expect(why.parameters["status"]?.string == "notDetermined")
            try house.restart()
        }
        let later = TestApp(house: house, caller: house.caller("contactctl"), door: .admin)
        #expect(try later.call("ResetGrant", #"{"app":"\#(file)"}"#).error == nil)
        #expect(try later.call("ListGrants").parameters["grants"]?.count == 2)
        // Another user's list has none of it.
        #expect(try later.call("ListGrants", #"{"uid":1001}"#).parameters["grants"]?.count == 0)
    }
}

@Suite("What the system's broker tells a user about itself")
struct OwnStatusTests {
    @Test("One's own questions and numbers want no password; those of others do, and are in no number of one's own")
    func own() throws {
        let authority = TestAuthority()
        let house = try BrokerHouse(authority: authority)
        try house.keeper(adding: "Ada")
        let other = try house.app("secret", .full, uid: 1_001)
        _ = try other.call("GetAuthorization")
        _ = try other.begin("RequestContacts", #"{"query":"x"}"#)
        let waiting = try house.app("waits", uid: 1_001).begin("RequestAccess")
        _ = house.loop.run { house.broker.prompts.openCount(1_001) > 0 }
        let mine = try house.app("mail").begin("RequestAccess")
        _ = house.loop.run { house.broker.prompts.openCount(1_000) > 0 }
        try #require(!waiting.isOver && !mine.isOver)
        let user = TestApp(house: house, caller: house.caller("contactctl", strength: .unverified), door: .admin)
        let pending = try user.call("ListPending").parameters["prompts"]?.elements.map(Array.init) ?? []
        #expect(pending.map { $0["app"]?.string } == ["mail"])
        house.broker.app.problems.note(.unavailable(reason: "the other's"), of: 1_001)
        let status = try #require(try user.call("GetStatus").parameters["status"])
        #expect(status["promptsOpen"]?.integer == 1 && status["grants"]?.integer == 1)
        // Two apps' and the user's own.
        #expect(status["connections"]?.integer == 3)
        #expect(status["auditRecords"] == nil && status["lastProblem"] == nil)
        #expect(authority.asked.isEmpty)
        let root = TestApp(
            house: house, caller: house.caller("contactctl", uid: 0, strength: .unverified), door: .admin)
        let whole = try #require(try root.call("GetStatus").parameters["status"])
        // With those of the other user's apps, and root's.
        #expect(whole["connections"]?.integer == 6)
        #expect(whole["auditRecords"] != nil && whole["lastProblem"] != nil)
    }
}

@Suite("What the record of a question keeps of its reason")
struct PurposeRecordTests {
    @Test("Whether it is the same as another time, and not what it says")
    func hash() throws {
        let house = try BrokerHouse()
        let person = try TestPerson(house: house)
        for reason in [#""purpose":"to send cards""#, #""purpose":"to send cards""#, #""purpose":"to call""#, ""] {
            let app = try house.app("mail", strength: .installed)
            let call = try app.begin("RequestAccess", "{\(reason)}")
            try #require(house.loop.run { house.broker.prompts.openCount(1_000) > 0 })
            try person.answer(try #require(try person.prompts().last))
            try #require(house.loop.run { call.isOver })
            house.loop.advance(by: .seconds(600))
        }
        let records = try house.audit(.prompt)
        #expect(records.count == 4 && records[0] == records[1] && records[1] != records[2])
        // The first 16 digits of what sha256sum says of the words.
        #expect(records[0] == "access purpose:\(try #require(purposeHash(of: "to send cards")))")
        #expect(purposeHash(of: "abc") == "ba7816bf8f01cfea")
        #expect(records[3] == "access")
    }
}
