import BrokerFormatting
import BrokerModel
import Testing

@testable import contact_agent

@Suite("Keys and prompts")
struct DialogueTests {
    static let languages = LocalizedNames.available

    @Test(
        "In a prompt for access, each sequence of keys gives the expected answer",
        arguments: [
            ("⎋", Answer(level: .denied)),
            ("N", Answer(level: .denied, neverAskAgain: true)),
            ("↓↓⏎", Answer(level: .denied, neverAskAgain: true)),
            ("ay", Answer(level: .full, lifetime: .session)),
            ("aty", Answer(level: .full, lifetime: .untilRevoked)),
            ("atty", Answer(level: .full, lifetime: .session)),
            ("a⏎ay", Answer(level: .full, lifetime: .session)),
            ("a↓⏎", Answer(level: .full, lifetime: .session)),
            ("c⏎y", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
            ("⏎⏎⏎", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
            ("c↓↓⇥↑↑⇥⏎y", Answer(level: .limited, identifiers: ["r3", "r1"], lifetime: .session)),
            ("c⇟⇥⏎⏎", Answer(level: .limited, identifiers: ["r19"], lifetime: .session)),
            ("c⇥↓⇥↓⇥↑⇥⏎ty", Answer(level: .limited, identifiers: ["r1", "r3"], lifetime: .untilRevoked)),
            ("csag⏎⏎", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
            // Two words are a search, and Return with a mark adds nobody.
            ("csaga lind⏎⏎", Answer(level: .limited, identifiers: ["lind"], lifetime: .session)),
            ("c↓⇥sag⏎⏎", Answer(level: .limited, identifiers: ["r2"], lifetime: .session)),
            ("c↓⇥sag⇥⏎⏎", Answer(level: .limited, identifiers: ["r2", "r1"], lifetime: .session)),
            ("c↓⇥↓⇥→⇥⏎y", Answer(level: .limited, identifiers: ["r2"], lifetime: .session)),
            ("c⇥⏎←⎋⎋", Answer(level: .denied)),
            ("c⇥⎋⏎⏎⏎", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
            ("c⇥⏎⎋←y", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
            ("c←⎋", Answer(level: .denied)),
            ("c⎋", Answer(level: .denied)),
            ("c/a b⇥⏎y", Answer(level: .limited, identifiers: ["r1"], lifetime: .session)),
        ])
    func access(keys: String, answer: Answer) throws {
        var driver = try Driver(PromptText())
        driver.names = ["saga lind": "lind"]
        driver.begin()
        #expect(driver.press(keys) == .answer(answer))
    }

    @Test("Return never refuses, and pressing it twice loses nothing", arguments: 1...12)
    func returnKey(times: Int) throws {
        var driver = try Driver(PromptText())
        driver.isArmed = false
        driver.press("csag")
        for _ in 0..<times {
            if case .answer(let answer) = driver.press("⏎") { Issue.record("answered \(answer)") }
        }
        driver.isArmed = true
        #expect(driver.press("y") == .answer(Answer(level: .limited, identifiers: ["r1"], lifetime: .session)))
    }

    @Test("Leaving with marked contacts or a search asks once", arguments: ["c⇥", "c⇥⏎", "csag"])
    func leaving(keys: String) throws {
        var driver = try Driver(PromptText())
        driver.press(keys)
        #expect(driver.press("⎋") == .nothing)
        #expect(driver.shows("Leave without sharing?"))
        #expect(driver.press("yacN ") == .nothing)
        #expect(driver.press("⎋") == .answer(Answer(level: .denied)))
    }

    @Test("A marked contact stays marked and in view while other contacts are searched")
    func marks() throws {
        var driver = try Driver(PromptText())
        driver.press("csag⇥")
        #expect(driver.shows("1 marked: Person 1"))
        #expect(driver.searches.last == .search(query: "", offset: 0, limit: 38))
        driver.press("lil↓⇥")
        #expect(driver.shows("2 marked: Person 2, Person 1"))
        driver.press("xyz")
        #expect(driver.shows("2 marked"))
    }

    @Test("A marked contact group counts as all of its contacts, on every screen and in the answer")
    func group() throws {
        var driver = try Driver(PromptText())
        driver.row = { if $0 == 1 { $1.contacts = 12 } }
        driver.press("c⇥")
        #expect(driver.shows("12 marked"))
        driver.press("↓⇥⏎")
        #expect(driver.shows("Share these 13 contacts with") && driver.shows("[y] Share these 13 contacts"))
        let expected = Answer(level: .limited, identifiers: ["r1", "r2"], moreContacts: 11, lifetime: .session)
        #expect(driver.press("y") == .answer(expected))
        #expect(expected.contacts == 13)
    }

    @Test(
        "Keys that approve have an effect only where they are offered",
        arguments: [
            "y", "s", "cy", "ca", "c⇥y", "a⏎y", "ac", "a⏎⏎", "c⇥⏎a", "c⇥⏎←y", "ky", "?y", "?a⏎", "ak y", "akny",
        ])
    func notApproving(keys: String) throws {
        var driver = try Driver(PromptText())
        if case .answer(let answer) = driver.press(keys) { Issue.record("answered \(answer)") }
    }

    @Test(
        "A key that approves has no effect before its stage was visible long enough", arguments: ["ay", "c⇥⏎y", "c⏎⏎"])
    func unarmed(keys: String) throws {
        var driver = try Driver(PromptText())
        driver.isArmed = false
        #expect(driver.press(keys) == .tooEarly)
        #expect(!driver.shows("[y]"))
    }

    @Test(
        "The person chooses the keys; notes only if the app requested them, and only those",
        arguments: [["note"], ["extraProperties"], ["note", "extraProperties"], ["note", "givenName"]])
    func notes(keys: [String]) throws {
        var driver = try Driver(PromptText(keys: keys))
        driver.press("a")
        #expect(driver.shows("notes: no   [n] Change"))
        guard case .answer(let answer) = driver.press("ny") else {
            Issue.record("no answer")
            return
        }
        #expect(Set(answer.keys ?? []) == Set(keys))
        var listed = try Driver(PromptText(keys: keys))
        listed.press("ak")
        listed.press(.end)
        while !listed.shows("› [ ] notes") { listed.press("↑") }
        #expect(listed.press(" ⏎y") == .answer(answer))
    }

    @Test("A kind of keys that is turned off is not granted, and without any key nothing is shared")
    func fewerKeys() throws {
        var driver = try Driver(PromptText())
        guard case .answer(let answer) = driver.press("c⇥⏎k ⏎y") else {
            Issue.record("no answer")
            return
        }
        #expect(answer.keys?.contains("givenName") == false)
        #expect(answer.keys?.contains("emailAddresses") == true)
        var none = try Driver(PromptText())
        none.press("c⇥⏎kn")
        #expect(none.press("⏎y") == .nothing)
        #expect(none.shows("What may “mail” read of each contact?"))
    }

    @Test("An answer to an app that has a grant keeps the grant's lifetime")
    func persistentLifetime() throws {
        var driver = try Driver(PromptText(kind: "button", status: "limited", query: "p", lifetimes: ["session"]))
        driver.total = 1
        driver.begin()
        #expect(driver.press("s") == .answer(Answer(level: .limited, identifiers: ["r1"])))
    }

    @Test("Each step towards sharing is a stage of its own")
    func stages() throws {
        var driver = try Driver(PromptText())
        var stages = [driver.screen.stage]
        for key in "c⇥⏎?" {
            driver.press(String(key))
            if driver.screen.stage != stages.last { stages.append(driver.screen.stage) }
        }
        #expect(Set(stages).count == 4)
    }

    @Test("Pasted text can be a query, but never an answer")
    func paste() throws {
        var driver = try Driver(PromptText())
        #expect(driver.press(.paste("c")) == .nothing)
        #expect(driver.screen.stage == "introduction")
        driver.press("a")
        #expect(driver.press(.paste("y")) == .nothing)
        driver.press("⏎c")
        #expect(driver.press(.paste("ada\nd")) == .search(query: "adad", offset: 0, limit: 38))
    }

    @Test("A click does what the line says; on two actions side by side it does nothing")
    func clicks() throws {
        var driver = try Driver(PromptText())
        let row = try #require(driver.lines.firstIndex { $0.text.contains("[c]") })
        #expect(driver.lines[row].action == .character("c"))
        driver.press("c")
        #expect(driver.lines[4].action == .row(index: 2))
        driver.press(.row(index: 2))
        #expect(driver.shows("1 marked: Person 3"))
        let menu = Menu()
        let controls = [Control(key: "y", words: "Yes"), Control(key: "b", words: "Back")]
        #expect(menu.lines(controls, columns: 80, room: 1, isArmed: true).map(\.action) == [nil])
    }

    @Test("A long list loads what is visible, and moves by rows and pages", arguments: [10, 200, 10_000])
    func scrolling(total: Int) throws {
        var driver = try Driver(PromptText())
        driver.total = total
        driver.press("c")
        driver.press(.end)
        #expect(driver.shows("› [ ] Person \(total)"))
        driver.press(.home)
        #expect(driver.shows("› [ ] Person 1 "))
        for _ in 0..<3 { driver.press("⇟") }
        #expect(driver.shows("› [ ] Person \(min(total, 55)) "))
        driver.press("⇞↓")
        #expect(driver.shows("› [ ] Person \(min(total, total == 10 ? 2 : 38)) "))
        #expect(driver.searches.count < 6)
    }

    @Test("An app that asks for more keys gets those that the person gives")
    func moreKeys() throws {
        let text = PromptText(kind: "keys", status: "limited", keys: ["note", "groups"])
        func answer(_ keys: String) throws -> Effect {
            var driver = try Driver(text)
            return driver.press(keys)
        }
        #expect(try answer("y") == .answer(Answer(keys: ["note", "groups"])))
        #expect(try answer("1y") == .answer(Answer(keys: ["groups"])))
        #expect(try answer("2y") == .answer(Answer(keys: ["note"])))
        #expect(try answer("11y") == .answer(Answer(keys: ["note", "groups"])))
        #expect(try answer("12y") == .nothing)
        #expect(try answer("N") == .answer(Answer(neverAskAgain: true)))
        #expect(try answer("⎋") == .answer(.dismissed))
        // What an app may change, it may change in the new keys, too.
        for (right, isSaid) in [(nil, false), ("own", false), ("edit", true), ("all", true)] {
            var granted = text
            granted.grantedChanges = right
            let driver = try Driver(granted)
            #expect(driver.shows("It can also change what it gets.") == isSaid)
        }
        var early = try Driver(text)
        early.isArmed = false
        #expect(early.press("y") == .tooEarly)
    }

    @Test(
        "A name that could be mistaken for something else has a warning",
        arguments: [
            ("Ada", nil), ("[y] Share", "(name looks like a key)"), ("Аda", "(name mixes alphabets)"),
            ("Ада", nil), ("Αda Byron", "(name mixes alphabets)"), ("Ada Αθήνα", nil),
            ("〔y〕", "(name looks like a key)"), ("mail⟦k⟧ ", "(name looks like a key)"),
            ("mail❲ k ❳", "(name looks like a key)"), ("mail ⸢k⸥", "(name looks like a key)"),
            ("mail ﹙k﹚", "(name looks like a key)"), ("mail (k)", "(name looks like a key)"),
            ("mail ‹ｋ›", "(name looks like a key)"), ("[(k]", "(name looks like a key)"),
            ("app (1)", nil), ("Ada (work)", nil), ("居酒屋「花」", nil), ("„Ada“ »Bo«", nil), ("]k[", nil), ("Ada [", nil),
        ])
    func lookalikes(name: String, warning: String?) {
        #expect(Lookalike.warning(name).map { LocalizedNames.inEnglish.text($0) } == warning)
    }

    @Test("The parts of a name that match the query are marked")
    func matches() {
        func marked(_ text: String, _ query: String) -> [String] {
            Matches.line(text, query, .plain).pieces.filter { $0.style == .match }.map(\.text)
        }
        #expect(marked("Saga Norén", "sa nor") == ["Sa", "Nor"])
        #expect(marked("Saga Norén", "aga") == [])
        #expect(marked("saga@malmo.example", "MAL") == ["mal"])
        #expect(marked("鄧麗君", "鄧") == ["鄧"])
        #expect(marked("x", "") == [])
        #expect(Matches.line("Saga Norén", "sa nor", .plain).text == "Saga Norén")
    }

    @Test(
        "Every screen fits into the terminal, in every language",
        arguments: [ScreenSize.minimum, ScreenSize(columns: 200, rows: 60)], languages)
    func fits(size: ScreenSize, language: String) throws {
        let long = "an app with a very long name, which it chose"
        let paths = [
            ("access", ["", "c", "c⇥⏎", "c⇥↓⇥↓⇥↓⇥↓⇥↓⇥↓⇥↓⇥⏎", "a", "ak", "c⇥⎋", "?", "c⇥→"]),
            ("button", ["", "⏎", "⇥⏎"]), ("manage", ["", "c", "c⇥", "c⇥↓⇥↓⇥⏎", "x", "a", "k", "k ⏎", "c→"]),
            ("pick", ["", "c", "c⏎", "c⇥⏎", "c⇥↓⇥↓⇥⏎"]), ("propose", ["", "c", "cm", "co", "co⏎"]),
            ("keys", ["", "1"]), ("change", ["", "⏎", "↓↓↓↓⏎", "a"]),
        ]
        for strength in ["unverified", "claimed", "sandboxed", "installed", "service", "labelled"] {
            for status in ["notDetermined", "limited", "full", "denied"] {
                for (kind, keys) in paths {
                    // The strength and most of the status are shown on the first screens only.
                    let isUsual = strength == "unverified" || strength == "sandboxed" && status == "limited"
                    var text = PromptText(
                        kind: kind, displayName: long, strength: strength, status: status, purpose: long,
                        keys: ["note", "givenName", "groups"], query: "p", multiple: status == "full",
                        proposed: ProposeTests.card, totalContacts: 100_000, grantedContacts: 12_345,
                        lifetimes: ["process", "session"], interpreter: strength == "unverified")
                    text.changes = "all"
                    text.save = [1, 12_345, 1, 100]
                    text.grantedChanges = kind == "change" && status == "limited" ? "own" : nil
                    text.maximumKeys = status == "limited" ? ["givenName", "note"] : nil
                    for keys in keys where keys.isEmpty || isUsual {
                        var driver = try Driver(text, on: size, language)
                        driver.card = PickTests.card(30)
                        driver.total = status == "limited" ? 1 : 30
                        driver.row = { $1.match = $0 == 1 ? "email" : nil }
                        driver.begin()
                        driver.press(keys)
                        driver.expectFit("\(kind) \(keys) \(strength) \(status)")
                    }
                }
            }
        }
    }
}
