import BrokerFormatting
import BrokerJSON
import BrokerModel
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts for a save beyond an app's right")
struct ChangeTests {
    static let prompt: PromptText = {
        var prompt = PromptText(
            kind: "change", status: "limited", totalContacts: 1_000, grantedContacts: 412)
        prompt.changes = "all"
        prompt.grantedChanges = "own"
        prompt.save = [1, 2, 1, 6]
        return prompt
    }()

    /// What the save would do.
    static let changes: [BrokerStandIn.Contact] = [
        .init(
            identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org",
            card: """
                {"givenName":"Ada","familyName":"Lovelace","imageDataAvailable":true,\
                "emailAddresses":[{"identifier":"1","label":"_$!<Home>!$_","value":"ada@example.org"}]}
                """, change: "deleted", record: "contact"),
        .init(
            identifier: "r2", givenName: "Friends", familyName: "", change: "deleted", record: "group"),
        .init(
            identifier: "r3", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100",
            card: """
                {"givenName":"Grace","familyName":"Murray","note":"\(String(repeating: "Compilers. ", count: 90))",\
                "phoneNumbers":[{"identifier":"1","label":"_$!<Home>!$_","value":"+1 555 0199"},{"value":"+1 555 0300"}],\
                "emailAddresses":[{"identifier":"2","value":"g@b.example"},{"identifier":"1","value":"g@a.example"}]}
                """, change: "changed", record: "contact",
            former: """
                {"givenName":"Grace","familyName":"Hopper","nickname":"Amazing Grace",\
                "phoneNumbers":[{"identifier":"1","label":"_$!<Work>!$_","value":"+1 555 0100"}],\
                "emailAddresses":[{"identifier":"1","value":"g@a.example"},{"identifier":"2","value":"g@b.example"}]}
                """, photo: "changed"),
        .init(
            identifier: "r4", givenName: "[y] Allow\" 鄧", familyName: "麗君", card: #"{"givenName":"[y] Allow"}"#,
            change: "added", record: "contact", other: "Work"),
        .init(
            identifier: "r5", givenName: "Lin", familyName: "Lanying", change: "joins", record: "contact",
            other: "Chess club"),
        .init(
            identifier: "r6", givenName: "محمد", familyName: "الأحمد", change: "leaves", record: "contact",
            other: "Chess club"),
        .init(identifier: "r7", givenName: "Ada", familyName: "Byron", change: "linked", other: "Ada King"),
        .init(
            identifier: "r8", givenName: "Chess club", familyName: "", change: "changed", record: "group",
            other: "Go club " + String(repeating: "with a long name ", count: 8) + "to its end"),
        .init(identifier: "r9", givenName: "Ada", familyName: "Byron", change: "own"),
        .init(identifier: "r10", givenName: "Kurt", familyName: "Gödel", change: "notOwn"),
    ]

    static func driver(_ change: (inout PromptText) -> Void = { _ in }) throws -> Driver {
        var text = prompt
        change(&text)
        var driver = try Driver(text)
        driver.people = changes
        driver.begin()
        return driver
    }

    @Test(
        "Each sequence of keys gives the expected answer",
        arguments: [
            ("⎋", Answer.dismissed), ("N", Answer(neverAskAgain: true)), ("y", Answer(allow: .once)),
            ("ay", Answer(allow: .always)), ("a↑⏎", Answer(allow: .always)), ("a⎋", .dismissed),
            ("aby", Answer(allow: .once)),
            ("a⏎y", Answer(allow: .once)), ("a←N", Answer(neverAskAgain: true)), ("⏎⎋", .dismissed),
            ("⏎⏎y", Answer(allow: .once)), ("↓↓⏎⇟←y", Answer(allow: .once)), ("⤓⏎by", Answer(allow: .once)),
        ])
    func answers(keys: String, answer: Answer) throws {
        var driver = try Self.driver()
        #expect(driver.press(keys) == .answer(answer))
        #expect(answer.isApproval == (answer.allow != nil))
    }

    @Test(
        "No other key allows anything",
        arguments: ["⏎y", "⏎⏎⏎⏎", "a⏎", "a⏎⏎⏎", "ab", "aa", "⏎a", "⏎ay", "s", "c", "?y", " ", "⇥"])
    func nothing(keys: String) throws {
        var driver = try Self.driver()
        for key in keys {
            if case .answer(let answer) = driver.press(String(key)) { Issue.record("answered \(answer)") }
        }
        #expect(driver.press(.paste("y")) == .nothing)
    }

    @Test("Nothing is allowed before its stage was visible long enough", arguments: ["y", "ay", "a↑⏎", "⏎⏎y"])
    func unarmed(keys: String) throws {
        var driver = try Self.driver()
        driver.isArmed = false
        #expect(driver.press(keys) == .tooEarly)
        #expect(!driver.shows("[y] Allow these") && !driver.shows("[y] Allow from"))
    }

    @Test("Without a list of changes nothing can be allowed")
    func unlisted() throws {
        var driver = try Driver(Self.prompt)
        #expect(driver.press("y") == .nothing && driver.press("ay") == .nothing && !driver.shows("[y]"))
        driver.people = []
        driver.begin()
        #expect(driver.press("y") == .nothing && driver.press("ay") == .nothing && driver.press("⏎") == .nothing)
        #expect(driver.press("⎋") == .answer(.dismissed))
    }

    @Test("The first screen says what the app would do, deletions first, and how often")
    func list() throws {
        let driver = try Self.driver()
        #expect(driver.shows("“mail” asks to change your contacts."))
        #expect(driver.shows("an unverified program: /usr/bin/mail"))
        #expect(driver.shows("Contacts: deletes 1, changes 2, adds 1 · other changes: 6"))
        #expect(driver.shows("› − Deletes “Ada Lovelace”  ada@example.org"))
        for line in [
            "  − Deletes the group “Friends”", "    Changes “Grace Hopper”",
            "  + Adds “[y] Allow 鄧 麗…” to the address book “Work”",
            "    Adds “Lin Lanying” to the group “Chess club”", "    Links “Ada Byron” with “Ada King”",
            "    Makes “Ada Byron” your own card", "    Makes “Kurt Gödel” no longer your own card",
        ] { #expect(driver.shows(line), "\(line)") }
        #expect(driver.shows("to the address book “Work”  (name looks like a key)"))
        let others = try Self.driver { $0.save = [0, 0, 0, 3] }
        #expect(others.shows("  other changes: 3"))
    }

    @Test("A change is opened with all of its values")
    func card() throws {
        var driver = try Self.driver()
        driver.press("⏎")
        for line in ["Deletes “Ada Lovelace”", " − home           ada@example.org", " − photo          (has a photo)"] {
            #expect(driver.shows(line))
        }
        driver.press("←↓↓⏎")
        #expect(driver.screen.stage == "change r3")
        var seen: Set<String> = []
        for _ in 0..<40 {
            seen.formUnion(driver.lines.map(\.text))
            driver.press("↓")
        }
        for line in [
            "   family name    Hopper", " → family name    Murray", " − nickname       Amazing Grace",
            "   work           +1 555 0100", " → home           +1 555 0199", " + phone          +1 555 0300",
            " ↕ e-mail         (in another order)", " ↕ e-mail         g@b.example",
            " → photo          (another photo)",
        ] { #expect(seen.contains(line), "\(line)") }
        driver.press("⤒⇟⤓⇞⇞⇞")
        #expect(driver.shows("family name    Hopper"))
        // A name that does not fit into its row is whole on the change's own screen.
        driver.press("←⤓↑↑⏎")
        #expect(driver.lines[0].text.contains("…") && driver.shows("to its end”"))
        driver.press("⏎↓⏎")
        #expect(driver.lines.map(\.text) == ["Makes “Ada Byron” your own card", "", "› [b] Back"])
    }

    @Test(
        "Such changes from now on are offered only if the policy allows the right, and their extent is named",
        arguments: [
            ("all", nil, "change and delete any of the 412 contacts that it sees, and later ones, without"),
            ("edit", nil, "change any of the 412 contacts that it sees, and later ones, without"),
            ("own", "own", "add contacts and groups, and change and delete what it added, without"),
            ("all", "edit", nil), ("edit", "own", nil), ("edit", "edit", "change any of the 412 contacts"),
            (nil, nil, nil), ("none", nil, nil), ("everything", nil, nil),
        ] as [(String?, String?, String?)])
    func always(needed: String?, most: String?, extent: String?) throws {
        var driver = try Self.driver {
            $0.changes = needed
            $0.maximumChanges = most
            if needed == "own" { $0.grantedChanges = "none" }
        }
        #expect(driver.shows("[a]") == (extent != nil))
        driver.press("a")
        guard let extent else {
            #expect(driver.screen.stage == "list")
            #expect(driver.press("y") == .answer(Answer(allow: .once)))
            return
        }
        #expect(driver.shows("› [b] Back") && driver.shows("  [y] Allow from now on"))
        #expect(driver.lines.map(\.text).joined(separator: " ").contains(extent))
        #expect(driver.press("y") == .answer(Answer(allow: .always)))
    }

    @Test("Where the app may make such changes already, the prompt says why it appears, and offers this save only")
    func many() throws {
        for granted in ["all", "edit", nil] {
            var driver = try Self.driver {
                $0.changes = "edit"
                $0.grantedChanges = granted
            }
            #expect(driver.shows("because apps like this one have changed many contacts") && !driver.shows("[a]"))
            #expect(driver.press("a") == .nothing && driver.screen.stage == "list")
            #expect(driver.press("y") == .answer(Answer(allow: .once)))
        }
        #expect(try !Self.driver().shows("apps like this one"))
    }

    @Test("The extent has the number of contacts that the app sees, and says only what its keys let it do")
    func extent() throws {
        func text(_ change: (inout PromptText) -> Void) throws -> String {
            var driver = try Self.driver(change)
            driver.press("a")
            return driver.lines.map(\.text).joined(separator: " ")
        }
        #expect(try text { $0.status = "full" }.contains("any of the 1,000 contacts"))
        #expect(try text { $0.grantedContacts = 1 }.contains("change and delete the one contact"))
        let few = try text { $0.grantedKeys = ["givenName"] }
        #expect(few.contains("link contacts") && !few.contains("delete"))
    }

    @Test("A long list is loaded where it is visible, and again for the same save under another cookie")
    func scrolling() throws {
        var driver = try Driver(Self.prompt)
        driver.total = 2_000
        driver.row = { $1.change = SaveChange(.changed, .contact, name: "Person \($0)") }
        driver.begin()
        driver.press("⤓")
        #expect(driver.shows("› ") && driver.shows("Changes “Person 2000”") && driver.shows("of 2,000"))
        driver.press("⇞⇞")
        #expect(driver.searches.count == 2)
        driver.press(.row(index: 2_000))
        #expect(driver.screen.stage == "list")
        driver.press(.row(index: 99))
        #expect(
            driver.screen.stage == "list" && driver.searches.count == 3 && driver.shows("› ")
                && driver.shows("Person 100”"))
        driver.press("⤓")
        driver.press(.row(index: 1_985))
        #expect(driver.screen.stage == "change r1986" && driver.shows("Changes “Person 1986”"))
    }

    @Test("After the terminal was resized at a change, the list shows the same row again", arguments: [0, 4, 9])
    func resized(row: Int) throws {
        var driver = try Self.driver()
        driver.press(.row(index: row))
        _ = driver.screen.dialogue.resized(to: .minimum)
        driver.press("b")
        let shown = driver.screen.lines(on: .minimum, isArmed: true)
        #expect(shown.contains { $0.action == .row(index: row) && $0.isHighlighted })
    }

    @Test("Every change of a record has words of its own in every language", arguments: LocalizedNames.available)
    func words(language: String) throws {
        let names = LocalizedNames(languages: [language])
        var texts: Set<String> = []
        for kind in SaveChange.Kind.allCases {
            for record in SaveChange.Record.allCases {
                for other in [nil, "B"] {
                    let change = SaveChange(kind, record, name: "A", other: other)
                    let text = change.words(columns: 80, names)
                    #expect(text.contains("A") && !text.contains("{"))
                    texts.insert(text)
                    let long = String(repeating: "語", count: 200)
                    let cut = SaveChange(kind, record, name: long, other: other.map { _ in long })
                    for columns in [40, 54, 194] {
                        #expect(Columns.width(cut.words(columns: columns, names)) <= columns)
                    }
                }
            }
        }
        #expect(texts.count == 22)
    }

    // MARK: In a terminal

    private func fixture(_ contacts: [BrokerStandIn.Contact] = changes) throws -> AgentFixture {
        let fixture = try AgentFixture(["--once"], contacts: contacts)
        try fixture.registered()
        fixture.ask(Self.prompt)
        return fixture
    }

    @Test("The person looks at a change and allows the save")
    func allows() throws {
        let fixture = try fixture()
        try fixture.see("› − Deletes “Ada Lovelace”", thenPress: "\r")
        try fixture.see("(has a photo)", thenPress: "\u{1B}[D")
        try fixture.see("[y] Allow these changes", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", allow: "once"))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("You allowed the changes of “mail”."))
    }

    @Test("The person allows such changes from now on")
    func allowsAlways() throws {
        let fixture = try fixture()
        try fixture.see("[a] Allow such changes from now on…", thenPress: "a")
        try fixture.see("[y] Allow from now on", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", allow: "always"))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("“mail” may now change: all that it sees; also deletes it"))
    }

    @Test("Escape refuses at every stage", arguments: ["", "\r", "a"])
    func refuses(before: String) throws {
        let fixture = try fixture()
        try fixture.see("[y] Allow these changes", thenPress: before)
        try fixture.see(["": "[N] Don't", "\r": "› [b] Back", "a": "› [b] Back"][before] ?? "", thenPress: "\u{1B}")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
        #expect(fixture.terminal.screen.contains("You did not allow the changes of “mail”."))
    }

    @Test("A save that is withdrawn and asked about again is listed again")
    func again() throws {
        let fixture = try AgentFixture(contacts: Self.changes)
        try fixture.registered()
        fixture.ask(Self.prompt)
        try fixture.see("[y] Allow these changes")
        fixture.broker.contacts.removeFirst()
        var prompt = Self.prompt
        prompt.cookie = "cookie-2"
        fixture.broker.say(#"{"withdrawn":"cookie-1"}"#)
        fixture.ask(prompt)
        try fixture.see("› − Deletes the group “Friends”")
        #expect(!fixture.terminal.screen.contains("Ada Lovelace"))
        try fixture.see("[y] Allow these changes", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-2", allow: "once"))
    }

    @Test("Without the password nothing is changed, and the prompt stays open")
    func password() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.changes)
        fixture.broker.refusal = ("io.contactbroker.Agent.AuthenticationFailed", "{}")
        try fixture.registered()
        fixture.ask(Self.prompt)
        try fixture.see("[y] Allow these changes", thenPress: "y")
        try fixture.see("The password was wrong, or nobody typed it.")
        fixture.broker.refusal = nil
        try fixture.see("[y] Allow these changes", thenPress: "y")
        #expect(try fixture.answer()?.allow == "once")
    }
}
