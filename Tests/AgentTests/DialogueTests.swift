import BrokerFormatting
import BrokerJSON
import Testing

@testable import contact_agent

@Suite("Keys and prompts")
struct DialogueTests {
    static let size = ScreenSize(columns: 80, rows: 24)

    static func prompt(_ text: PromptText = PromptText()) throws -> Prompt {
        try #require(Prompt(JSONDocument(parsing: Array(text.json.utf8)).root))
    }

    static func rows(_ count: Int, from first: Int = 1) -> [Row] {
        (first..<first + count).map {
            Row(identifier: "r\($0)", name: "Person \($0)", detail: nil, isGranted: false, isEnabled: true, reason: nil)
        }
    }

    /// Presses keys one after the other, and answers each search with thirty people.
    private func press(_ keys: [Key], in dialogue: inout some Dialogue, isArmed: Bool = true) -> Effect {
        var last = Effect.nothing
        for key in keys {
            last = dialogue.press(key, on: Self.size, isArmed: isArmed)
            if case .search(_, let offset, let limit, _) = last {
                dialogue.found(
                    SearchResult(rows: Self.rows(min(limit, 30 - offset), from: offset + 1), total: 30, offset: offset))
            }
        }
        return last
    }

    private func characters(_ text: String) -> [Key] { text.map { $0 == "\r" ? .enter : .character($0) } }

    @Test(
        "In a prompt for access, each sequence of keys gives the expected answer",
        arguments: [
            ("\r", Answer(level: .denied)),
            ("d", Answer(level: .denied)),
            ("N", Answer(level: .denied, neverAskAgain: true)),
            ("c\r", Answer(level: .denied)),
            ("ca", Answer(level: .full, lifetime: .session)),
            ("cta", Answer(level: .full, lifetime: .untilRevoked)),
            ("ctta", Answer(level: .full, lifetime: .session)),
            ("cs\r1cy", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
            ("cs\r31cy", Answer(level: .limited, identifiers: ["r3", "r1"], lifetime: .session)),
            ("cs\r1n2cy", Answer(level: .limited, identifiers: ["r1", "r11"], lifetime: .session)),
            ("cs\r12n1p2cy", Answer(level: .limited, identifiers: ["r1", "r10"], lifetime: .session)),
            ("cs\r1cb1\r", Answer(level: .denied)),
            ("cs\rb\r", Answer(level: .denied)),
            ("cs\r1cd", Answer(level: .denied)),
        ])
    func access(keys: String, answer: Answer) throws {
        var dialogue = AccessDialogue(try Self.prompt())
        #expect(press(characters(keys), in: &dialogue) == .answer(answer))
    }

    @Test("A chosen contact group counts as all of its contacts, on every screen and in the answer")
    func group() throws {
        var dialogue = AccessDialogue(try Self.prompt())
        _ = press(characters("cs\r"), in: &dialogue)
        var rows = Self.rows(2)
        rows[0].contacts = 12
        dialogue.found(SearchResult(rows: rows, total: 2, offset: 0))
        func shows(_ text: String) -> Bool {
            dialogue.lines(on: Self.size, isArmed: true).contains { $0.text.contains(text) }
        }
        _ = press(characters("1"), in: &dialogue)
        #expect(shows("12 chosen"))
        _ = press(characters("2c"), in: &dialogue)
        #expect(shows("Share these 13 contacts with") && shows("[y] Share these 13 contacts"))
        let expected = Answer(level: .limited, identifiers: ["r1", "r2"], moreContacts: 11, lifetime: .session)
        #expect(press(characters("y"), in: &dialogue) == .answer(expected))
        #expect(expected.contacts == 13)
    }

    @Test(
        "Keys that approve have an effect only where they are offered",
        arguments: ["a", "y", "s", "cy", "cs\ra", "cs\ry", "cs\rcy", "cs\r11cy", "cs\r1", "cs\r1c1", "csa", "csy"])
    func notApproving(keys: String) throws {
        var dialogue = AccessDialogue(try Self.prompt())
        if case .answer(let answer) = press(characters(keys), in: &dialogue) {
            Issue.record("answered \(answer)")
        }
    }

    @Test("A key that approves has no effect before its stage was visible long enough", arguments: ["ca", "cs\r1cy"])
    func unarmed(keys: String) throws {
        var dialogue = AccessDialogue(try Self.prompt())
        #expect(press(characters(keys), in: &dialogue, isArmed: false) == .tooEarly)
    }

    @Test(
        "Turning notes on grants only those keys of notes that the app requested",
        arguments: [["note"], ["extraProperties"], ["note", "extraProperties"], ["note", "givenName"]])
    func notes(keys: [String]) throws {
        var dialogue = AccessDialogue(try Self.prompt(PromptText(keys: keys)))
        guard case .answer(let answer) = press(characters("cna"), in: &dialogue) else {
            Issue.record("no answer")
            return
        }
        let named = (answer.keys ?? []).filter { $0 == "note" || $0 == "extraProperties" }
        #expect(Set(named) == Set(keys).subtracting(["givenName"]))
        #expect(answer.keys?.contains("phoneNumbers") == true)
    }

    @Test("An answer to an app that has a grant keeps the grant's lifetime")
    func persistentLifetime() throws {
        var dialogue = ButtonDialogue(
            try Self.prompt(PromptText(kind: "button", status: "limited", query: "p", lifetimes: ["session"])))
        dialogue.found(SearchResult(rows: Self.rows(1), total: 1, offset: 0))
        #expect(press(characters("s"), in: &dialogue) == .answer(Answer(level: .limited, identifiers: ["r1"])))
    }

    @Test("Each step towards sharing is a stage of its own")
    func stages() throws {
        var dialogue = AccessDialogue(try Self.prompt())
        var stages = [dialogue.stage]
        for key in characters("cs\r1c") {
            _ = press([key], in: &dialogue)
            if dialogue.stage != stages.last { stages.append(dialogue.stage) }
        }
        #expect(Set(stages).count == 4)
    }

    @Test("Pasted text can be a query, but never an answer")
    func paste() throws {
        var dialogue = AccessDialogue(try Self.prompt())
        #expect(press([.paste("c")], in: &dialogue) == .nothing)
        #expect(dialogue.stage == "introduction")
        #expect(press(characters("c") + [.paste("a")], in: &dialogue) == .nothing)
        let effect = press(characters("s") + [.paste("ada\nd")], in: &dialogue)
        #expect(effect == .search(query: "adad", offset: 0, limit: 9))
    }

    @Test("If another match replaces the one that is shown, the stage changes")
    func replacedMatch() throws {
        var dialogue = ButtonDialogue(
            try Self.prompt(PromptText(kind: "button", status: "limited", query: "p", lifetimes: nil)))
        dialogue.found(SearchResult(rows: Self.rows(1), total: 1, offset: 0))
        let before = dialogue.stage
        dialogue.found(SearchResult(rows: Self.rows(1, from: 2), total: 1, offset: 0))
        #expect(dialogue.stage != before)
        #expect(press(characters("s"), in: &dialogue) == .answer(Answer(level: .limited, identifiers: ["r2"])))
    }

    @Test("The contact that was shown is confirmed, even if the list has changed since")
    func confirmedRow() throws {
        var dialogue = ButtonDialogue(try Self.prompt(PromptText(kind: "button", query: "p", lifetimes: nil)))
        dialogue.found(SearchResult(rows: Self.rows(1), total: 1, offset: 0))
        #expect(press(characters("s"), in: &dialogue) == .nothing)
        dialogue.found(SearchResult(rows: Self.rows(1, from: 2), total: 1, offset: 0))
        #expect(press(characters("y"), in: &dialogue) == .answer(Answer(level: .limited, identifiers: ["r1"])))
    }

    @Test("A row that is disabled or already granted is never chosen", arguments: ["s", "1s"], [true, false])
    func disabled(keys: String, isGranted: Bool) throws {
        var row = Self.rows(1)[0]
        row.isEnabled = isGranted
        row.isGranted = isGranted
        for total in [1, 2] {
            var dialogue = ButtonDialogue(
                try Self.prompt(PromptText(kind: "button", status: "limited", query: "p", lifetimes: nil)))
            dialogue.found(SearchResult(rows: Array(repeating: row, count: total), total: total, offset: 0))
            #expect(press(characters(keys), in: &dialogue) == .nothing)
        }
    }

    @Test(
        "Every stage fits into the smallest terminal",
        arguments: [nil, "c", "cs", "cs\r", "cs\r123", "cs\r12345c"], languages)
    func fits(keys: String?, language: String) throws {
        let names = LocalizedNames(languages: [language])
        let smallest = ScreenSize.minimum
        for strength in ["unverified", "claimed", "sandboxed", "installed", "service", "labelled"] {
            for lifetimes in [["process", "session"], ["session", "untilRevoked"]] {
                let text = PromptText(
                    strength: strength, keys: ["note", "givenName", "groups"], lifetimes: lifetimes,
                    interpreter: lifetimes[0] == "process")
                var dialogue = AccessDialogue(try Self.prompt(text), names)
                for key in characters(keys ?? "") {
                    if case .search(_, let offset, let limit, _) = dialogue.press(key, on: smallest, isArmed: true) {
                        dialogue.found(SearchResult(rows: Self.rows(limit), total: 30, offset: offset))
                    }
                }
                Self.expect(dialogue.lines(on: smallest, isArmed: true), fit: smallest)
            }
        }
    }

    @Test("Every screen of the access button fits into the smallest terminal", arguments: [0, 1, 30], languages)
    func buttonFits(total: Int, language: String) throws {
        let names = LocalizedNames(languages: [language])
        let smallest = ScreenSize.minimum
        for (status, keys) in [("limited", ""), ("limited", "1s"), ("notDetermined", "s"), ("notDetermined", "1s")] {
            var dialogue = ButtonDialogue(
                try Self.prompt(PromptText(kind: "button", status: status, query: "p")), names)
            guard case .search(_, _, let limit, _) = dialogue.begin(on: smallest) else { return }
            dialogue.found(SearchResult(rows: Self.rows(min(total, limit)), total: total, offset: 0))
            for key in characters(keys) { _ = dialogue.press(key, on: smallest, isArmed: true) }
            Self.expect(dialogue.lines(on: smallest, isArmed: true), fit: smallest)
        }
    }

    static let languages = LocalizedNames.available

    /// Expects that the lines fit on the screen, and that each line closes its bidirectional isolates.
    static func expect(_ lines: [StyledLine], fit size: ScreenSize) {
        #expect(lines.count <= size.rows - 2, "\(lines.map(\.text).joined(separator: "\n"))")
        for line in lines {
            #expect(Columns.width(line.text) <= size.columns, "\(line.text)")
            #expect(Isolates.open(in: line.text).isEmpty, "\(line.text)")
        }
    }
}
