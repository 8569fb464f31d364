import BrokerJSON
import Testing

@Suite("Picking contacts without a grant")
struct PickTests {
    let fixture: DaemonFixture
    let person: Person
    let app: App

    init() throws {
        fixture = try DaemonFixture()
        person = try fixture.person()
        try fixture.keeper(with: person)
        app = try fixture.app("app")
    }

    private static let nothing = #"{"parameters":{"contacts":[]}}"#

    private func rows(_ prompt: JSONValue) throws -> [JSONValue] {
        let names = #""agent":"\#(person.token)","cookie":"\#(prompt["cookie"]?.string ?? "")""#
        let found = try person.call("Search", #"{\#(names),"query":""}"#)
        return found["rows"]?.elements.map(Array.init) ?? []
    }

    private func row(_ name: String, _ prompt: JSONValue) throws -> String {
        try #require(person.search(prompt).first { $0.name == name }).identifier
    }

    private func show(_ row: String, _ prompt: JSONValue) throws -> Answer {
        let names = #""agent":"\#(person.token)","cookie":"\#(prompt["cookie"]?.string ?? "")""#
        return try person.call("Show", #"{\#(names),"identifier":"\#(row)"}"#)
    }

    /// Calls PickContacts and picks these contacts as a whole.
    private func pick(_ names: [String], _ parameters: String, by app: App) throws -> Answer {
        try app.begin("PickContacts", parameters)
        let prompt = try person.prompt()
        let picked = try names.map { #"{"contact":"\#(try row($0, prompt))","key":"identifier"}"# }
        let taken = try person.answer(prompt, #""picked":[\#(picked.joined(separator: ","))]"#)
        #expect(taken.error == nil)
        return try app.reply()
    }

    @Test("An app without a decision gets the picked contact and no grant")
    func picksOne() throws {
        let reply = try pick(["Ada Lovelace"], #"{"keys":["givenName","familyName","emailAddresses"]}"#, by: app)
        #expect(reply.names == ["Ada Lovelace"])
        let contact = try #require(reply["contacts"]?.elements?.first { _ in true })
        #expect(contact["emailAddresses"]?.elements?.first { _ in true }?["value"]?.string == "ada@example.org")
        #expect(contact["phoneNumbers"] == nil)
        #expect(reply["properties"] == nil)
        #expect(try app.call("GetAuthorization").word == "notDetermined")
    }

    @Test("Without keys, a picked contact has neither notes nor extra properties")
    func allButNotes() throws {
        let contact = try #require(
            pick(["Ada Lovelace"], "{}", by: app)["contacts"]?.elements?.first { _ in true })
        #expect(contact["note"] == nil)
        #expect(contact["extraProperties"] == nil)
        #expect(contact["imageData"]?.string == "")
        #expect(contact["phoneNumbers"]?.count == 1)
    }

    @Test("Only an app that may read notes can request them or filter by them")
    func notes() throws {
        for parameters in [#"{"keys":["note"]}"#, #"{"enabling":{"hasKeys":["note"]}}"#] {
            #expect(try app.call("PickContacts", parameters).error == "UnauthorizedKeys")
        }
        #expect(try person.wasNotAsked())
        let reader = try fixture.app(
            "reader", .everythingAndNotes, by: person, keys: ["givenName", "familyName", "note"])
        let reply = try pick(["Ada Lovelace"], #"{"keys":["note"]}"#, by: reader)
        #expect(reply["contacts"]?.elements?.first { _ in true }?["note"]?.string == "first programmer")
    }

    @Test("A picked value comes with the requested name keys and nothing else")
    func picksValue() throws {
        try app.begin(
            "PickContacts",
            #"{"select":"property","keys":["givenName","emailAddresses","phoneNumbers"],"returningProperty":{"key":"phoneNumbers"}}"#
        )
        let prompt = try person.prompt()
        #expect(prompt["select"]?.string == "property")
        #expect(try rows(prompt).allSatisfy { $0["returns"]?.bool == false })
        let ada = try row("Ada Lovelace", prompt)
        let card = try show(ada, prompt)
        #expect(card.strings("selectable") == ["phoneNumbers"])
        #expect(card["contact"]?["note"] == nil)
        let number = try #require(
            card["contact"]?["phoneNumbers"]?.elements?.first { _ in true }?["identifier"]?.string)
        for wrong in [
            #"{"contact":"\#(ada)","key":"emailAddresses","value":"1"}"#, #"{"contact":"\#(ada)","key":"identifier"}"#,
            #"{"contact":"\#(ada)","key":"phoneNumbers","value":"99"}"#, #"{"contact":"\#(ada)","key":"phoneNumbers"}"#,
        ] {
            #expect(try person.answer(prompt, #""picked":[\#(wrong)]"#).error == "InvalidAnswer")
        }
        let right = #"{"contact":"\#(ada)","key":"phoneNumbers","value":"\#(number)"}"#
        #expect(try person.answer(prompt, #""picked":[\#(right)]"#).error == nil)
        let reply = try app.reply()
        #expect(reply["contacts"]?.count == 0)
        let property = try #require(reply["properties"]?.elements?.first { _ in true })
        #expect(property["key"]?.string == "phoneNumbers")
        #expect(property["identifier"]?.string == number)
        let members = property["contact"]?.members?.map { $0.name.string ?? "" }
        // The prompt says "with the name".
        #expect(
            Set(members ?? []) == [
                "identifier", "contactType", "namePrefix", "givenName", "middleName", "familyName", "nameSuffix",
                "previousFamilyName", "nickname", "phoneticGivenName", "phoneticMiddleName", "phoneticFamilyName",
                "organizationName", "phoneticOrganizationName", "phoneNumbers",
            ])
        #expect(property["contact"]?["familyName"]?.string == "Lovelace")
        #expect(property["contact"]?["organizationName"]?.string == "")
    }

    @Test("The person sees the app's rule, the answer must satisfy it, and the app learns nothing of it")
    func rules() throws {
        let parameters = #"{"enabling":{"hasKeys":["emailAddresses"],"maximumCount":{"phoneNumbers":0}}}"#
        try app.begin("PickContacts", parameters)
        let prompt = try person.prompt()
        let rows = try rows(prompt)
        #expect(rows.map { $0["enabled"]?.bool } == [true, false, false, false])
        #expect(
            rows.map { [$0["problem"]?.string, $0["key"]?.string] } == [
                [nil, nil], ["lacksKey", "emailAddresses"], ["tooMany", "phoneNumbers"],
                ["lacksKey", "emailAddresses"],
            ])
        let lin = try row("Lin Lanying", prompt)
        let disabled = #""picked":[{"contact":"\#(lin)","key":"identifier"}]"#
        #expect(try person.answer(prompt, disabled).error == "InvalidAnswer")
        let grace = try row("Grace Hopper", prompt)
        let two = #""picked":[{"contact":"\#(grace)","key":"identifier"},{"contact":"\#(lin)","key":"identifier"}]"#
        #expect(try person.answer(prompt, two).error == "InvalidAnswer")
        #expect(try person.answer(prompt, #""level":"full""#).error == "InvalidAnswer")
        #expect(try person.answer(prompt).error == nil)
        #expect(try app.reply().text == Self.nothing)
    }

    @Test("The person is prompted even if every row is disabled, and the app waits")
    func nobodyEnabled() throws {
        try app.begin("PickContacts", #"{"enabling":{"familyNames":["Nobody"]}}"#)
        let prompt = try person.prompt()
        #expect(try rows(prompt).allSatisfy { $0["enabled"]?.bool == false })
        #expect(!app.line.hasNews)
        #expect(try person.answer(prompt).error == nil)
        #expect(try app.reply().text == Self.nothing)
    }

    @Test(
        "If nothing is picked, the reply is the same whatever the cause, and so is the back-off if an agent was there",
        arguments: ["", #""picked":[]"#, "another question", "nobody there"])
    func picksNothing(how: String) throws {
        let asker = try fixture.app("installed app")
        if how == "nobody there" { fixture.end("agent") }
        for _ in 1...2 {
            try asker.begin("PickContacts", how == "another question" ? #"{"enabling":{"familyNames":[]}}"# : "{}")
            if how != "nobody there" {
                #expect(try person.answer(person.prompt(), how.hasPrefix("\"") ? how : "").error == nil)
            }
            #expect(try asker.reply().text == Self.nothing)
        }
        // Without an agent the calls do not count, so there is no back-off.
        guard how != "nobody there" else { return }
        let again = try asker.call("PickContacts")
        #expect((1...5).contains(again["retryAfterSeconds"]?.integer ?? 0))
    }

    @Test("A picked contact's identifier differs from its granted one and cannot be fetched")
    func identifiers() throws {
        let limited = try fixture.app("limited", .only(["Ada Lovelace"]), by: person)
        let granted = try limited.fetch().identifiers
        let picked = try pick(["Ada Lovelace"], #"{"keys":["givenName"]}"#, by: limited).identifiers
        #expect(picked.count == 1)
        #expect(picked != granted)
        #expect(try limited.fetch(#""predicate":{"identifiers":\#(quoted(picked))}"#).identifiers == [])
        // The app can exclude that contact from the next pick.
        try limited.begin("PickContacts", #"{"enabling":{"excludedIdentifiers":\#(quoted(picked))}}"#)
        let prompt = try person.prompt()
        #expect(try rows(prompt).map { $0["enabled"]?.bool } == [true, true, false, true])
        try person.answer(prompt)
        _ = try limited.reply()
    }

    @Test("For an app with full access, a picked contact has the identifier that a fetch returns")
    func identifiersWithFullAccess() throws {
        let full = try fixture.app("full", .everything, by: person)
        let picked = try pick(["Ada Lovelace"], #"{"keys":["givenName"]}"#, by: full).identifiers
        #expect(picked.count == 1)
        #expect(try full.fetch(#""predicate":{"identifiers":\#(quoted(picked))}"#).names == ["Ada Lovelace"])
    }

    @Test("The person can pick several contacts if the app asks for several")
    func several() throws {
        let reply = try pick(
            ["Ada Lovelace", "Grace Hopper"], #"{"multiple":true,"keys":["givenName","familyName"]}"#, by: app)
        #expect(Set(reply.names) == ["Ada Lovelace", "Grace Hopper"])
    }

    @Test("The person sees the app's limit, and an answer with more is refused")
    func limit() throws {
        try app.begin("PickContacts", #"{"multiple":true,"limit":2,"keys":["givenName","familyName"]}"#)
        let prompt = try person.prompt()
        #expect(prompt["limit"]?.integer == 2)
        let all = try person.search(prompt).map { #"{"contact":"\#($0.identifier)","key":"identifier"}"# }
        let refusal = try person.answer(prompt, #""picked":[\#(all.prefix(3).joined(separator: ","))]"#)
        #expect(refusal.error == "InvalidAnswer")
        #expect(refusal["reason"]?.string == "the app takes at most 2, but 3 were picked")
        #expect(try person.answer(prompt, #""picked":[\#(all.prefix(2).joined(separator: ","))]"#).error == nil)
        #expect(try app.reply().names.count == 2)
    }

    @Test("A pick is recorded as a disclosure and makes no grant")
    func audit() throws {
        let before = try fixture.audit("disclosure").count
        _ = try pick(["Ada Lovelace"], #"{"keys":["givenName"]}"#, by: app)
        let records = try fixture.audit("disclosure").dropFirst(before)
        #expect(records.count == 1)
        #expect(records.last?["detail"]?.string == "picked")
        #expect(records.last?["contactIdentifiers"]?.count == 1)
        #expect(records.last?["app"]?.string?.hasPrefix(app.path) == true)
        let grants = try person.call("ListGrants", #"{"agent":"\#(person.token)"}"#)
        #expect(grants["grants"]?.elements?.contains { $0["app"]?.string?.hasPrefix(app.path + " ") ?? false } == false)
    }

    @Test("A denied app's PickContacts causes a quiet prompt, and the app gets the picked contact")
    func quiet() throws {
        let refused = try fixture.app("refused", .only(["Ada Lovelace"]), by: person)
        try fixture.revoke(refused)
        try refused.begin("PickContacts", #"{"keys":["givenName","familyName"]}"#)
        let prompt = try person.prompt()
        #expect(prompt["quiet"]?.bool == true)
        let ada = try row("Ada Lovelace", prompt)
        #expect(try person.answer(prompt, #""picked":[{"contact":"\#(ada)","key":"identifier"}]"#).error == nil)
        #expect(try refused.reply().names == ["Ada Lovelace"])
        #expect(try refused.fetch().error == "AccessDenied")
    }

    @Test(
        "An invalid PickContacts call is refused without a prompt",
        arguments: [
            #"{"keys":["shoeSize"]}"#, #"{"select":"group"}"#, #"{"enabling":{"key":"phoneNumbers"}}"#,
            #"{"enabling":{"minimumCount":{"phoneNumbers":-1}}}"#, #"{"enabling":{"minimumCount":{"x":1}}}"#,
            #"{"returningContact":[]}"#, #"{"more":1}"#, #"{"limit":2}"#, #"{"multiple":true,"limit":0}"#,
            #"{"multiple":true,"limit":-1}"#, #"{"multiple":true,"limit":1.5}"#,
        ])
    func invalid(parameters: String) throws {
        #expect(try app.call("PickContacts", parameters).error == "InvalidParameter")
        #expect(try person.wasNotAsked())
    }
}
