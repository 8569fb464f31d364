import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("Listing and putting back at the agent what an app changed")
struct AgentPutBackTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let keeper, mail: TestApp
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        keeper = try fixture.app("keeper", .full, strength: .sandboxed)
        mail = try fixture.app("mail", .full, strength: .sandboxed)
        let reply = try keeper.save(["Ada", "Bob", "Cid"].map { .add(given: $0) })
        try #require(reply.error == nil)
        person = try TestPerson(fixture: fixture)
    }

    private func parameters(_ cookie: String, _ more: String = "", of person: TestPerson? = nil) -> String {
        #"{"agent":"\#((person ?? self.person).token)","cookie":"\#(cookie)"\#(more.isEmpty ? "" : ",")\#(more)}"#
    }

    private func saves(_ prompt: TestPerson.Prompt) throws -> [JSONValue] {
        let answer = try person.agent.call("ListChanges", parameters(prompt.cookie))
        #expect(answer.error == nil)
        return answer.parameters["saves"]?.elements.map(Array.init) ?? []
    }

    private func putBack(_ prompt: TestPerson.Prompt, _ more: String) throws -> Answer {
        try person.agent.call("PutBack", parameters(prompt.cookie, more))
    }

    private func counts(_ answer: Answer) -> [String: Int64] {
        let names = ["returned", "changed", "removed", "conflicts", "lost", "groups"]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, answer.parameters[$0]?.integer ?? -1) })
            .filter { $0.value != 0 }
    }

    /// The names and identifiers of what a dry run says.
    private func contacts(_ answer: Answer) -> [String: String] {
        let rows = answer.parameters["contacts"]?.elements.map(Array.init) ?? []
        return Dictionary(
            uniqueKeysWithValues: rows.map {
                ($0["contact"]?["givenName"]?.string ?? "", $0["identifier"]?.string ?? "")
            })
    }

    private func records(_ event: String) throws -> [JSONValue] {
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        return try root.call("QueryAudit", #"{"uid":1000,"event":"\#(event)"}"#).parameters["records"]?.elements
            .map(Array.init) ?? []
    }

    @Test("The saves of the app are listed with names, and a save, a contact and all later saves come back, on record")
    func comesBack() throws {
        #expect(try mail.save([.delete(mail.identifier(of: "Ada")), .delete(mail.identifier(of: "Bob"))]).error == nil)
        #expect(try mail.save([.add(given: "Dan")]).error == nil)
        let review = try #require(try person.manage(mail))
        let listed = try saves(review)
        #expect(listed.map { $0["deleted"]?.integer } == [0, 2] && listed.allSatisfy { $0["app"]?.string == "mail" })
        let names = listed.last?["contacts"]?.elements?.compactMap { $0["contact"]?["givenName"]?.string }
        #expect(names == ["Ada", "Bob"])
        let save = try #require(listed.last?["number"]?.integer)
        let would = try putBack(review, #""save":\#(save),"dryRun":true"#)
        #expect(counts(would) == ["returned": 2])
        #expect(try mail.fetch().names == ["Cid", "Dan"])
        let ada = try #require(contacts(would)["Ada"])
        #expect(counts(try putBack(review, #""save":\#(save),"contact":"\#(ada)""#)) == ["returned": 1])
        #expect(try mail.fetch().names == ["Ada", "Cid", "Dan"])
        #expect(counts(try putBack(review, #""save":\#(save),"later":true"#)) == ["returned": 1, "removed": 1])
        #expect(try mail.fetch().names == ["Ada", "Bob", "Cid"])
        #expect(try records("lookUp").count == 2)
        #expect(
            try records("lookUp").allSatisfy { $0["detail"]?.string?.hasPrefix("contacts in the bin, by ") == true })
        let details = try records("save").suffix(2).map { $0["detail"]?.string }
        #expect(details == Array(repeating: "put back, without a password", count: 2))
        #expect(authority.actions == [.answer])
    }

    @Test("What somebody else has changed since stays, unless forced")
    func conflicts() throws {
        #expect(try mail.save([.update(mail.identifier(of: "Ada"), #""nickname":"n""#)]).error == nil)
        #expect(try keeper.save([.update(keeper.identifier(of: "Ada"), #""nickname":"k""#)]).error == nil)
        let review = try #require(try person.manage(mail))
        let save = try #require(try saves(review).first?["number"]?.integer)
        #expect(counts(try putBack(review, #""save":\#(save)"#)) == ["conflicts": 1])
        // Both sides are shown of one contact, and of no more.
        let all = try putBack(review, #""save":\#(save),"dryRun":true"#)
        let ada = try #require(contacts(all)["Ada"])
        let one = try putBack(review, #""save":\#(save),"contact":"\#(ada)","dryRun":true"#)
        #expect(all.parameters["now"] == nil && all.parameters["then"] == nil)
        #expect(["now", "then"].map { one.parameters[$0]?["nickname"]?.string } == ["k", ""])
        #expect(counts(try putBack(review, #""save":\#(save),"force":true"#)) == ["changed": 1])
    }

    @Test("A save that changed only a group is put back")
    func groups() throws {
        #expect(try mail.save([.other(#"{"operation":"add","group":{"name":"Family"}}"#)]).error == nil)
        let review = try #require(try person.manage(mail))
        let save = try #require(try saves(review).first?["number"]?.integer)
        #expect(try mail.call("ListGroups").text.contains("Family"))
        #expect(counts(try putBack(review, #""save":\#(save)"#)) == ["groups": 1])
        #expect(try !mail.call("ListGroups").text.contains("Family"))
    }

    @Test("A save of another app, of none, or of another strength is as one that the bin never had")
    func foreign() throws {
        #expect(try mail.save([.delete(mail.identifier(of: "Ada"))]).error == nil)
        let review = try #require(try person.manage(keeper))
        #expect(try saves(review).map { $0["app"]?.string } == ["keeper"])
        for save in [2, 99, 0] {
            for more in [#","dryRun":true"#, "", #","force":true,"later":true"#] {
                let answer = try putBack(review, #""save":\#(save)\#(more)"#)
                #expect(answer.error == nil && counts(answer).isEmpty, "\(save)\(more)")
            }
        }
        let other = try fixture.app("mail", .full, strength: .installed)
        #expect(try saves(try #require(try person.manage(other))).isEmpty)
        #expect(try mail.fetch().names == ["Bob", "Cid"])
        let wrong = try #require(try person.manage(mail))
        for more in [
            #""save":2,"contact":"x""#, #""save":2,"contact":"x","later":true"#, "", #""save":-1"#,
            #""save":2,"many":true"#,
        ] {
            #expect(try putBack(wrong, more).error != nil, "\(more)")
        }
        #expect(try mail.fetch().names == ["Bob", "Cid"])
    }

    @Test("Only a served agent of the user may call, and only while the review of the app is open")
    func callers() throws {
        #expect(try mail.save([.delete(mail.identifier(of: "Ada"))]).error == nil)
        let review = try #require(try person.manage(mail))
        let other = try TestPerson(fixture: fixture, uid: 1_001)
        let stranger = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        for (method, more) in [("ListChanges", ""), ("PutBack", #""save":2"#)] {
            let own = parameters(review.cookie, more)
            // Another user's agent has neither this token nor this prompt.
            #expect(try other.agent.call(method, own).error == "NotAnAgent")
            #expect(try other.agent.call(method, parameters(review.cookie, more, of: other)).error == "UnknownPrompt")
            #expect(try person.agent.call(method, own.replacing(person.token, with: "x")).error == "NotAnAgent")
            #expect(try stranger.call(method, own.replacing(person.token, with: other.token)).error == "NotAnAgent")
            #expect(try person.agent.call(method, parameters("x", more)).error == "UnknownPrompt")
            #expect(try mail.call(method, own).error == "MethodNotFound")
        }
        // A prompt of another kind shows no names.
        let asking = try fixture.app("asking")
        _ = try asking.begin("RequestAccess", "{}")
        let prompt = try #require(try person.prompts().first)
        #expect(try person.agent.call("ListChanges", parameters(prompt.cookie)).error == "InvalidParameter")
        #expect(try putBack(prompt, #""save":2"#).error == "InvalidParameter")
        try person.answer(review)
        #expect(try person.agent.call("ListChanges", parameters(review.cookie)).error == "UnknownPrompt")
        #expect(try putBack(review, #""save":2"#).error == "UnknownPrompt")
        #expect(try mail.fetch().names == ["Bob", "Cid"])
    }

    @Test("More than 25 contacts in a day need the password, counted together with the administrator's socket")
    func passwords() throws {
        #expect(try keeper.save((0..<40).map { .add(given: "C\($0)") }).error == nil)
        let identifiers = try mail.fetch(#""sortOrder":"none","limit":100"#).contacts.compactMap { contact in
            contact["givenName"]?.string?.hasPrefix("C") == true ? contact["identifier"]?.string : nil
        }
        for range in [0..<20, 20..<30] {
            #expect(try mail.save(identifiers[range].map { .delete($0) }).error == nil)
        }
        let review = try #require(try person.manage(mail))
        let numbers = try saves(review).compactMap { $0["number"]?.integer }
        try #require(numbers.count == 2)
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        #expect(try ctl.call("PutBack", #"{"save":\#(numbers[1])}"#).parameters["returned"]?.integer == 20)
        let more = parameters(review.cookie, #""save":\#(numbers[0])"#)
        // A dry run needs none.
        #expect(counts(try putBack(review, #""save":\#(numbers[0]),"dryRun":true"#)) == ["returned": 10])
        for answer in [AuthorityAnswer.refused, .absent] {
            let call = try person.agent.begin("PutBack", more)
            try #require(fixture.loop.run { !authority.open.isEmpty })
            #expect(authority.open.map(\.action) == [.putBack])
            try authority.answer(answer)
            try #require(fixture.loop.run { call.isOver })
            #expect(try person.agent.replies(to: call).map(\.error) == ["AuthenticationFailed"])
        }
        #expect(try mail.fetch(#""limit":100"#).contacts.count == 33)
        // The review ends while the broker waits for the password.
        let late = try person.agent.begin("PutBack", more)
        try #require(fixture.loop.run { !authority.open.isEmpty })
        try person.answer(review)
        try authority.answer(.granted)
        try #require(fixture.loop.run { late.isOver })
        #expect(try person.agent.replies(to: late).map(\.error) == ["UnknownPrompt"])
        let again = try #require(try person.manage(mail))
        let call = try person.agent.begin("PutBack", parameters(again.cookie, #""save":\#(numbers[0])"#))
        try #require(fixture.loop.run { !authority.open.isEmpty })
        try authority.answer(.granted)
        try #require(fixture.loop.run { call.isOver })
        #expect(try mail.fetch(#""limit":100"#).contacts.count == 43)
        #expect(try records("save").last?["detail"]?.string == "put back, with the password")
    }
}
