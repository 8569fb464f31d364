import BrokerJSON
import Testing

@Suite("What an app may do at each authorization level")
struct AuthorizationTests {
    private static let grace = App.adding(given: "Kurt", family: "Gödel")

    @Test("GetAuthorization returns notDetermined for an app without a decision, and causes no prompt")
    func notDetermined() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        #expect(try app.call("GetAuthorization").word == "notDetermined")
        #expect(try person.wasNotAsked())
    }

    @Test(
        "The first call for contacts prompts the person and follows the answer",
        arguments: ["FetchContacts", "SaveContacts"],
        [
            (Choice.everything, "ok", "full"), (.only(["Ada Lovelace"]), "ok", "limited"),
            (.refused, "AccessDenied", "denied"), (.dismissed, "AuthorizationNotDetermined", "notDetermined"),
        ])
    func firstCall(method: String, expected: (Choice, String, String)) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin(method, method == "FetchContacts" ? App.fetching("") : App.saving([Self.grace]))
        try person.answer(expected.0)
        #expect(try app.reply().word == expected.1)
        #expect(try app.call("GetAuthorization").word == expected.2)
    }

    @Test(
        "RequestAccess prompts the person once; later calls return that decision",
        arguments: [
            (Choice.everything, "full"), (.only(["Ada Lovelace"]), "limited"), (.only([]), "limited"),
            (.refused, "denied"),
        ])
    func requestAccess(choice: Choice, status: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail", choice, by: person)
        #expect(try app.call("GetAuthorization").word == status)
        #expect(try app.call("RequestAccess").word == status)
        #expect(try person.wasNotAsked())
    }

    @Test("A dismissed prompt leaves the authorization level not decided")
    func dismissedAccess() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail", .dismissed, by: person)
        #expect(try app.call("GetAuthorization").word == "notDetermined")
    }

    @Test("A limited app reads its granted set and adds contacts without another prompt")
    func limited() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail", .only(["Ada Lovelace", "Grace Hopper"]), by: person)
        #expect(try app.fetch().names == ["Grace Hopper", "Ada Lovelace"])
        #expect(try app.save([Self.grace]).word == "ok")
        #expect(try person.wasNotAsked())
    }

    @Test("An app with full access reads and writes everything, and its access button causes no prompt")
    func full() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail", .everything, by: person)
        #expect(try app.fetch().names == DaemonFixture.names)
        #expect(try app.save([Self.grace]).word == "ok")
        #expect(try app.call("RequestContacts", #"{"query":"ada"}"#).strings("identifiers").isEmpty)
        #expect(try person.wasNotAsked())
    }

    @Test("A denied app can neither read nor write, and the person is not prompted again")
    func denied() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail", .refused, by: person)
        #expect(try fixture.app("mail").call("GetAuthorization").word == "denied")
        // Back-off applies only to prompts, and these calls cause none.
        #expect(try app.fetch().word == "AccessDenied")
        #expect(try app.save([Self.grace]).word == "AccessDenied")
        #expect(try app.call("FetchContacts", #"{"keys":["note"]}"#).word == "AccessDenied")
        #expect(try person.wasNotAsked())
    }

    @Test("The access button of a denied app causes a quiet prompt, which the person may dismiss")
    func quietButton() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail", .everything, by: person)
        try fixture.revoke(app)
        try app.begin("RequestContacts", #"{"query":"ada"}"#)
        let prompt = try person.prompt()
        #expect(prompt["quiet"]?.bool == true)
        #expect(prompt["currentStatus"]?.string == "denied")
        try person.answer(prompt)
        #expect(try app.reply().strings("identifiers").isEmpty)
        #expect(try app.call("GetAuthorization").word == "denied")
    }

    @Test("The access button grants an unknown app the one contact that the person picks, and makes it limited")
    func firstButton() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestContacts", #"{"query":"ada","purpose":"to write a letter"}"#)
        let prompt = try person.prompt()
        #expect(prompt["kind"]?.string == "button")
        #expect(prompt["query"]?.string == "ada")
        #expect(prompt["purpose"]?.string == "to write a letter")
        let rows = try person.search(prompt, "ada")
        #expect(rows.map(\.name) == ["Ada Lovelace"])
        try person.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows.map(\.identifier)))"#)
        let granted = try app.reply().strings("identifiers")
        #expect(granted.count == 1)
        #expect(try app.call("GetAuthorization").word == "limited")
        let fetched = try app.fetch()
        #expect(fetched.names == ["Ada Lovelace"])
        #expect(fetched.identifiers == granted)
    }

    @Test("The access button offers a limited app only contacts that it cannot see, and adds the picked ones")
    func nextButton() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail", .only(["Ada Lovelace"]), by: person)
        try app.begin("RequestContacts", #"{"query":"example.org"}"#)
        let prompt = try person.prompt()
        let rows = try person.search(prompt)
        #expect(rows.map(\.name) == ["Grace Hopper", "Lin Lanying", "Emmy Noether"])
        try person.answer(prompt, #""level":"limited","identifiers":[\#(quoted(rows[1].identifier))]"#)
        #expect(try app.reply().strings("identifiers").count == 1)
        #expect(try app.fetch().names == ["Lin Lanying", "Ada Lovelace"])
    }

    @Test(
        "The access button's reply is the same for no match, a refusal and a dismissal",
        arguments: ["", #""level":"denied","lifetime":"untilRevoked""#, #""neverAskAgain":true"#], ["ada", "nobody"])
    func sameAnswer(fields: String, query: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestContacts", #"{"query":"\#(query)"}"#)
        try person.answer(person.prompt(), fields)
        #expect(try app.reply().text == #"{"parameters":{"identifiers":[]}}"#)
        // The back-off is the same too, unless the person chose never to be asked again.
        let silenced = fields.contains("neverAskAgain")
        try app.begin("RequestContacts", #"{"query":"ada"}"#)
        if !silenced { try person.answer(person.prompt()) }
        #expect(try app.reply().text == #"{"parameters":{"identifiers":[]}}"#)
        let third = try app.call("RequestContacts", #"{"query":"ada"}"#)
        #expect(third.word == (silenced ? "ok" : "TooManyPrompts"))
        #expect(silenced || (1...5).contains(third["retryAfterSeconds"]?.integer ?? 0))
    }
}
