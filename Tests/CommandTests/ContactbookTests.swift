import BrokerJSON
import BrokerModel
import Glibc
import Testing

@testable import contactbook

@Suite("contactbook")
struct ContactbookTests {
    private static let ada = """
        {"identifier":"A1","contactType":"person","givenName":"Ada","familyName":"Lovelace",\
        "phoneNumbers":[{"identifier":"1","label":"_$!<Mobile>!$_","value":"+1 555 0100"}],"emailAddresses":[]}
        """
    private static let adam = """
        {"identifier":"A2","givenName":"Adam\\u001b]0;x\\u0007","familyName":"Smith","phoneNumbers":[],"emailAddresses":[]}
        """

    /// A broker that lets contactbook see Ada and Adam.
    private func broker(status: String = "full", groups: String = "") throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            switch method {
            case "GetAuthorization": return .reply("{\"status\":\"\(status)\"}")
            case "RequestAccess": return .reply("{\"status\":\"\(status)\"}")
            case "ListLinkedContacts": return .reply("{\"identifiers\":[\"A1\"]}")
            case "ListGroups": return .reply("{\"groups\":[\(groups)]}")
            case "ListSaves": return .reply("{\"saves\":[],\"days\":30}")
            case "SaveContacts": return .reply("{\"identifiers\":[\"N1\"],\"historyToken\":\"\"}")
            case "FetchContacts":
                let predicate = parameters["predicate"]
                if let identifiers = predicate?["identifiers"]?.elements {
                    let found = identifiers.contains { $0.says("A1") } ? Self.ada : ""
                    return .reply("{\"contacts\":[\(found)]}")
                }
                if let name = predicate?["name"]?.string {
                    let found = [Self.ada, Self.adam].filter {
                        $0.lowercased().contains("\":\"\(name.lowercased().prefix(8))")
                    }
                    return .reply(
                        "{\"contacts\":[\((name == "Ada Lovelace" ? [Self.ada] : found).joined(separator: ","))]}")
                }
                return parameters["after"] == nil
                    ? .reply("{\"contacts\":[\(Self.ada)],\"next\":\"p2\"}") : .reply("{\"contacts\":[\(Self.adam)]}")
            default: return .error("org.varlink.service.MethodNotFound")
            }
        }
    }

    @Test("list reads all pages, and no name can break its table")
    func list() throws {
        let broker = try broker()
        let outcome = try run("contactbook", "list", with: broker)
        #expect(
            outcome.output == """
                NAME            PHONE        E-MAIL
                Ada Lovelace    +1 555 0100
                Adam]0;x Smith

                """)
        #expect(outcome.code == 0)
        #expect(broker.asked.count == 2)
    }

    @Test(
        "list and search of nothing exit with 1 and say so, also with --json",
        arguments: [[], ["--json"]] as [[String]])
    func nothing(_ options: [String]) throws {
        let broker = try ScriptedBroker { method, _ in
            .reply(method == "GetAuthorization" ? #"{"status":"limited"}"# : #"{"contacts":[]}"#)
        }
        for (command, sentence) in [
            (["list"], "you have not shared any contact with contactbook"),
            (
                ["search", "ada@example.org"],
                "no name or company that contactbook may see begins with \"ada@example.org\""
            ),
        ] {
            let outcome = try RunningProgram("contactbook", command + options, runtime: broker.folder).finish()
            #expect(outcome.code == 1 && outcome.error.contains(sentence), "\(outcome.error)")
            #expect(outcome.output == (options.isEmpty ? "" : "[]\n"))
        }
    }

    @Test("JSON has escapes in place of characters that change the text around them, and says the same")
    func visibleJSON() throws {
        let name = "a\u{202E}b\u{9B}\u{7F}\u{E0041}é"
        let broker = try ScriptedBroker { method, _ in
            switch method {
            case "GetAuthorization": .reply(#"{"status":"full"}"#)
            case "ListGrants": .reply(#"{"grants":[{"app":"x","displayName":"\#(name)","status":"full"}]}"#)
            default: .reply(#"{"contacts":[{"identifier":"1","givenName":"\#(name)"}]}"#)
            }
        }
        for command in [["contactctl", "apps", "--json"], ["contactbook", "list", "--json"]] {
            let shown = try RunningProgram(command[0], Array(command[1...]), runtime: broker.folder).finish().output
            #expect(shown.contains(#"a\u202eb\u009b\u007f\udb40\udc41é"#), "\(shown)")
            let value = try JSONDocument(parsing: Array(shown.utf8)).root
            let read =
                value["grants"]?.elements?.first { _ in true }?["displayName"]
                ?? value.elements?.first { _ in true }?["givenName"]
            #expect(read?.string == name)
        }
    }

    @Test(
        "After a mistake, the hint names the help of that command",
        arguments: [
            ("contactbook add --nonsense", "contactbook add --help"),
            ("contactbook groups add", "contactbook groups add --help"),
            ("contactctl policy check", "contactctl policy check --help"),
            ("contactctl --nonsense", "contactctl --help"),
        ])
    func hints(typed: String, hint: String) throws {
        let runs = try [typed, hint].map { line in
            let words = line.split(separator: " ").map(String.init)
            return try RunningProgram(words[0], Array(words.dropFirst()), runtime: "/nonexistent").finish()
        }
        #expect(runs[0].code == 2 && runs[0].error.hasSuffix("\ntry: \(hint)\n"), "\(runs[0].error)")
        #expect(runs[1].code == 0 && runs[1].output.contains("USAGE: \(hint.dropLast(7))"))
    }

    @Test("show prints the card with its labels in words")
    func show() throws {
        let outcome = try run("contactbook", "show", "A1", with: broker())
        #expect(outcome.output == "Ada Lovelace\n  mobile          +1 555 0100\n  identifier      A1\n")
    }

    @Test("contactbook requests notes only with --note")
    func notes() throws {
        let broker = try broker()
        _ = try run("contactbook", "show", "A1", with: broker)
        #expect(broker.asked.allSatisfy { !$0.parameters.contains("\"note\"") })
        let count = broker.asked.count
        _ = try run("contactbook", "show", "--note", "A1", with: broker)
        // Its grant lacks notes, so the person gets a prompt for notes alone.
        #expect(broker.asked.dropFirst(count).first?.method == "RequestAccess")
        #expect(
            broker.asked.dropFirst(count).first?.parameters == #"{"purpose":"to show the contact","keys":["note"]}"#)
        #expect(broker.asked.last?.parameters.contains("\"note\"") == true)
    }

    @Test("An ambiguous name removes nothing, and the matching contacts are listed with their identifiers")
    func ambiguous() throws {
        let broker = try broker()
        let outcome = try run("contactbook", "remove", "--yes", "ada", with: broker)
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.error.contains("A1") && outcome.error.contains("A2"))
        #expect(outcome.error.contains("ada can mean 2 contacts"))
        #expect(!broker.asked.contains { $0.method == "SaveContacts" })
    }

    @Test("remove needs --yes if there is no terminal on which it can ask")
    func remove() throws {
        let broker = try broker()
        let unasked = try run("contactbook", "remove", "Ada", "Lovelace", with: broker)
        #expect(unasked.code == 2 && unasked.error.hasSuffix("add --yes\n"))
        #expect(!broker.asked.contains { $0.method == "SaveContacts" })
        let outcome = try run("contactbook", "remove", "--yes", "Ada", "Lovelace", with: broker)
        #expect(outcome.output == "removed Ada Lovelace\n")
        let sent = try #require(broker.asked.last?.parameters)
        #expect(sent.hasPrefix(#"{"changes":[{"operation":"delete","contact":{"identifier":"A1"}}],"group":""#))
        #expect(sent.hasSuffix(#","label":"remove Ada Lovelace"}"#))
    }

    @Test("add sends the typed values, with labels in their stored form")
    func add() throws {
        let broker = try broker()
        let outcome = try run(
            "contactbook", "add", "--given", "Zoë", "--phone", "mobile:+44 20 7946 0000", "--url", "https://x.example",
            with: broker)
        #expect(outcome.output == "added Zoë\nidentifier N1\n")
        #expect(
            broker.asked.last?.parameters.hasPrefix(
                """
                {"changes":[{"operation":"add","contact":{"givenName":"Zoë","phoneNumbers":\
                [{"label":"_$!<Mobile>!$_","value":"+44 20 7946 0000"}],"urlAddresses":[{"value":"https://x.example"}]}}],\
                "group":"
                """) == true)
    }

    @Test("add without a name or with a date that does not exist sends nothing")
    func badAdd() throws {
        let broker = try broker()
        #expect(try run("contactbook", "add", with: broker).code == 2)
        #expect(try run("contactbook", "add", "--given", "A", "--birthday", "1990-02-30", with: broker).code == 2)
        #expect(broker.asked.isEmpty)
    }

    @Test("add without options reads the contact from standard input")
    func addFromInput() throws {
        let broker = try broker()
        func add(_ text: String) throws -> RunningProgram.Outcome {
            let path = broker.folder + "/input"
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
            return try RunningProgram("contactbook", ["add"], runtime: broker.folder, input: path).finish()
        }
        let added = try add("Given name: Zoë\nPhone:\n  mobile: +44 20 7946 0000\n")
        #expect(added.output == "added Zoë\nidentifier N1\n", "\(added.error)")
        #expect(broker.asked.last?.parameters.contains(#""value":"+44 20 7946 0000""#) == true)
        let count = broker.asked.count
        for (text, reason) in [("Colour: blue\n", "line 1: "), ("Given name:\n", "it is empty"), ("", "it is empty")] {
            let refused = try add(text)
            #expect(refused.code == 2)
            #expect(refused.error.contains(reason), "\(refused.error)")
        }
        #expect(broker.asked.count == count)
    }

    @Test("While the person is prompted, contactbook says on a terminal where to answer", arguments: [true, false])
    func waiting(isTerminal: Bool) throws {
        let gate = try pipe()
        let opened = gate[0]
        let broker = try ScriptedBroker { method, _ in
            if method == "GetAuthorization" { return .reply("{\"status\":\"notDetermined\"}") }
            guard method == "RequestAccess" else { return .reply("{\"contacts\":[\(Self.ada)]}") }
            var byte: UInt8 = 0
            _ = read(opened, &byte, 1)
            return .reply("{\"status\":\"limited\"}")
        }
        let program = try RunningProgram(
            "contactbook", ["list"], runtime: broker.folder, errorIsTerminal: isTerminal)
        let sentence = "Waiting for your answer: open contact-agent in another terminal."
        if isTerminal { #expect(program.waitUntilItSays("terminal.") == sentence) }
        #expect(write(gate[1], "y", 1) == 1)
        let outcome = try program.finish()
        #expect(outcome.output.contains("Ada Lovelace") && outcome.error == (isTerminal ? "\r\n" : ""))
        for descriptor in gate { close(descriptor) }
        #expect(broker.asked.map(\.method) == ["RequestAccess", "FetchContacts"])
        #expect(broker.asked.first?.parameters == #"{"purpose":"to list the contacts","changes":"all"}"#)
    }

    @Test("contactbook does not repeat a dismissed prompt")
    func dismissed() throws {
        let broker = try ScriptedBroker { _, _ in .reply("{\"status\":\"notDetermined\"}") }
        let outcome = try run("contactbook", "show", "--note", "Ada", with: broker)
        #expect(outcome.code == 1 && outcome.error.contains("you did not answer the request"))
        #expect(broker.asked.map(\.method) == ["RequestAccess"])
        #expect(broker.asked.first?.parameters.contains("\"note\"") == true)
    }

    @Test(
        "Each error has a sentence of its own that says what to try",
        arguments: [
            ("AccessDenied", 1 as Int32, "contactbook may not do that\nto see whether you or the administrator"),
            ("RecordNotWritable", 1, "contactbook may not change that\nallow it in contact-agent"),
            ("AuthorizationNotDetermined", 1, "you did not answer the request\nopen contact-agent in another terminal"),
            ("NoAgent", 2, "contact-agent is not running, so nothing can ask you\nopen contact-agent in another"),
            ("TooManyPrompts", 2, "another request of contactbook is still open\nanswer it in contact-agent"),
            ("StoreUnavailable", 2, "your contacts cannot be read or written just now"),
        ])
    func refusals(error: String, code: Int32, sentence: String) throws {
        let broker = try ScriptedBroker { method, _ in
            method == "GetAuthorization"
                ? .reply("{\"status\":\"limited\"}")
                : .error("io.contactbroker.Contacts.\(error)", parameters: "{\"retryAfterSeconds\":7}")
        }
        let outcome = try run("contactbook", "list", with: broker)
        #expect(outcome.code == code && outcome.output.isEmpty)
        #expect(outcome.error.hasPrefix("contactbook: could not list the contacts: \(sentence)"))
        #expect(outcome.error.split(separator: "\n").count == 2)
    }

    @Test(
        "If contactbook may not ask yet, it says who has to wait, how long and why",
        arguments: [
            (40, "refusals", "40 seconds", "its last requests were not granted"),
            (1, "crowd", "1 second", "other programs have asked too often"),
            (121, "refusals", "3 minutes", "its last requests were not granted"),
            (86_400, "refusals", "24 hours", "its last requests were not granted"),
        ])
    func held(seconds: Int, reason: String, wait: String, words: String) throws {
        let parameters = "{\"retryAfterSeconds\":\(seconds),\"reason\":\"\(reason)\"}"
        let broker = try ScriptedBroker { method, _ in
            method == "GetAuthorization"
                ? .reply("{\"status\":\"notDetermined\"}")
                : .error("io.contactbroker.Contacts.TooManyPrompts", parameters: parameters)
        }
        let outcome = try run("contactbook", "list", with: broker)
        #expect(
            outcome.error.hasPrefix(
                "contactbook: could not list the contacts: contactbook must wait \(wait) before it can ask you again, "
                    + "because \(words)\n"))
        #expect(outcome.code == 2 && outcome.error.contains("contact-agent"))
    }

    @Test("Where the policy decides, contactbook does not advise a reset")
    func policy() throws {
        let restricted = try ScriptedBroker { method, _ in
            method == "GetAuthorization"
                ? .reply("{\"status\":\"restricted\"}") : .error("io.contactbroker.Contacts.AccessDenied")
        }
        let refused = try run("contactbook", "list", with: restricted)
        #expect(refused.error.contains("the administrator's policy does not allow it\nto see the rule: contactctl why"))
        #expect(refused.error.contains("only an administrator can change it") && !refused.error.contains("reset"))
        for (reason, what) in [("policyUnreadable", "policy file"), ("settingsUnreadable", "settings file")] {
            let unreadable = try ScriptedBroker { method, _ in
                method == "GetAuthorization"
                    ? .reply("{\"status\":\"restricted\"}")
                    : .error("io.contactbroker.Contacts.AccessDenied", parameters: "{\"reason\":\"\(reason)\"}")
            }
            let outcome = try run("contactbook", "list", with: unreadable)
            #expect(outcome.error.contains("the administrator's \(what) cannot be read, so every app is refused"))
            #expect(outcome.error.contains("ask the administrator to correct it") && !outcome.error.contains("reset"))
        }
    }

    @Test("A search without matches exits with 1, and prints an empty list in JSON")
    func nothingFound() throws {
        let outcome = try run("contactbook", "search", "--json", "xyz", with: broker())
        #expect(outcome.code == 1 && outcome.output == "[]\n")
    }

    @Test(
        "A URL's own colon does not end a label",
        arguments: [
            ("mobile:+1", "_$!<Mobile>!$_", "+1"), ("Boat:+1", "Boat", "+1"), ("+1", nil, "+1"), (":+1", nil, "+1"),
            ("https://x.example", nil, "https://x.example"),
            ("work:https://x.example", "_$!<Work>!$_", "https://x.example"),
        ])
    func labels(argument: String, label: String?, value: String) {
        #expect(LabeledArgument(argument: argument)?.label == label)
        #expect(LabeledArgument(argument: argument)?.value == value)
    }

    @Test(
        "If no answer to a save comes, the command fails, and does not try again",
        arguments: [
            ["add", "--given", "Grace"], ["groups", "create", "Friends"], ["import", "--duplicates", "keep"],
        ])
    func unanswered(arguments: [String]) throws {
        let broker = try ScriptedBroker { method, _ in
            switch method {
            case "GetAuthorization": .reply("{\"status\":\"full\"}")
            case "ListGroups": .reply("{\"groups\":[]}")
            case "SaveContacts": .hangUp
            default: .error("org.varlink.service.MethodNotFound")
            }
        }
        let path = broker.folder + "/card.vcf"
        let card = "BEGIN:VCARD\nVERSION:3.0\nFN:Grace\nEND:VCARD\n"
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(write(file, card, card.utf8.count) == card.utf8.count)
        close(file)
        defer { unlink(path) }
        let failed = try RunningProgram(
            "contactbook", arguments + (arguments[0] == "import" ? [path] : []), runtime: broker.folder
        ).finish()
        #expect(failed.code == 2, "\(failed.error)")
        #expect(broker.asked.count { $0.method == "SaveContacts" } == 1)
    }

    @Test("A group of another app with limited access never takes the place of one of the same name")
    func groupOfAnotherApp() throws {
        func group(_ identifier: String, _ name: String, byOther: Bool = false) -> String {
            #"{"identifier":"\#(identifier)","name":"\#(name)","namedByOther":\#(byOther)}"#
        }
        let others = [group("E1", "Family", byOther: true), group("E2", "family", byOther: true)]
        let broker = try broker(groups: (others + [group("F1", "FAMILY")]).joined(separator: ","))
        for name in ["Family", "family", "FAMILY"] {
            #expect(
                try run("contactbook", "groups", "remove", name, "A1", with: broker).code == 0, "\(name)")
            #expect(broker.asked.last?.method == "SaveContacts")
            #expect(broker.asked.last?.parameters.contains(#""group":{"identifier":"F1""#) == true)
        }
        #expect(try run("contactbook", "groups", "create", "family", with: broker).code == 0)
        // Each can still be named by its identifier, or by its name if there is no other.
        #expect(try run("contactbook", "groups", "delete", "E2", with: broker).output.contains("family"))
        #expect(broker.asked.last?.parameters.contains(#""E2""#) == true)
        let alone = try self.broker(groups: others[0])
        #expect(try run("contactbook", "groups", "delete", "Family", with: alone).code == 0)
        // Of two that count, contactbook names the identifiers.
        let two = try self.broker(groups: [group("F1", "Family"), group("F2", "Family")].joined(separator: ","))
        let outcome = try run("contactbook", "groups", "delete", "Family", with: two)
        #expect(outcome.code != 0 && outcome.error.contains("F1  Family") && outcome.error.contains("F2  Family"))
        #expect(outcome.error.contains("name one by its identifier, as above"))
    }
}
