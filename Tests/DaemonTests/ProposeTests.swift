import BrokerJSON
import Testing

@Suite("Cards that apps propose")
struct ProposeTests {
    let fixture: DaemonFixture
    let person: Person
    let keeper: App

    init() throws {
        fixture = try DaemonFixture()
        person = try fixture.person()
        keeper = try fixture.keeper(with: person)
    }

    private static let card =
        #"{"contact":{"givenName":"Hedy","familyName":"Lamarr","emailAddresses":[{"value":"hedy@example.org"}],"note":"n"}}"#
    private static let nothing = #"{"parameters":{}}"#

    private func everybody() throws -> [String] { try keeper.fetch().names }

    private func app(_ standing: String) throws -> App {
        switch standing {
        case "limited": return try fixture.app("limited", .only(["Ada Lovelace"]), by: person)
        case "denied":
            let app = try fixture.app("refused", .only(["Ada Lovelace"]), by: person)
            try fixture.revoke(app)
            return app
        case "full": return keeper
        default: return try fixture.app("stranger")
        }
    }

    private func row(_ name: String, _ prompt: JSONValue) throws -> String {
        try #require(person.search(prompt).first { $0.name == name }).identifier
    }

    @Test(
        "A card that the person adds is saved, and only an app with access gets its identifier",
        arguments: ["limited", "full", "denied", "undecided"])
    func adds(standing: String) throws {
        let app = try app(standing)
        let before = try app.call("GetAuthorization").word
        try app.begin("ProposeContact", Self.card)
        let prompt = try person.prompt()
        #expect(prompt["kind"]?.string == "propose")
        #expect(prompt["quiet"]?.bool == (standing == "denied"))
        #expect(
            prompt["proposed"]?["emailAddresses"]?.elements?.first { _ in true }?["value"]?.string == "hedy@example.org"
        )
        #expect(try person.answer(prompt, #""addProposed":true"#).error == nil)
        let reply = try app.reply()
        #expect(try everybody() == ["Grace Hopper", "Hedy Lamarr", "Lin Lanying", "Ada Lovelace", "Emmy Noether"])
        if standing == "limited" || standing == "full" {
            let name = try #require(reply["identifier"]?.string)
            #expect(try app.fetch(#""predicate":{"identifiers":["\#(name)"]}"#).names == ["Hedy Lamarr"])
        } else {
            #expect(reply.text == Self.nothing)
        }
        #expect(try app.call("GetAuthorization").word == before)
        if standing == "limited" { #expect(try app.fetch().names == ["Hedy Lamarr", "Ada Lovelace"]) }
    }

    @Test(
        "Merging, declining, dismissing, and adding for an app without access give the same reply",
        arguments: ["mergeInto", "", #""neverAskAgain":true"#, #""addProposed":true"#])
    func looksAlike(fields: String) throws {
        let app = try app("undecided")
        for _ in 1...(fields.contains("never") ? 1 : 2) {
            try app.begin("ProposeContact", Self.card)
            let prompt = try person.prompt()
            let answer = fields == "mergeInto" ? #""mergeInto":"\#(try row("Emmy Noether", prompt))""# : fields
            #expect(try person.answer(prompt, answer).error == nil)
            #expect(try app.reply().text == Self.nothing)
        }
        if !fields.contains("never") {
            let again = try app.call("ProposeContact", Self.card)
            #expect((1...5).contains(again["retryAfterSeconds"]?.integer ?? 0))
        }
    }

    @Test("Merging adds new values and keeps the existing ones")
    func merges() throws {
        let app = try app("limited")
        try app.begin("ProposeContact", Self.card)
        let prompt = try person.prompt()
        #expect(try person.answer(prompt, #""mergeInto":"\#(try row("Emmy Noether", prompt))""#).error == nil)
        #expect(try app.reply().text == Self.nothing)
        let emmy = try #require(
            keeper.call("FetchContacts", #"{"keys":["familyName","emailAddresses"],"predicate":{"name":"emmy"}}"#)[
                "contacts"]?.elements?.first { _ in true })
        #expect(emmy["familyName"]?.string == "Noether")
        #expect(emmy["emailAddresses"]?.elements?.first { _ in true }?["value"]?.string == "hedy@example.org")
        #expect(try everybody().count == 4)
        // The merge does not make the contact visible to the app.
        #expect(try app.fetch().names == ["Ada Lovelace"])
    }

    @Test("An invalid answer saves nothing")
    func invalidAnswers() throws {
        let app = try app("undecided")
        try app.begin("ProposeContact", Self.card)
        let prompt = try person.prompt()
        let emmy = try row("Emmy Noether", prompt)
        for fields in [
            #""addProposed":true,"mergeInto":"\#(emmy)""#, #""mergeInto":"00000000000000000000000000000000""#,
            #""level":"full""#, #""picked":[]"#,
        ] {
            #expect(try person.answer(prompt, fields).error == "InvalidAnswer", "\(fields)")
        }
        #expect(try person.answer(prompt).error == nil)
        _ = try app.reply()
        #expect(try everybody().count == 4)
    }

    @Test(
        "A card that cannot be saved is refused without a prompt",
        arguments: [
            (#"{}"#, "InvalidParameter"), (#"{"contact":{"shoeSize":1}}"#, "InvalidParameter"),
            (#"{"contact":{"birthday":"yesterday"}}"#, "InvalidContact"),
            (#"{"contact":{"modificationDate":"2026-01-01T00:00:00Z"}}"#, "InvalidContact"),
        ])
    func invalid(parameters: String, error: String) throws {
        #expect(try keeper.call("ProposeContact", parameters).error == error)
        #expect(try person.wasNotAsked())
    }

    @Test("A proposed card may have 256 KiB, but not one byte more")
    func largest() throws {
        func card(_ bytes: Int) -> String { #"{"contact":{"note":"\#(String(repeating: "n", count: bytes - 11))"}}"# }
        #expect(try keeper.call("ProposeContact", card(256 * 1_024 + 1)).error == "LimitExceeded")
        try keeper.begin("ProposeContact", card(256 * 1_024))
        #expect(try person.answer(person.prompt()).error == nil)
        #expect(try keeper.reply().text == Self.nothing)
    }
}
