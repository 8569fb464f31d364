import BrokerJSON
import Glibc
import PseudoTerminal
import Testing

/// Every question that contactctl and contactbook ask, at a real terminal.
@Suite("Questions at a terminal")
struct QuestionTests {
    enum Question: String, CaseIterable, Sendable {
        case restore, purge, putBack, empty, removeFromBin, remove, undo, edit, duplicates, importing

        var command: (program: String, arguments: String) {
            switch self {
            case .restore: ("contactctl", "restore --all-users backup")
            case .purge: ("contactctl", "purge-user daemon")
            case .putBack: ("contactctl", "put-back 7")
            case .empty: ("contactctl", "bin --empty")
            case .removeFromBin: ("contactctl", "bin --remove Ada --save 7")
            case .remove: ("contactbook", "remove A1")
            case .undo: ("contactbook", "undo --force")
            case .edit: ("contactbook", "edit A1")
            case .duplicates: ("contactbook", "duplicates")
            case .importing: ("contactbook", "import twin.csv")
            }
        }

        var text: String {
            switch self {
            case .restore: "Replace them with 1 contact of daemon? [y/N]"
            case .purge: "Remove them? [y/N]"
            case .putBack: "Put them back? [y/N]"
            case .empty: "Remove what 2 saves changed from the bin? [y/N]"
            case .removeFromBin: "Remove all that the bin has of Ada? [y/N]"
            case .remove: "Remove Ada Lovelace (+1 555 0100)? [y/N]"
            case .undo: "and remove 2 contacts? [y/N]"
            case .edit: "[o] overwrite with yours:"
            case .duplicates: "s, l or q:"
            case .importing: "the same for all that follow:"
            }
        }

        /// The keys that change something, and those that do not.
        var keys: (agreeing: String, refusing: String) {
            switch self {
            case .restore, .purge, .putBack, .empty, .removeFromBin, .remove, .undo: ("y\r", "n\r")
            case .edit: ("o", "d")
            case .duplicates: ("l", "q")
            case .importing: ("m", "s")
            }
        }
    }

    private let folder: TestFolder
    private let broker: ScriptedBroker

    init() throws {
        let folder = try TestFolder()
        try folder.write(
            "{\"backup\":{\"user\":\"daemon\"}}\n{\"card\":{}}\n{\"end\":{}}\n{\"code\":\"x\"}\n", to: "backup")
        try folder.write(
            "First Name,Last Name,E-mail Address,Home Phone\nAda,Lovelace,ada@example.org,201 555 0112\n",
            to: "twin.csv")
        try folder.write("sed -i s/Lovelace/King/ \"$1\"; touch edited", to: "editor")
        try #require(mkfifo(folder.path + "/go", 0o600) == 0)
        self.folder = folder
        let edited = folder.path + "/edited"
        broker = try ScriptedBroker { method, parameters in
            switch method {
            case "GetAuthorization": return .reply(#"{"status":"full"}"#)
            case "CountContacts": return .reply(#"{"count":2}"#)
            case "ListGroups": return .reply(#"{"groups":[]}"#)
            case "ListLinkedContacts", "SaveContacts": return .reply(#"{"identifiers":[],"historyToken":""}"#)
            case "FetchContacts":
                let named = parameters["predicate"]?["identifiers"]?.elements.map { $0.compactMap(\.string) }
                let isOfMe = parameters["predicate"]?["me"] != nil
                let cards = ["A1", "A2"].filter { !isOfMe && named?.contains($0) ?? true }.map { identifier in
                    """
                    {"identifier":"\(identifier)","givenName":"Ada",\
                    "familyName":"\(access(edited, F_OK) == 0 ? "Byron" : "Lovelace")",\
                    "phoneNumbers":[{"identifier":"1","value":"+1 555 0100"}],\
                    "emailAddresses":[{"identifier":"1","value":"ada@example.org"}]}
                    """
                }
                return .reply("{\"contacts\":[\(cards.joined(separator: ","))]}")
            case "FinishRestore" where parameters["replaces"]?.bool != true:
                return .error(
                    "io.contactbroker.Admin.InvalidValue",
                    parameters: #"{"parameter":"replaces","reason":"the address book has 1 contact"}"#)
            case "ListSaves":
                return .reply(
                    """
                    {"saves":[{"group":"g","label":"import people.vcf","time":"2026-03-01T12:00:00Z","added":2,\
                    "changed":0,"deleted":0,"takenBack":false}],"days":30}
                    """)
            case "TakeBack": return .reply(#"{"removed":2,"more":false}"#)
            case "PutBack": return .reply(#"{"returned":2}"#)
            case "GetBin": return .reply(#"{"days":30,"saves":2}"#)
            default: return .reply("{}")
            }
        }
    }

    @Test("A key that was typed before a question does not answer it", arguments: Question.allCases)
    func typedBefore(_ question: Question) throws {
        let (program, arguments) = question.command
        // The program starts only when the terminal has the keys.
        let start = "cd \(folder.path); cat go; exec \(try RunningProgram.folder())/\(program) \(arguments)"
        let terminal = try PseudoTerminal(
            "/bin/sh", arguments: ["-c", start],
            environment: [
                "CONTACTBROKER_RUNTIME_DIR": broker.folder, "XDG_STATE_HOME": folder.path, "TERM": "xterm",
                "PATH": "/usr/bin:/bin", "EDITOR": "sh ./editor",
            ], columns: 120)
        terminal.send(question.keys.agreeing)
        try terminal.wait(for: "the echo") { $0.text.hasPrefix(String(question.keys.agreeing.prefix(1))) }
        let go = open(folder.path + "/go", O_WRONLY | O_CLOEXEC)
        close(go)
        try terminal.wait(for: question.text)
        terminal.send(question.keys.refusing)
        try terminal.waitForExit()
        let changes = broker.asked.filter {
            ["SaveContacts", "PurgeUser", "EmptyBin"].contains($0.method) || $0.parameters.contains(#""replaces":true"#)
                || ["PutBack", "TakeBack"].contains($0.method) && !$0.parameters.contains(#""dryRun":true"#)
        }
        #expect(changes.isEmpty, "\(terminal.screen.text)")
    }
}
