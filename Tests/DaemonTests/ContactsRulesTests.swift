import BrokerJSON
import Testing

/// Tests how the Contacts library refuses saves, waits for the person and formats names.
@Suite("Errors, prompts and names of the Contacts library")
struct ContactsRulesTests {
    private static let probe = DaemonFixture.programs + "/ContactsProbe"

    private func fixture() throws -> (fixture: DaemonFixture, person: Person) {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        return (fixture, person)
    }

    /// - Parameter choice: the person's answer to a request for access before the probe; `nil` for no request.
    private func probe(
        _ word: String, _ choice: Choice? = .everything, environment: [String: String] = [:]
    ) throws -> String {
        let (fixture, person) = try fixture()
        if let choice {
            let first = try Command(Self.probe, ["request"], in: fixture) { try person.answer(choice) }
            #expect(first.end == .exited(0), "\(first.errors)")
        }
        let command = try Command(Self.probe, [word], in: fixture, environment: environment, within: .seconds(60))
        #expect(command.end == .exited(0), "\(command.errors)")
        #expect(try person.wasNotAsked())
        return command.output
    }

    @Test("Each refusal of a save has its error code and names the record and the keys")
    func refusals() throws {
        let said = try probe("refusals")
        #expect(
            said == """
                added again 201 [] 1 1
                deleted, and not there 200 [] 1 1
                no such group 204 [] 1 1
                no such container 204 [] 1 1
                a circle 202 [] 1 1
                a note done
                no day 300 ["birthday"] 1 1
                a member done
                the group done
                ["Below"] Ada

                """)
    }

    @Test("Of two saves of one property the last wins, and a property that only one changed is kept")
    func lastWins() throws {
        #expect(try probe("last") == "Countess Enchantress\n")
    }

    @Test("A change that names a revision fails if the contact has changed since")
    func revisions() throws {
        #expect(try probe("revisions") == "saved\nRecordChanged\nAnalyst false true\n")
    }

    @Test("A save over the size limit fails as a whole; one at the limit succeeds")
    func bounds() throws {
        #expect(try probe("bounds") == "error 500 [] 0\nerror 500 [] 0\n4\n2004\n")
    }

    @Test("The person's own contact is found once it is set, and is a missing record otherwise")
    func me() throws {
        #expect(try probe("me") == "Ada\nerror 200 [] 0\n")
    }

    @Test("Undo restores groups with their members and parent groups, and contacts with their groups")
    func undoneGroups() throws {
        let before = """
            All: Ada Grace
            Few in All: Ada Emmy
            Fewest in Few:

            """
        let said = try probe("undo-groups")
        #expect(
            said
                == before + """
                    Everybody: Grace Lin
                    Fewest:
                    true

                    """ + before)
    }

    @Test(
        "Undo links cards again, and sets back which contact is the person's own"
    )
    func undoneLinks() throws {
        let said = try probe("undo-linked")
        #expect(
            said == """
                1 ["katherine@home.example", "katherine@work.example"]
                0
                1 ["katherine@home.example", "katherine@work.example"] 2
                true
                true
                error 200 [] 0
                error 104 [] 0

                """)
    }

    @Test("requestAccess returns before the person answers")
    func asking() throws {
        let (fixture, person) = try fixture()
        let app = try Command.Running(Self.probe, ["ask"], in: fixture)
        defer { app.end() }
        #expect(try app.wait(for: 1) == ["went on"])
        try person.answer(.only(["Ada Lovelace"]))
        #expect(try app.wait(for: 2).last == "answered true 0")
    }

    @Test("Reading the status, preferences or history and formatting a name cause no prompt")
    func quiet() throws {
        #expect(try probe("quiet", nil) == "0 nil\n2 1 false\nAda Lovelace\n")
    }

    @Test("Names follow the order that the person set, except names in a script with an order of its own")
    func nameOrder() throws {
        let written = try probe("order")
        #expect(written == "Ada Lovelace, 李小龙\nLovelace Ada, 李小龙 2\n")
    }

    @Test("Field names are localized, and an unknown name is returned unchanged")
    func words() throws {
        #expect(
            try probe("words", nil, environment: ["LANG": "de_DE.UTF-8"])
                == "Spitzname\nPostleitzahl\nBenutzername\nDienst\nshoeSize\n")
    }

    @Test("The access picker adds contacts to a limited app, and does nothing for any other app")
    func picker() throws {
        let (fixture, person) = try fixture()
        let first = try Command(Self.probe, ["request"], in: fixture) { try person.answer(.only(["Ada Lovelace"])) }
        #expect(first.end == .exited(0), "\(first.errors)")
        let more = try Command(Self.probe, ["manage"], in: fixture) {
            let prompt = try person.prompt()
            #expect(prompt["kind"]?.string == "manage")
            let grace = try #require(person.search(prompt, "grace").first).identifier
            #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(grace)"]"#).error == nil)
        }
        #expect(more.output == "1\n", "\(more.errors)")
        #expect(try probe("manage") == "0\n")
        #expect(try probe("manage", .refused) == "0\n")
    }

    @Test(
        "A proposed card contains only the chosen keys, and an app with access gets the contact made from it"
    )
    func offers() throws {
        let (fixture, person) = try fixture()
        let first = try Command(Self.probe, ["request"], in: fixture) { try person.answer(.everything) }
        #expect(first.end == .exited(0), "\(first.errors)")
        let offered = try Command(Self.probe, ["offer"], in: fixture) {
            let prompt = try person.prompt()
            #expect(prompt["purpose"]?.string == "met at the fair")
            #expect(prompt["proposed"]?["familyName"]?.string == "Lamarr")
            #expect(prompt["proposed"]?["jobTitle"]?.string ?? "" == "")
            #expect(try person.answer(prompt, #""addProposed":true"#).error == nil)
        }
        #expect(offered.output == "done Hedy true\ntrue\n", "\(offered.errors)")
    }
}
