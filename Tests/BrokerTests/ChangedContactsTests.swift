import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@Suite("The bound on contacts that imitable apps change without a password")
struct ChangedContactsTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        // Only what apps of a strong identity change does not count.
        keeper = try fixture.app("keeper", .full, strength: .sandboxed)
        #expect(try keeper.save((0..<60).map { .add(given: "C\($0)") }).error == nil)
        person = try TestPerson(fixture: fixture)
    }

    private func updates(_ range: Range<Int>, by app: TestApp) throws -> [Change] {
        var found: [String: String] = [:]
        for contact in try app.fetch().contacts {
            found[contact["givenName"]?.string ?? ""] = contact["identifier"]?.string
        }
        return try range.map {
            .update(try #require(found["C\($0)"]), #""jobTitle":"\#(Int.random(in: 0..<1_000_000))""#)
        }
    }

    @Test("All such apps together change 25 contacts a day; then a save asks, and needs the password")
    func bound() throws {
        let strengths: [IdentityStrength] = [.installed, .claimed, .unverified]
        let apps = try strengths.map { try fixture.app("app\($0.rawValue)", .full, strength: $0) }
        for (index, app) in apps.enumerated() {
            #expect(try app.save(updates(index * 8..<index * 8 + 8, by: app)).error == nil)
        }
        // The same contacts again count once.
        #expect(try apps[0].save(updates(8..<24, by: apps[0])).error == nil)
        #expect(try apps[1].save(updates(24..<26, by: apps[1])).error == "RecordNotWritable")
        #expect(try apps[1].save(updates(24..<25, by: apps[1])).error == nil)
        #expect(try apps[2].save(updates(25..<26, by: apps[2])).error == "RecordNotWritable")
        #expect(try apps[2].save(updates(0..<25, by: apps[2])).error == nil)

        let call = try apps[2].begin(saving: updates(25..<27, by: apps[2]))
        try #require(fixture.loop.run { (try? person.told().count) == 1 || call.isOver })
        let prompt = try #require(person.prompts().last)
        let told = try #require(person.told().last)
        #expect(told["changes"]?.string == "all" && told["grantedChanges"]?.string == "all")
        for answer in [AuthorityAnswer.refused, .granted] {
            let answered = try person.begin(answering: prompt, #""allow":"once""#)
            #expect(authority.open.map(\.action) == [.change])
            #expect(authority.open.map(\.access) == ["change 2 contacts"])
            #expect(!call.isOver)
            try authority.answer(answer)
            let error = try person.agent.replies(1, to: answered)[0].error
            #expect(error == (answer == .granted ? nil : "AuthenticationFailed"))
        }
        fixture.acceptedAnswers += 1
        #expect(try apps[2].replies(1, to: call)[0].error == nil)
        // What the password allowed does not count, and allows nothing else.
        #expect(try apps[0].save(updates(30..<31, by: apps[0])).error == "RecordNotWritable")
    }

    @Test("Its own cards of the last day, and what strong apps change, do not count; after a day nothing does")
    func others() throws {
        let app = try fixture.app("mail", .full, strength: .installed)
        #expect(try app.save((100..<150).map { .add(given: "C\($0)") }).error == nil)
        #expect(try app.save(updates(100..<150, by: app)).error == nil)
        #expect(try keeper.save(updates(0..<60, by: keeper)).error == nil)
        #expect(try app.save(updates(0..<25, by: app)).error == nil)
        #expect(try app.save(updates(25..<26, by: app)).error == "RecordNotWritable")
        fixture.loop.advance(by: .seconds(86_401))
        #expect(try app.save(updates(25..<50, by: app)).error == nil)
        #expect(try app.save(updates(100..<101, by: app)).error == "RecordNotWritable")
    }

    @Test("Deletions count as changes do, and a save that fails is made in no part")
    func deletions() throws {
        let app = try fixture.app("mail", .full, strength: .unverified)
        let contacts = try app.fetch().contacts.compactMap { $0["identifier"]?.string }
        #expect(try app.save(contacts.prefix(26).map { .delete($0) }).error == "RecordNotWritable")
        #expect(try keeper.fetch().names.count == 60)
        // A save that is not made does not count.
        let stale = contacts.prefix(25).map {
            #"{"operation":"delete","contact":{"identifier":"\#($0)"},"unchangedSince":"0"}"#
        }
        #expect(try app.save(stale.map { .other($0) }).error == "RecordChanged")
        #expect(try app.save(contacts.suffix(5).map { .delete($0) }).error == nil)
        #expect(try app.save(contacts.prefix(21).map { .delete($0) }).error == "RecordNotWritable")
        #expect(try app.save(contacts.prefix(20).map { .delete($0) }).error == nil)
        #expect(try app.save([.delete(contacts[30])]).error == "RecordNotWritable")
        #expect(try keeper.fetch().names.count == 35)
    }

    @Test("Saves that wait together do not pass the bound together")
    func together() throws {
        let apps = try (0..<4).map { try fixture.app("app\($0)", .full, strength: .unverified) }
        let calls = try apps.enumerated().map { index, app in
            let steps = try updates(index * 15..<index * 15 + 15, by: app).map(\.text).joined(separator: ",")
            return (app, steps)
        }.map { app, steps in
            (app, try app.begin("SaveContacts", #"{"changes":[\#(steps)],"mayAsk":false}"#, turning: false))
        }
        let errors = try calls.map { try $0.0.replies(1, to: $0.1)[0].error }
        #expect(errors.count { $0 == nil } == 1 && errors.count { $0 == "RecordNotWritable" } == 3)
    }
}
