import Testing

/// Sources written for macOS. That they compile unchanged, in the language mode that Package.swift declares for them, is
/// part of the test.
@Suite("Programs ported from macOS")
struct PortsTests {
    private func run(
        _ program: String, _ words: String..., in fixture: DaemonFixture, input: String = "",
        answering: () throws -> Void = {}
    ) throws -> String {
        let command = try Command(
            DaemonFixture.programs + "/" + program, words, in: fixture, input: input, answering: answering)
        #expect(command.end == .exited(0), "\(command.errors)")
        return command.output
    }

    private func fixture() throws -> (fixture: DaemonFixture, person: Person) {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(
            adding: DaemonFixture.people + [#""givenName":"Leonhard","familyName":"Euler","birthday":"1707-04-15""#],
            with: person)
        return (fixture, person)
    }

    @Test("Ported programs list, stop early and search after one prompt each")
    func lists() throws {
        let (fixture, person) = try fixture()
        let search = try run("PortsSwift6", "search", "lovelace", in: fixture) { try person.answer(.everything) }
        #expect(search == "Ada Lovelace\n")
        #expect(
            try run("Ports", "list", in: fixture) { try person.answer(.everything) } == """
                Leonhard Euler
                Grace Hopper
                  email: grace@example.org
                Lin Lanying
                  phone: +86 10 5550 0003
                Ada Lovelace
                  phone: +44 20 7946 0001
                  email: ada@example.org
                Emmy Noether

                """)
        #expect(try run("Ports", "first", in: fixture) == "Euler\n")
    }

    @Test("A ported program recognises a denial by the error's code")
    func refused() throws {
        let (fixture, person) = try fixture()
        let search = try run("PortsSwift6", "search", "lovelace", in: fixture) { try person.answer(.refused) }
        #expect(search.hasPrefix("denied: "))
    }

    @Test("Ported programs export, manage groups, add, edit and delete contacts, and find birthdays")
    func works() throws {
        let (fixture, person) = try fixture()
        #expect(
            try run("PortsSwift6", "birthdays", "4", in: fixture) { try person.answer(.everything) }
                == "15 Leonhard Euler 1707 true\n"
        )
        #expect(try run("PortsSwift6", "vcard", fixture.folder + "/out.vcf", in: fixture) == "5 written, 5 read back\n")
        #expect(DaemonFixture.text(of: fixture.folder + "/out.vcf").contains("FN:Ada Lovelace"))
        let json = try run("PortsSwift6", "json", in: fixture)
        #expect(json.contains(#"{"birthday":"04-15","emails":[],"id":"x","name":"Leonhard Euler","phones":{}}"#))
        #expect(
            try run("Ports", "edit", in: fixture) { try person.answer(.everything) }
                == "Goose rider +46 70 555 01 11 _$!<Main>!$_\n20 true 1906\ngone\n")
        #expect(try run("Ports", "groups", in: fixture) == "Pioneers: Ada Lovelace\n[\"Mathematicians\"]\n0\n")
        #expect(try run("PortsSwift6", "me", in: fixture) == "nobody\n")
    }

    @Test("A script and a wrapper package that import Contacts alone have Foundation's names")
    func importsContactsAlone() throws {
        let (fixture, person) = try fixture()
        let script = try run("PortedScript", "grace", in: fixture) { try person.answer(.everything) }
        #expect(script == "")
        #expect(try run("PortedScript", "lovelace", in: fixture) == "Ada Lovelace\t+442079460001\n")
        let wrapped = try run("Ports", "wrapped", in: fixture) { try person.answer(.everything) }
        #expect(
            wrapped == """
                true true
                Leonhard Euler, Grace Hopper, Lin Lanying, Ada Lovelace, Maryam Mirzakhani, Emmy Noether
                not found

                """)
    }

    @Test("A tool in Swift 6 mode fetches in several tasks and reports to the main actor")
    func swift6() throws {
        let (fixture, person) = try fixture()
        #expect(
            try run("PortsSwift6", "audit", in: fixture) { try person.answer(.everything) } == """
                Emmy Noether: no number and no address
                Leonhard Euler: no number and no address

                """)
    }

    @Test("A server for language models answers JSON-RPC calls, and reports a denial to the model")
    func serves() throws {
        let calls = """
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
            {"jsonrpc":"2.0","method":"notifications/initialized"}
            {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"search_contacts","arguments":{"name":"ada"}}}
            {"jsonrpc":"2.0","id":3,"method":"resources/list"}
            {

            """
        let started =
            #"{"id":1,"jsonrpc":"2.0","result":{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18","#
            + #""serverInfo":{"name":"contacts","version":"1.0"}}}"#
        let failed = """
            {"error":{"code":-32601,"message":"Method not found: resources/list"},"id":3,"jsonrpc":"2.0"}
            {"error":{"code":-32700,"message":"Parse error"},"id":null,"jsonrpc":"2.0"}

            """
        func answer(_ text: String, isError: Bool) -> String {
            #"{"id":"a","jsonrpc":"2.0","result":{"content":[{"text":"\#(text)","type":"text"}],"isError":\#(isError)}}"#
        }
        let (fixture, person) = try fixture()
        let refused = try run("PortedServer", in: fixture, input: calls) { try person.answer(.refused) }
        #expect(
            refused
                == [started, answer("Access to contacts was denied", isError: true), failed].joined(separator: "\n"))
        let (second, other) = try self.fixture()
        let found = try run("PortedServer", in: second, input: calls) { try other.answer(.everything) }
        let ada = answer("Ada Lovelace, +44 20 7946 0001, ada@example.org", isError: false)
        #expect(found == [started, ada, failed].joined(separator: "\n"))
    }

    @Test("A mock of the store answers without a broker, also through its asynchronous method")
    func mocks() throws {
        let fixture = try DaemonFixture(starting: false)
        #expect(try run("PortsSwift6", "mock", in: fixture) == "true\ntrue\n[\"Ada\"]\ntrue\nAda\n1\n")
    }

    @Test("A delegate of the picker that imports ContactsUI alone gets the picked contacts")
    func picks() throws {
        let fixture = try DaemonFixture(starting: false)
        #expect(try run("PortsSwift6", "recipients", in: fixture) == "ada@example.org\n\ntrue 1\n")
    }

    @Test("Subclasses of contacts, requests, formatters and the store override Apple's members")
    func subclasses() throws {
        let (fixture, person) = try fixture()
        #expect(
            try run("Ports", "fakes", in: fixture) { try person.answer(.everything) } == """
                Fake 1 false
                2 false Tagged CHANGED
                Storgatan 1, Vemmenhög
                false true 1
                true local
                true true
                1 Ada Changed Emmy Grace Leonhard Lin

                """)
    }
}
