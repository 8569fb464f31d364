import Glibc
import PseudoTerminal
import Testing

extension DaemonFixture {
    /// Starts the real agent in a terminal of its own.
    func agentTerminal(_ arguments: [String] = [], columns: Int = 80, rows: Int = 24) throws -> PseudoTerminal {
        let words = prefix + [Self.programs + "/contact-agent"] + arguments
        return try PseudoTerminal(
            words[0], arguments: Array(words.dropFirst()),
            environment: [
                "TERM": "xterm", "NO_COLOR": "1", "CONTACTBROKER_RUNTIME_DIR": runtime, "PATH": "/usr/bin:/bin",
            ], columns: columns, rows: rows)
    }

    /// Saves some contacts, then starts the real agent as the only agent.
    func terminalWithBook() throws -> PseudoTerminal {
        let person = try person()
        try keeper(with: person)
        end("agent")
        try waitForAgents(0)
        let terminal = try agentTerminal()
        try waitForAgents(1)
        return terminal
    }

    func contactbook(_ arguments: String..., answering: () throws -> Void = {}) throws -> Command {
        try Command(Self.programs + "/contactbook", arguments, in: self, answering: answering)
    }

    func ask(for query: String, answering: () throws -> Void = {}) throws -> Command {
        try Command(Self.programs + "/AskForContact", [query], in: self, answering: answering)
    }
}

extension PseudoTerminal {
    /// Waits for the text of a choice, then presses its key.
    func see(_ text: String, thenPress keys: String) throws {
        try wait(for: text)
        send(keys)
    }
}

@Suite("The real agent at a terminal, with the real broker and apps")
struct TerminalTests {
    @Test("A first prompt goes step by step, and the app reads exactly what the person confirmed")
    func stages() throws {
        let fixture = try DaemonFixture()
        let terminal = try fixture.terminalWithBook()
        let listed = try fixture.contactbook("list") {
            try terminal.wait(for: "“contactbook” asks to see your contacts.")
            #expect(terminal.screen.contains("an unverified program"))
            try terminal.see("[c] Choose contacts…", thenPress: "c")
            try terminal.wait(for: "  [ ] Emmy Noether")
            terminal.send("lov")
            try terminal.see("› [ ] Ada Lovelace", thenPress: "\t")
            try terminal.see("1 marked: Ada Lovelace", thenPress: "\r")
            try terminal.wait(for: "Share this contact with “contactbook”?")
            try terminal.see("[y] Share this contact", thenPress: "y")
        }
        #expect(listed.end == .exited(0), "\(listed.errors)")
        let lines = listed.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("Ada Lovelace") == true)
        #expect(lines.last?.contains("ada@example.org") == true)
        try terminal.wait(for: "You shared Ada Lovelace with “contactbook”.")
        let search = try fixture.contactbook("search", "grace")
        #expect(search.end == .exited(1))
        #expect(
            search.errors.contains("no name or company that contactbook may see begins with \"grace\"\nsearch does not")
        )
    }

    @Test("The access button takes one key for a known app, and one more for an unknown app")
    func button() throws {
        let fixture = try DaemonFixture()
        let terminal = try fixture.terminalWithBook()
        let first = try fixture.ask(for: "ada") {
            try terminal.wait(for: "“AskForContact” looks for “ada”.")
            try terminal.see("[s] Share Ada Lovelace", thenPress: "s")
            try terminal.wait(for: "Only this contact: Ada Lovelace")
            try terminal.see("[y] Share this contact", thenPress: "y")
        }
        #expect(first.output == "Ada Lovelace\n  +44 20 7946 0001\n  ada@example.org\n")
        let second = try fixture.ask(for: "grace") {
            try terminal.see("[s] Share Grace Hopper", thenPress: "s")
        }
        #expect(second.output == "Grace Hopper\n  grace@example.org\n")
        let third = try fixture.ask(for: "nobody") {
            try terminal.see("contact matches “nobody”", thenPress: "\u{1B}")
        }
        #expect(third.output == "Nothing was shared.\n")
        #expect(third.end == .exited(0))
    }

    @Test(
        "The person sees what a save beyond the app's right does, allows it once and then from now on, and refuses it")
    func changes() throws {
        let fixture = try DaemonFixture()
        let terminal = try fixture.terminalWithBook()
        let mail = try fixture.app("mail")
        try mail.begin("RequestAccess")
        try terminal.see("[a] Share all", thenPress: "a")
        try terminal.see("[y] Share all", thenPress: "y")
        #expect(try mail.reply().error == nil)
        func change(_ step: (String) -> String, answering: () throws -> Void) throws -> String? {
            let ada = try #require(try mail.fetch().identifiers.first)
            try mail.begin("SaveContacts", App.saving([step(ada)]))
            try terminal.wait(for: "“mail” asks to change your contacts.")
            try answering()
            return try mail.reply().error
        }
        func renamed(_ identifier: String) -> String {
            #"{"operation":"update","contact":{"identifier":"\#(identifier)","nickname":"Countess"}}"#
        }
        func deleted(_ identifier: String) -> String {
            #"{"operation":"delete","contact":{"identifier":"\#(identifier)"}}"#
        }
        let names = try mail.fetch().names
        let first = try #require(names.first)
        let refused = try change(deleted) {
            try terminal.see("› − Deletes “\(first)”", thenPress: "\r")
            try terminal.see(" − family name", thenPress: "\u{1B}")
        }
        #expect(refused == "RecordNotWritable")
        #expect(try mail.fetch().names == names)
        let once = try change(renamed) {
            try terminal.see("›   Changes “\(first)”", thenPress: "\r")
            try terminal.wait(for: " + nickname       Countess")
            try terminal.see("› [b] Back", thenPress: "b")
            try terminal.see("[y] Allow these changes", thenPress: "y")
        }
        #expect(once == nil)
        try terminal.wait(for: "You allowed the changes of “mail”.")
        let always = try change(deleted) {
            try terminal.see("[a] Allow such changes", thenPress: "a")
            try terminal.wait(for: "change and delete any of the \(names.count)")
            try terminal.see("[y] Allow from now on", thenPress: "y")
        }
        #expect(always == nil)
        #expect(try mail.fetch().names == Array(names.dropFirst()))
        // The app is not asked about any more.
        let next = try #require(try mail.fetch().identifiers.first)
        #expect(try mail.save([deleted(next)]).error == nil)
    }

    @Test("The prompts of two apps are shown one after the other")
    func queue() throws {
        let fixture = try DaemonFixture()
        let terminal = try fixture.terminalWithBook()
        let book = try Command.Running(DaemonFixture.programs + "/contactbook", ["list"], in: fixture)
        try terminal.wait(for: "“contactbook” asks to see your contacts.")
        let other = try Command.Running(DaemonFixture.programs + "/AskForContact", ["ada"], in: fixture)
        try fixture.waitForPrompts(2)
        try terminal.see("[Esc] Don't allow", thenPress: "\u{1B}")
        let refused = try book.finish()
        #expect(refused.end == .exited(1))
        #expect(refused.errors.contains("could not list the contacts: you refused contactbook access"))
        try terminal.wait(for: "“AskForContact” looks for “ada”.")
        try terminal.see("[Esc] Don't share", thenPress: "\u{1B}")
        #expect(try other.finish().output == "Nothing was shared.\n")
        try terminal.wait(for: "You shared nothing with “AskForContact”.")
    }

    @Test("The prompt of an app that gives up is closed")
    func givenUp() throws {
        let fixture = try DaemonFixture()
        let terminal = try fixture.terminalWithBook()
        let mail = try fixture.app("mail")
        try mail.begin("RequestAccess")
        try terminal.wait(for: "[c] Choose contacts…")
        fixture.end("mail")
        try terminal.wait(for: "The request of “mail” was closed or answered elsewhere.")
    }

    @Test(
        "Two agents show each other's terminal; the first answer wins, and the other agent closes its prompt"
    )
    func twoAgents() throws {
        let fixture = try DaemonFixture()
        let first = try fixture.terminalWithBook()
        let second = try fixture.agentTerminal()
        // The message names the terminal that the kernel reports, whatever the agent says about itself.
        try first.wait(for: "Another contact-agent started at pts/")
        try second.wait(for: "Another contact-agent of yours is running")
        let app = try fixture.app("mail")
        try app.begin("RequestAccess")
        try first.wait(for: "“mail” asks to see your contacts.")
        try second.see("[c] Choose contacts…", thenPress: "\u{1B}")
        #expect(try app.reply().word == "denied")
        try first.wait(for: "The request of “mail” was closed or answered elsewhere.")
        // The agent discards keys that are typed before this text appears, because they were meant for the prompt.
        try second.wait(for: "You denied “mail” access to your contacts.")
        second.send("q")
        #expect(try second.waitForExit() == .exited(0))
    }

    @Test("The notify-only agent says that an app waits, but not which one")
    func notifier() throws {
        let fixture = try DaemonFixture()
        let notifier = try PseudoTerminal(
            DaemonFixture.programs + "/contact-agent", arguments: ["--notify"],
            environment: ["CONTACTBROKER_RUNTIME_DIR": fixture.runtime])
        try fixture.waitForAgents(1)
        try fixture.app("mail").begin("RequestAccess", #"{"purpose":"to be seen"}"#)
        try notifier.wait(for: "1 request waiting. Open contact-agent in a terminal to answer.")
        #expect(!notifier.screen.contains("mail") && !notifier.screen.contains("seen"))
    }

    @Test(
        "Broker, agent and apps work for a user without any privilege",
        .enabled(if: Surroundings.ordinaryUser.canBeEntered, "needs unshare, setpriv and a build that others may read"))
    func ordinaryUser() throws {
        let fixture = try DaemonFixture(in: .ordinaryUser)
        let terminal = try fixture.agentTerminal()
        try terminal.wait(for: "Waiting for apps that ask for your contacts.")
        let added = try fixture.contactbook("add", "--given", "Ada", "--family", "Lovelace") {
            try terminal.see("[a] Allow all", thenPress: "a")
            try terminal.see("[y] Share all", thenPress: "y")
        }
        #expect(added.end == .exited(0), "\(added.errors)")
        #expect(added.output.hasPrefix("added Ada Lovelace\n"))
        let asked = try fixture.ask(for: "ada") {
            try terminal.see("[s] Share Ada Lovelace", thenPress: "s")
            try terminal.see("[y] Share this contact", thenPress: "y")
        }
        #expect(asked.output == "Ada Lovelace\n")
        let apps = try Command(DaemonFixture.programs + "/contactctl", ["apps"], in: fixture)
        #expect(apps.output.split(separator: "\n").count == 3)
        terminal.send("q")
        #expect(try terminal.waitForExit() == .exited(0))
    }
}
