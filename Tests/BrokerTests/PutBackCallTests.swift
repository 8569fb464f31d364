import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("Listing and putting back what apps changed")
struct PutBackCallTests {
    private let fixture: BrokerFixture
    private let administrator: TestApp
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.app("keeper", .full)
        let names = ["Ada", "Bob", "Cid"]
        let reply = try keeper.save(names.map { .add(given: $0, extra: #","familyName":"Noren""#) })
        try #require(reply.error == nil)
        administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    private func saves(_ parameters: String = "") throws -> [JSONValue] {
        let answer = try administrator.call("ListChanges", "{\(parameters)}")
        #expect(answer.error == nil)
        return answer.parameters["saves"]?.elements.map(Array.init) ?? []
    }

    private func putBack(_ parameters: String, by caller: TestApp? = nil) throws -> Answer {
        try (caller ?? administrator).call("PutBack", "{\(parameters)}")
    }

    private func counts(_ answer: Answer) -> [String: Int64] {
        let names = ["returned", "changed", "removed", "conflicts", "lost", "groups"]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, answer.parameters[$0]?.integer ?? -1) })
            .filter { $0.value != 0 }
    }

    /// The number of the newest save.
    private func last() throws -> Int64 { try #require(try saves().first?["number"]?.integer) }

    private func records(_ event: String) throws -> [JSONValue] {
        try administrator.call("QueryAudit", #"{"event":"\#(event)"}"#).parameters["records"]?.elements.map(Array.init)
            ?? []
    }

    @Test("A save is listed with its app, its time and counts, and with names only on request and on record")
    func lists() throws {
        let mail = try fixture.app("mail", .full)
        #expect(try mail.save([.delete(mail.identifier(of: "Ada")), .add(given: "Dan")]).error == nil)
        let save = try #require(try saves().first)
        #expect(save["app"]?.string == "mail" && save["kind"]?.string == "save")
        #expect(["added", "changed", "deleted"].map { save[$0]?.integer } == [1, 0, 1])
        #expect(save["contacts"]?.elements.map(Array.init)?.isEmpty == true)
        #expect(try mail.save([.other(#"{"operation":"add","group":{"name":"Family"}}"#)]).error == nil)
        #expect(try saves().prefix(2).map { $0["others"]?.integer } == [1, 0])
        #expect(try records("lookUp").isEmpty)
        let named = try saves(#""names":true,"app":"mail""#)
        #expect(named.count == 2)
        let contacts = try #require(named.last?["contacts"]?.elements.map(Array.init))
        #expect(contacts.map { $0["change"]?.string } == ["deleted", "added"])
        #expect(contacts.map { $0["contact"]?["givenName"]?.string } == ["Ada", "Dan"])
        #expect(try records("lookUp").map { $0["detail"]?.string } == ["contacts in the bin"])
        #expect(try saves(#""app":"nobody""#).isEmpty && saves(#""since":"2100-01-01""#).isEmpty)
        let page = try administrator.call("ListChanges", #"{"limit":1}"#).parameters
        #expect(try saves(#""before":\#(page["next"]?.integer ?? 0)"#).map { $0["app"]?.string } == ["mail", "keeper"])
    }

    @Test("A contact that comes back has its identifier, is in apps' histories, and in the sets that it left")
    func comesBack() throws {
        let (kept, lowered, other, reset) =
            (try fixture.app("kept"), try fixture.app("lowered"), try fixture.app("other"), try fixture.app("reset"))
        for app in [kept, lowered, reset] { try fixture.settle(.limited(to: fixture.records("Ada", "Bob")), for: app) }
        try fixture.settle(.limited(to: fixture.records("Bob")), for: other)
        let mail = try fixture.app("mail", .full)
        let (identifier, token) = (try mail.identifier(of: "Ada"), try #require(try mail.fetch().token))
        #expect(try mail.save([.delete(identifier)]).error == nil)
        let save = try last()
        // Only one of the apps still has what it had when the contact was deleted.
        #expect(
            try administrator.call(
                "ChangeGrantedContacts", #"{"app":"lowered","change":"revoke","contacts":["Bob"]"# + "}"
            )
            .error == nil)
        #expect(try administrator.call("ResetGrant", #"{"app":"reset"}"#).error == nil)
        try fixture.settle(.limited(to: fixture.records("Bob")), for: reset)
        let would = try putBack(#""save":\#(save),"dryRun":true,"names":true"#)
        #expect(counts(would) == ["returned": 1])
        #expect(would.parameters["contacts"]?.elements?.compactMap { $0["contact"]?["givenName"]?.string } == ["Ada"])
        #expect(try mail.fetch().names == ["Bob", "Cid"])
        let made = try putBack(#""save":\#(save)"#)
        #expect(counts(made) == ["returned": 1] && made.parameters["contacts"] == nil)
        #expect(try mail.fetch().names == ["Ada", "Bob", "Cid"] && mail.identifier(of: "Ada") == identifier)
        #expect(try kept.fetch().names == ["Ada", "Bob"])
        #expect(try lowered.fetch().names.isEmpty && other.fetch().names == ["Bob"] && reset.fetch().names == ["Bob"])
        let grant = try #require(try records("grant").last { $0["app"]?.string == "kept" })
        #expect(grant["detail"]?.string == "untilRevoked, put back" && grant["contacts"]?.integer == 2)
        let history = try mail.call("FetchHistory", #"{"keys":["givenName"],"token":"\#(token)"}"#).text
        #expect(history.contains(#""givenName":"Ada""#) && history.contains(identifier), "\(history)")
        let record = try #require(try records("save").last)
        #expect(record["app"]?.string == "contactctl" && record["detail"]?.string == "put back")
        #expect(record["contacts"]?.integer == 1)
        // A second time it is as it was already.
        #expect(counts(try putBack(#""save":\#(save)"#)) == [:])
    }

    @Test("What one app changed twice is put back to before the first time, although the person put it back in between")
    func twice() throws {
        let mail = try fixture.app("mail", .full)
        for title in ["x", "y"] {
            #expect(try mail.save([.update(mail.identifier(of: "Ada"), #""jobTitle":"\#(title)""#)]).error == nil)
            if title == "x" { #expect(counts(try putBack(#""app":"mail","since":"2000-01-01""#)) == ["changed": 1]) }
        }
        #expect(counts(try putBack(#""app":"mail","since":"2000-01-01""#)) == ["changed": 1])
        let titles = try mail.call("FetchContacts", #"{"keys":["jobTitle"]}"#).contacts.map { $0["jobTitle"]?.string }
        #expect(titles == ["", "", ""])
    }

    @Test("A contact that the person took from an app in a group stays taken when it is put back")
    func withheld() throws {
        let app = try fixture.app("mail", strength: .sandboxed)
        let ada = try keeper.identifier(of: "Ada")
        let group = try #require(
            try keeper.save([.other(#"{"operation":"add","group":{"name":"Family"}}"#)]).strings("identifiers").first)
        for name in ["Ada", "Bob"] {
            let member = try keeper.identifier(of: name)
            let step =
                #"{"operation":"addMember","group":{"identifier":"\#(group)","name":"Family"},"member":"\#(member)"}"#
            #expect(try keeper.save([.other(step)]).error == nil)
        }
        let person = try TestPerson(fixture: fixture)
        _ = try app.begin("RequestAccess")
        let prompt = try #require(person.prompts().last)
        let row = try #require(person.rows(prompt, query: "Family").first { $0.members != nil })
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        #expect(try app.fetch().names == ["Ada", "Bob"])
        let review = try #require(try person.manage(app))
        let taken = try #require(person.granted(review).first { $0.contact["givenName"]?.string == "Ada" })
        #expect(try person.answer(review, #""level":"limited","removed":["\#(taken.identifier)"]"#).error == nil)
        #expect(try app.fetch().names == ["Bob"])
        #expect(try keeper.save([.delete(ada), .delete(keeper.identifier(of: "Bob"))]).error == nil)
        #expect(counts(try putBack(#""save":\#(last())"#)) == ["returned": 2])
        #expect(try keeper.fetch().names == ["Ada", "Bob", "Cid"])
        #expect(try app.fetch().names == ["Bob"])
    }

    @Test("Whether a contact of a save has a name is said only with the password, and never to another user")
    func namesNeedThePassword() throws {
        let authority = TestAuthority()
        let fixture = try BrokerFixture(authority: authority, mode: .system)
        _ = try fixture.keeper(adding: "Ada")
        let own = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        for name in ["Ada", "Nobody"] {
            let call = try own.begin(
                "PutBack", #"{"save":1,"contact":"\#(name)","dryRun":true,"allowInteractiveAuthentication":true}"#)
            #expect(authority.open.map(\.action) == [.lookUp])
            try authority.answer(.refused)
            #expect(try own.replies(1, to: call)[0].error == "NotAuthorized")
        }
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        for name in ["Ada", "Nobody"] {
            let answer = try root.call("PutBack", #"{"uid":1000,"save":1,"contact":"\#(name)","dryRun":true}"#)
            #expect(answer.error == "InvalidValue" && answer.text.contains("only the user"), "\(answer.text)")
        }
    }

    @Test("What somebody else has changed since stays, unless forced; a contact is named by its whole name")
    func conflicts() throws {
        let mail = try fixture.app("mail", .full)
        for name in ["Ada", "Bob"] {
            #expect(try mail.save([.update(mail.identifier(of: name), #""nickname":"n""#)]).error == nil)
        }
        #expect(try keeper.save([.update(keeper.identifier(of: "Ada"), #""nickname":"k""#)]).error == nil)
        let since = #""app":"mail","since":"2020-01-01""#
        #expect(counts(try putBack(since)) == ["changed": 1, "conflicts": 1])
        #expect(counts(try putBack(since + #","force":true,"dryRun":true"#)) == ["changed": 2])
        #expect(try mail.save([.delete(mail.identifier(of: "Ada")), .delete(mail.identifier(of: "Cid"))]).error == nil)
        let save = #""save":\#(try last())"#
        for (name, isFound) in [("cid NOREN", true), ("Cid", false), ("Noren", false), ("Bob Noren", false)] {
            let answer = try putBack(save + #","contact":"\#(name)","dryRun":true"#)
            #expect((answer.error == nil) == isFound, "\(name)")
        }
        #expect(counts(try putBack(save + #","contact":"Cid Noren""#)) == ["returned": 1])
        #expect(try keeper.fetch().names == ["Bob", "Cid"])
    }

    @Test(
        "A request that names no save, or a save and an app, is refused",
        arguments: [
            "", #""save":1,"app":"mail""#, #""app":"mail""#, #""since":"2020-01-01""#, #""save":99999"#, #""save":-1"#,
            #""app":"mail","since":"2020-01-01","contact":"Ada""#, #""app":"nobody","since":"2020-01-01""#,
        ])
    func mistakes(parameters: String) throws {
        #expect(["InvalidValue", "InvalidParameter"].contains(try putBack(parameters).error ?? ""))
    }

    // MARK: In system mode

    @Test("Names need a password, more than 25 contacts in a day need another, and a few need none")
    func passwords() throws {
        let authority = TestAuthority()
        let fixture = try BrokerFixture(authority: authority)
        let mail = try fixture.app("mail", .full)
        #expect(try mail.save((0..<60).map { .add(given: "Ada\($0)") }).error == nil)
        let identifiers = try mail.fetch(#""sortOrder":"none","limit":100"#).contacts.compactMap {
            $0["identifier"]?.string
        }
        try #require(identifiers.count == 60)
        for range in [0..<20, 20..<40, 40..<45] {
            #expect(try mail.save(identifiers[range].map { .delete($0) }).error == nil)
        }
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        for (method, parameters, action) in [
            ("ListChanges", "{}", AuthorityAction.manageOwn), ("ListChanges", #"{"names":true}"#, .lookUp),
            ("PutBack", #"{"save":2,"names":true,"dryRun":true}"#, .lookUp),
            ("PutBack", #"{"save":2,"many":true}"#, .putBack),
        ] {
            let call = try ctl.begin(method, parameters)
            #expect(authority.open.map(\.action) == [action], "\(method) \(parameters)")
            try authority.answer(.refused)
            #expect(try ctl.replies(to: call).map(\.error) == ["NotAuthorized"])
        }
        let asked = authority.asked.count
        #expect(try putBack(#""save":2"#, by: ctl).parameters["returned"]?.integer == 20)
        let refused = try putBack(#""save":3"#, by: ctl)
        #expect(refused.error == "InvalidValue" && refused.parameters["parameter"]?.string == "many")
        #expect(try putBack(#""save":4"#, by: ctl).parameters["returned"]?.integer == 5)
        #expect(authority.asked.count == asked)
        let call = try ctl.begin("PutBack", #"{"save":3,"many":true,"allowInteractiveAuthentication":true}"#)
        try authority.answer(.granted)
        try #require(fixture.loop.run { call.isOver })
        #expect(try mail.fetch(#""limit":100"#).contacts.count == 60)
        // A day later a few need no password again.
        fixture.loop.advance(by: .seconds(24 * 3_600 + 1))
        #expect(try mail.save([.delete(identifiers[0])]).error == nil)
        #expect(try putBack(#""save":8"#, by: ctl).parameters["returned"]?.integer == 1)
    }

    @Test("Another user may neither list nor put back, and root sees no names")
    func others() throws {
        let fixture = try BrokerFixture(authority: TestAuthority([.admin: .granted]))
        let mail = try fixture.app("mail", .full)
        #expect(try mail.save([.add(given: "Ada")]).error == nil)
        #expect(try mail.save([.delete(mail.identifier(of: "Ada"))]).error == nil)
        let other = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 1_001), interface: .admin)
        #expect(try other.call("ListChanges", #"{"uid":1000,"names":true}"#).error == "NotAuthorized")
        #expect(try other.call("PutBack", #"{"uid":1000,"save":2}"#).error == "NotAuthorized")
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        #expect(try root.call("ListChanges", #"{"uid":1000,"names":true}"#).error == "InvalidValue")
        #expect(try root.call("PutBack", #"{"uid":1000,"save":2,"names":true,"dryRun":true}"#).error == "InvalidValue")
        #expect(
            try root.call("ListChanges", #"{"uid":1000}"#).parameters["saves"]?.elements.map(Array.init)?.count == 2)
        #expect(try root.call("PutBack", #"{"uid":1000,"save":2}"#).parameters["returned"]?.integer == 1)
        #expect(try mail.fetch().names == ["Ada"])
    }
}
