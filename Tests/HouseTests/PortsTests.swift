import Testing

/// Sources written for macOS that import only Contacts and Foundation.
@Suite("Programs ported from macOS")
struct PortsTests {
    private static let program = House.programs + "/Ports"

    private func run(_ words: String..., in house: House, answering: () throws -> Void = {}) throws -> String {
        let command = try Command(Self.program, words, in: house, answering: answering)
        #expect(command.end == .exited(0), "\(command.errors)")
        return command.output
    }

    private func house() throws -> (house: House, person: Person) {
        let house = try House()
        let person = try house.person()
        try house.keeper(
            adding: House.people + [#""givenName":"Leonhard","familyName":"Euler","birthday":"1707-04-15""#],
            with: person)
        return (house, person)
    }

    @Test("Ported programs list, stop early and search after one prompt")
    func lists() throws {
        let (house, person) = try house()
        let search = try run("search", "lovelace", in: house) { try person.answer(.everything) }
        #expect(search == "Ada Lovelace\n")
        #expect(
            try run("list", in: house) == """
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
        #expect(try run("first", in: house) == "Euler\n")
    }

    @Test("A ported program recognises a denial by the error's code")
    func refused() throws {
        let (house, person) = try house()
        let search = try run("search", "lovelace", in: house) { try person.answer(.refused) }
        #expect(search.hasPrefix("denied: "))
    }

    @Test("Ported programs export, manage groups, add, edit and delete contacts, and find birthdays")
    func works() throws {
        let (house, person) = try house()
        #expect(
            try run("birthdays", "4", in: house) { try person.answer(.everything) } == "15 Leonhard Euler 1707 true\n")
        #expect(try run("vcard", house.folder + "/out.vcf", in: house) == "5 written, 5 read back\n")
        #expect(House.text(of: house.folder + "/out.vcf").contains("FN:Ada Lovelace"))
        let json = try run("json", in: house)
        #expect(json.contains(#"{"birthday":"04-15","emails":[],"id":"x","name":"Leonhard Euler","phones":{}}"#))
        #expect(
            try run("edit", in: house) == "Goose rider +46 70 555 01 11 _$!<Main>!$_\n20 true 1906\ngone\n")
        #expect(try run("groups", in: house) == "Pioneers: Ada Lovelace\n[\"Mathematicians\"]\n0\n")
        #expect(try run("me", in: house) == "nobody\n")
    }
}
