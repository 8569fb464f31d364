import BrokerJSON
import Glibc
import PseudoTerminal
import Testing

@Suite("contactctl restore --all-users")
struct RestoreTests {
    private let folder: TestFolder

    /// A backup of two users of every Debian.
    init() throws {
        folder = try TestFolder()
        let sections = ["daemon", "nobody"].map { user in
            """
            {"backup":{"user":"\(user)"}}
            {"card":{}}
            {"end":{"damaged":0}}
            {"code":"x"}

            """
        }
        try folder.write(sections.joined(), to: "backup")
    }

    /// - Parameter empty: the UID of a user who has no contacts.
    private func broker(empty: Int64? = nil) throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            guard method == "FinishRestore", parameters["replaces"]?.bool != true,
                parameters["uid"]?.integer != empty
            else { return .reply(#"{"contacts":1}"#) }
            return .error(
                "io.contactbroker.Admin.InvalidValue",
                parameters: #"{"parameter":"replaces","reason":"the address book has 1 contact"}"#)
        }
    }

    /// Answers the questions, and returns what the terminal shows and the users whose contacts were replaced.
    private func restore(_ answers: [String], _ broker: ScriptedBroker) throws -> (shown: String, replaced: [Int64]) {
        let terminal = try PseudoTerminal(
            RunningProgram.folder() + "/contactctl", arguments: ["restore", "--all-users", folder.path + "/backup"],
            environment: ["CONTACTBROKER_RUNTIME_DIR": broker.folder, "TERM": "xterm", "PATH": "/usr/bin:/bin"],
            columns: 200)
        for (place, answer) in answers.enumerated() {
            try terminal.wait(for: "question \(place + 1)") {
                $0.lines.count { $0.contains("Replace them with 1 contact of ") } > place
            }
            terminal.send(answer + "\r")
        }
        try terminal.waitForExit()
        #expect(terminal.text().contains("reading the backup: 1 contact"))
        let replaced = try broker.asked.filter { $0.method == "FinishRestore" }.compactMap {
            let parameters = try JSONDocument(parsing: Array($0.parameters.utf8)).root
            return parameters["replaces"]?.bool == true ? parameters["uid"]?.integer : nil
        }
        return (terminal.screen.text, replaced)
    }

    @Test("No contact is replaced before every question is answered with yes")
    func questions() throws {
        let stopped = try restore(["y", "n"], try broker())
        #expect(stopped.replaced.isEmpty)
        #expect(stopped.shown.hasSuffix("could not restore the backup: nothing was changed"), "\(stopped.shown)")
        let agreed = try restore(["y", "y"], try broker())
        #expect(agreed.replaced == [1, 65_534])
        #expect(agreed.shown.contains("restored 1 contact of nobody"), "\(agreed.shown)")
    }

    @Test("A user without contacts is restored without a question, and named if a later user is not")
    func empty() throws {
        let stopped = try restore(["n"], try broker(empty: 1))
        #expect(stopped.replaced.isEmpty)
        #expect(stopped.shown.hasSuffix("no contacts were replaced; restored only: daemon"), "\(stopped.shown)")
    }

    @Test("A failure between two users names those who were restored")
    func failure() throws {
        let broker = try ScriptedBroker { method, parameters in
            switch (method, parameters["uid"]?.integer) {
            case ("FinishRestore", 65_534):
                .error(
                    "io.contactbroker.Admin.InvalidValue",
                    parameters: #"{"parameter":"state","reason":"no room"}"#)
            default: .reply(#"{"contacts":1}"#)
            }
        }
        let outcome = try run(
            "contactctl", "restore", "--all-users", "--replace", folder.path + "/backup", with: broker)
        #expect(outcome.code == 1 && outcome.output.contains("restored 1 contact of daemon"))
        #expect(outcome.error.contains("backup: no room; restored only: daemon"), "\(outcome.error)")
    }
}
