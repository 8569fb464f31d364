import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerGrants

@Suite("The rows of the agent's list")
struct AgentRowTests {
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let keeper: TestApp

    private static func values(_ key: String, _ values: String...) -> String {
        let list = values.map { #"{"value":"\#($0)"}"# }.joined(separator: ",")
        return #","\#(key)":[\#(list)]"#
    }

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper()
        let ada =
            #","familyName":"Lovelace","nickname":"Countess","organizationName":"Analytical Engines""#
            + Self.values("emailAddresses", "office@example.org", "ada@engine.example")
            + Self.values("phoneNumbers", "+44 20 7946 0001", "+44 20 7946 0222")
        let grace =
            #","familyName":"Hopper","organizationName":"Hopper Institute""#
            + Self.values("phoneNumbers", "+1 212 555 0100", "+1 212 555 0199")
        let changes: [Change] = [
            .add(given: "Ada", extra: ada), .add(given: "Grace", extra: grace),
            .add(given: "", extra: #","contactType":"organization","organizationName":"Analytical Society""#),
        ]
        try #require(try keeper.save(changes).error == nil)
        person = try TestPerson(fixture: fixture)
    }

    private func prompt(_ method: String, _ parameters: String = "{}") throws -> TestPerson.Prompt {
        let call = try fixture.app("mail").begin(method, parameters)
        try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 })
        return try #require(try person.prompts().last)
    }

    @Test(
        "A row shows the value in which the query was found, or else the first one",
        arguments: [
            ("", "office@example.org"), ("ada", "ada@engine.example"), ("office", "office@example.org"),
            ("engine.ex", "ada@engine.example"), ("ada engine.example", "ada@engine.example"),
            ("222", "+44 20 7946 0222"), ("ada 0222", "+44 20 7946 0222"), ("0001", "+44 20 7946 0001"),
            ("lovelace count", "office@example.org"), ("analyt lovel", "Analytical Engines"),
        ],
        ["RequestAccess", "PickContacts"])
    func detail(query: (text: String, detail: String), method: String) throws {
        let rows = try person.rows(prompt(method), query: query.text)
        #expect(rows.first { $0.contact["givenName"]?.string == "Ada" }?.detail == query.detail)
    }

    @Test(
        "A row of an access button shows what the button's caption is, unless another value matches the query",
        arguments: [
            ("email", "ada", "ada@engine.example"), ("phone", "lovelace", "+44 20 7946 0001"),
            ("email", "lovelace", "office@example.org"), ("defaultText", "lovelace", nil),
            ("phone", "office", "+44 20 7946 0001"), ("email", "hopper", "+1 212 555 0100"),
        ] as [(String, String, String?)])
    func caption(caption: String, query: String, detail: String?) throws {
        let prompt = try prompt("RequestContacts", #"{"query":"\#(query)","caption":"\#(caption)"}"#)
        #expect(try person.rows(prompt, query: query).map(\.detail) == [detail])
    }

    @Test("A company that the name shows, or that a name explains, is not repeated")
    func company() throws {
        let prompt = try prompt("RequestAccess")
        #expect(try person.rows(prompt, query: "hopper").map(\.detail) == ["+1 212 555 0100"])
        #expect(try person.rows(prompt, query: "institute").map(\.detail) == ["Hopper Institute"])
        #expect(try person.rows(prompt, query: "society").map(\.detail) == [nil])
        #expect(try person.rows(prompt, query: "0199").map(\.detail) == ["+1 212 555 0199"])
    }

    // MARK: Offered cards

    private func offered(_ card: String, _ query: String = "") throws -> (rows: [JSONValue], total: Int64?) {
        let prompt = try prompt("ProposeContact", #"{"contact":{\#(card)}}"#)
        let answer = try person.agent.call(
            "Search", #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)","query":"\#(query)"}"#)
        return (answer.parameters["rows"]?.elements.map(Array.init) ?? [], answer.parameters["total"]?.integer)
    }

    private func words(_ rows: [JSONValue]) -> [String] {
        rows.map { row in
            let contact = row["contact"]
            let name = [contact?["givenName"]?.string, contact?["organizationName"]?.string].compactMap(\.self)
            return "\(name.first { !$0.isEmpty } ?? "") \(row["match"]?.string ?? "-")"
        }
    }

    @Test(
        "An offered card finds the contacts with its address, number or full name",
        arguments: [
            (#""givenName":"A","emailAddresses":[{"value":"ADA@engine.example"}]"#, ["Ada email"]),
            (#""phoneNumbers":[{"value":"+44 (0)20 7946-0222"}]"#, ["Ada phone"]),
            (#""phoneNumbers":[{"value":"+15"},{"value":"+1 (212) 555-0199"}]"#, ["Grace phone"]),
            (#""givenName":"grace","familyName":"HOPPER""#, ["Grace name"]),
            (#""contactType":"organization","organizationName":"analytical  society""#, ["Analytical Society name"]),
            (#""givenName":"Grace""#, []), (#""givenName":"Grace","familyName":"Hop""#, []),
            (
                #""givenName":"Grace","familyName":"Hopper","emailAddresses":[{"value":"office@example.org"}]"#,
                ["Ada email", "Grace name"]
            ),
        ])
    func similar(card: String, expected: [String]) throws {
        let (rows, total) = try offered(card)
        #expect(words(rows).prefix(expected.count) == expected[...])
        #expect(words(rows).dropFirst(expected.count).allSatisfy { $0.hasSuffix(" -") })
        #expect(rows.count == 3 && total == 3, "no contact is listed twice")
        #expect(rows.allSatisfy { $0["problem"] == nil })
    }

    @Test("At most five contacts come first, and a query lists all in the usual order")
    func bounded() throws {
        let many = (0..<8).map { Change.add(given: "N\($0)", extra: Self.values("emailAddresses", "all@example.org")) }
        try #require(try keeper.save(many).error == nil)
        let card = #""givenName":"Someone","emailAddresses":[{"value":"all@example.org"}]"#
        let (rows, total) = try offered(card)
        #expect(rows.count { $0["match"] != nil } == 5 && rows.prefix(5).allSatisfy { $0["match"]?.string == "email" })
        #expect(total == 11 && Set(rows.compactMap { $0["contact"]?["givenName"]?.string }).count == 11)
        let prompts = try person.told()
        let cookie = try #require(prompts.last?["cookie"]?.string)
        func page(_ offset: Int, _ query: String = "") throws -> [String] {
            let answer = try person.agent.call(
                "Search",
                #"{"agent":"\#(person.token)","cookie":"\#(cookie)","query":"\#(query)","offset":\#(offset),"limit":3}"#
            )
            return answer.parameters["rows"]?.elements?.map { $0["contact"]?["givenName"]?.string ?? "" } ?? []
        }
        let paged = try [0, 3, 6, 9].flatMap { try page($0) }
        #expect(paged == rows.map { $0["contact"]?["givenName"]?.string ?? "" })
        #expect(try page(0, "n").count == 3 && page(0, "lovelace") == ["Ada"])
    }

    @Test("Other prompts, and apps, learn nothing of resemblance")
    func onlyOffers() throws {
        let rows = try person.agent.call(
            "Search",
            #"{"agent":"\#(person.token)","cookie":"\#(prompt("RequestAccess").cookie)","query":""}"#)
        #expect(!rows.text.contains("match"))
    }
}
