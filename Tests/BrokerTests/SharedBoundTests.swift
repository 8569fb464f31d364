import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerVarlink
import Testing

@testable import BrokerAdminCalls
@testable import BrokerGrants

@Suite("The bound that all programs of a user share")
struct SharedBoundTests {
    let authority = TestAuthority([.answer: .granted])
    let fixture: BrokerFixture
    let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        _ = try fixture.keeper().save((0..<60).map { .add(given: "N\(10 + $0)") })
        person = try TestPerson(fixture: fixture)
    }

    /// The app requests access, and the person selects the contacts at these positions in the list.
    ///
    /// - Parameter answer: the outcome of the password request, if there is one.
    /// - Returns: whether the answer needed the password.
    private func share(
        _ places: Range<Int>, with app: TestApp, _ answer: AuthorityAnswer = .refused
    ) throws -> Bool {
        _ = try app.begin("RequestAccess")
        let prompt = try #require(person.prompts().first)
        let rows = try person.rows(prompt)[places].map { "\"\($0.identifier)\"" }
        return try needsPassword(
            prompt, #""level":"limited","identifiers":[\#(rows.joined(separator: ","))]"#, answer)
    }

    private func pick(_ places: Range<Int>, for app: TestApp) throws -> Bool {
        _ = try app.begin("PickContacts", #"{"multiple":true}"#)
        let prompt = try #require(person.prompts().first)
        let rows = try person.rows(prompt)[places].map { #"{"contact":"\#($0.identifier)","key":"identifier"}"# }
        return try needsPassword(prompt, #""picked":[\#(rows.joined(separator: ","))]"#)
    }

    /// Answers a prompt. If the password request is refused, dismisses the prompt, which would delay the next one.
    private func needsPassword(
        _ prompt: TestPerson.Prompt, _ fields: String, _ answer: AuthorityAnswer = .refused
    ) throws -> Bool {
        let before = authority.asked.count
        let call = try person.begin(answering: prompt, fields)
        let isAsked = authority.asked.count > before
        if isAsked { try authority.answer(answer) }
        guard isAsked, answer != .granted else {
            #expect(try person.agent.replies(1, to: call)[0].error == nil)
            return isAsked
        }
        #expect(try person.agent.replies(1, to: call)[0].error == "AuthenticationFailed")
        #expect(try person.answer(prompt).error == nil)
        return true
    }

    private static let assumable: [IdentityStrength] = [.installed, .claimed, .unverified]

    @Test("One program under many names gets 25 different contacts a day without the password, and no more")
    func names() throws {
        for (index, strength) in Self.assumable.enumerated() {
            let app = try fixture.app("copy\(index)", strength: strength)
            #expect(try !share(index * 8..<index * 8 + 8, with: app))
        }
        // 24 different contacts so far. Granting the same contacts again does not count.
        #expect(try !share(0..<24, with: try fixture.app("copy3")))
        #expect(try !share(24..<25, with: try fixture.app("copy4")))
        #expect(try share(25..<26, with: try fixture.app("copy5")))
    }

    @Test("Picks count, and count toward later grants")
    func picks() throws {
        #expect(try !pick(0..<20, for: try fixture.app("copy0")))
        #expect(try !pick(10..<25, for: try fixture.app("copy1")))
        #expect(try pick(25..<26, for: try fixture.app("copy2")))
        #expect(try share(30..<31, with: try fixture.app("copy3")))
    }

    @Test("Contacts that were granted with the password do not count")
    func withPassword() throws {
        #expect(try share(0..<26, with: try fixture.app("copy0"), .granted))
        #expect(try !share(26..<51, with: try fixture.app("copy1")))
        #expect(try share(51..<52, with: try fixture.app("copy2")))
    }

    @Test(
        "Each app that no other program can impersonate has its own limit of 25 contacts",
        arguments: [IdentityStrength.labelled, .sandboxed, .service])
    func strong(strength: IdentityStrength) throws {
        #expect(try !share(0..<25, with: try fixture.app("first", strength: strength)))
        #expect(try !share(25..<50, with: try fixture.app("second", strength: strength)))
        #expect(try !share(0..<25, with: try fixture.app("copy")))
    }

    @Test("The bound applies to the last 24 hours")
    func lasting() throws {
        #expect(try !share(0..<25, with: try fixture.app("copy0")))
        fixture.loop.advance(by: .seconds(24 * 3_600 - 60))
        #expect(try share(25..<26, with: try fixture.app("copy1")))
        fixture.loop.advance(by: .seconds(120))
        #expect(try !share(25..<26, with: try fixture.app("copy2")))
        // Entries of the day before are deleted.
        #expect(fixture.access.unconfirmed.records(of: 1_000, since: 0).count == 1)
    }

    @Test("The bound survives a restart, and a purge deletes it")
    func restarted() throws {
        #expect(try !share(0..<25, with: try fixture.app("copy0")))
        try fixture.restart()
        #expect(fixture.access.unconfirmed.records(of: 1_000, since: 0).count == 25)
        fixture.access.beginPurge(of: 1_000)
        #expect(fixture.access.unconfirmed.records(of: 1_000, since: 0).isEmpty)
        fixture.access.endPurge(of: 1_000)
        try fixture.restart()
        #expect(fixture.access.unconfirmed.records(of: 1_000, since: 0).isEmpty)
    }

    @Test(
        "With agent.confirm = password every answer that gives something, and every accepted card, needs the password")
    func confirmed() throws {
        var policy = Policy()
        policy.confirmation = .password
        fixture.reloads.bringIntoForce(policy)
        #expect(try share(0..<1, with: try fixture.app("mail", strength: .sandboxed)))
        #expect(authority.asked.last?.question.access == "1 contact")
        #expect(try pick(0..<1, for: try fixture.app("chat", strength: .sandboxed)))
        let app = try fixture.app("maps", strength: .sandboxed)
        _ = try app.begin("ProposeContact", #"{"contact":{"givenName":"Cid"}}"#)
        #expect(try needsPassword(try #require(person.prompts().first), #""addProposed":true"#))
        // A refusal needs no password.
        let other = try fixture.app("news", strength: .sandboxed)
        _ = try other.begin("RequestAccess")
        #expect(try person.answer(try #require(person.prompts().first), #""level":"denied""#).error == nil)
    }
}
