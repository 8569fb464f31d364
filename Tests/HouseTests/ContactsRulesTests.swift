import BrokerJSON
import Testing

/// What `import Contacts` keeps to where it refuses, waits, or writes names.
@Suite("Rules of the library")
struct ContactsRulesTests {
    private static let probe = House.programs + "/ContactsProbe"

    private func house() throws -> (house: House, person: Person) {
        let house = try House()
        let person = try house.person()
        try house.keeper(with: person)
        return (house, person)
    }

    /// - Parameter choice: of what the person allows the app first.
    private func probe(
        _ word: String, _ choice: Choice? = .everything, environment: [String: String] = [:]
    ) throws -> String {
        let (house, person) = try house()
        if let choice {
            let first = try Command(Self.probe, ["request"], in: house) { try person.answer(choice) }
            #expect(first.end == .exited(0), "\(first.errors)")
        }
        let command = try Command(Self.probe, [word], in: house, environment: environment, within: .seconds(60))
        #expect(command.end == .exited(0), "\(command.errors)")
        #expect(try person.wasNotAsked())
        return command.output
    }

    @Test("What a save is refused for has its code, and names the record and the keys")
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

    @Test("Of two saves of one property the last one counts, and what only one changed stays")
    func lastWins() throws {
        #expect(try probe("last") == "Countess Enchantress\n")
    }

    @Test("A save that is too large says so and saves nothing; one that just fits is saved")
    func bounds() throws {
        #expect(try probe("bounds") == "error 500 [] 0\nerror 500 [] 0\n4\n2004\n")
    }

    @Test("The person's own contact is found when they have said which it is, and else it is not there")
    func me() throws {
        #expect(try probe("me") == "Ada\nerror 200 [] 0\n")
    }

    @Test("Groups come back with their members and the groups around them, and contacts into their groups")
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
        "Cards that were one person are one again; of a save that cannot be taken back nothing is, nor of the one before"
    )
    func undoneLinks() throws {
        let said = try probe("undo-linked")
        #expect(
            said == """
                1 ["katherine@home.example", "katherine@work.example"]
                0
                1 ["katherine@home.example", "katherine@work.example"] 2
                true
                false
                error 104 [] 0

                """)
    }

    @Test("To ask for access does not wait for the answer")
    func asking() throws {
        let (house, person) = try house()
        let app = try Command.Running(Self.probe, ["ask"], in: house)
        defer { app.end() }
        #expect(try app.wait(for: 1) == ["went on"])
        try person.answer(.only(["Ada Lovelace"]))
        #expect(try app.wait(for: 2).last == "answered true 0")
    }

    @Test("To look at the status, the preferences or the history, or to write a name, has nobody asked")
    func quiet() throws {
        #expect(try probe("quiet", nil) == "0 nil\n2 1 false\nAda Lovelace\n")
    }

    @Test("Names are written in the order that the person wants, but those whose language has an order of its own")
    func nameOrder() throws {
        let written = try probe("order")
        #expect(written == "Ada Lovelace, 李小龙\nLovelace Ada, 李小龙 2\n")
    }

    @Test("The names of fields are the person's words; what is no field stays as it is")
    func words() throws {
        #expect(
            try probe("words", nil, environment: ["LANG": "de_DE.UTF-8"])
                == "Spitzname\nPostleitzahl\nBenutzername\nDienst\nshoeSize\n")
    }

    @Test("The access picker gives an app with limited access what is new, and any other nothing")
    func picker() throws {
        let (house, person) = try house()
        let first = try Command(Self.probe, ["request"], in: house) { try person.answer(.only(["Ada Lovelace"])) }
        #expect(first.end == .exited(0), "\(first.errors)")
        let more = try Command(Self.probe, ["manage"], in: house) {
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
        "A card that is offered has what is to be shown and no more, and whoever may see contacts learns what it became"
    )
    func offers() throws {
        let (house, person) = try house()
        let first = try Command(Self.probe, ["request"], in: house) { try person.answer(.everything) }
        #expect(first.end == .exited(0), "\(first.errors)")
        let offered = try Command(Self.probe, ["offer"], in: house) {
            let prompt = try person.prompt()
            #expect(prompt["purpose"]?.string == "met at the fair")
            #expect(prompt["proposed"]?["familyName"]?.string == "Lamarr")
            #expect(prompt["proposed"]?["jobTitle"]?.string ?? "" == "")
            #expect(try person.answer(prompt, #""addProposed":true"#).error == nil)
        }
        #expect(offered.output == "done Hedy true\ntrue\n", "\(offered.errors)")
    }
}
