import BrokerVarlink
import Testing

@Suite("Reading interface texts")
struct InterfaceParserTests {
    static let text = """
        # Not about the interface.

        # The door for tests.
        # Second line.
        interface org.example.Test-1

        type Kind (one, two)
        type Item (
          name: string,
          # how many
          count: ?int,
          tags: []string,
          places: [string]float,
          inline: (x: int, y: ?(a, b)),
          kind: Kind,
          any: ?object
        )

        # Gives items.
        # [Supports 'more' flag]
        method List(first: ?int) -> (items: []Item)
        # [Requires 'more' flag]
        method Watch() -> ()
        method Stop() -> () # after it
        error Gone (name: string)
        error Empty ()
        """

    @Test("A text's names, types and comments are what they say")
    func wholeText() throws {
        let interface = try InterfaceParser.parse(Self.text)
        #expect(interface.name == "org.example.Test-1")
        #expect(interface.comments == ["The door for tests.", "Second line."])
        #expect(interface.types.map(\.name) == ["Kind", "Item"])
        #expect(interface.type("Kind")?.type == .enumeration(["one", "two"]))
        #expect(
            interface.type("Item")?.type.description
                == "(name: string, count: ?int, tags: []string, places: [string]float, inline: (x: int, y: ?(a, b)), kind: Kind, any: ?object)"
        )
        guard case .structure(let fields)? = interface.type("Item")?.type else {
            Issue.record("Item is a structure")
            return
        }
        #expect(fields[1].comments == ["how many"])
        #expect(fields[2].comments == [])
        #expect(fields[1].type == .optional(.int))
        #expect(interface.methods.map(\.name) == ["List", "Watch", "Stop"])
        #expect(interface.method("List")?.comments == ["Gives items.", "[Supports 'more' flag]"])
        #expect(interface.method("List")?.parameters.map(\.name) == ["first"])
        #expect(interface.method("List")?.reply.first?.type == .array(.named("Item")))
        #expect(interface.error("Gone")?.parameters.map(\.name) == ["name"])
        #expect(interface.error("Empty")?.parameters.isEmpty == true)
        #expect(interface.method("Gone") == nil)
    }

    @Test("Which methods stream is read from their comments")
    func more() throws {
        let interface = try InterfaceParser.parse(Self.text)
        #expect(interface.method("List")?.supportsMore == true)
        #expect(interface.method("List")?.requiresMore == false)
        #expect(interface.method("Watch")?.requiresMore == true)
        #expect(interface.method("Stop")?.supportsMore == false)
    }

    @Test("A type may be used before it is defined")
    func order() throws {
        let interface = try InterfaceParser.parse("interface a.b\nmethod M(x: T) -> ()\ntype T (y: int)")
        #expect(interface.method("M")?.parameters.first?.type == .named("T"))
    }

    @Test(
        "What is no interface is an error",
        arguments: [
            "", "interface", "interface a", "interface .a", "interface a.b.", "interface a_b.c", "interface a.b type",
            "interface a.b\ntype t (x: int)", "interface a.b\ntype T int", "interface a.b\ntype T (x: int,)",
            "interface a.b\ntype T (a, b,)", "interface a.b\ntype T (a: int, b)", "interface a.b\ntype T (a, b: int)",
            "interface a.b\nmethod M() -> (a, b)", "interface a.b\nmethod M() ()", "interface a.b\nmethod M(",
            "interface a.b\nerror E (x: []", "interface a.b\nerror E (x: ??int)",
            "interface a.b\nerror E (x: [int]int)",
            "interface a.b\nerror E (_x: int)", "interface a.b\nerror E (x_: int)", "interface a.b\nfoo E ()",
            "interface a.b\nerror E (x: any)", "interface a.b ()",
        ])
    func noInterface(text: String) {
        #expect(throws: InterfaceError.self) { try InterfaceParser.parse(text) }
    }

    @Test("Names defined twice and types not defined at all are errors")
    func names() {
        #expect(throws: InterfaceError.duplicate("T")) {
            try InterfaceParser.parse("interface a.b\ntype T (x: int)\nmethod T() -> ()")
        }
        #expect(throws: InterfaceError.duplicate("x")) {
            try InterfaceParser.parse("interface a.b\ntype T (x: int, x: int)")
        }
        #expect(throws: InterfaceError.unknownType("U")) {
            try InterfaceParser.parse("interface a.b\ntype T (x: U)")
        }
    }

    @Test("The error tells the line")
    func line() {
        #expect(throws: InterfaceError.expected("')'", line: 3)) {
            try InterfaceParser.parse("interface a.b\n\nmethod M(x: int y: int) -> ()")
        }
    }

    @Test("Types may be nested up to a limit and no deeper")
    func depth() throws {
        func text(_ depth: Int) -> String {
            "interface a.b\nerror E (x: \(String(repeating: "[]", count: depth - 1))int)"
        }
        _ = try InterfaceParser.parse(text(32))
        #expect(throws: InterfaceError.tooDeep(maximum: 32)) { try InterfaceParser.parse(text(33)) }
    }

    @Test("The beginning of a text is read or refused, never more")
    func prefixes() {
        for length in 0..<Self.text.utf8.count {
            let text = String(decoding: Array(Self.text.utf8)[..<length], as: UTF8.self)
            _ = try? InterfaceParser.parse(text)
        }
    }
}
