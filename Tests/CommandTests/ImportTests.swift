import BrokerCommandOutput
import BrokerJSON
import Glibc
import Testing
import ThreadSanitizer

@testable import contactbook

@Suite("contactbook import")
struct ImportTests {
    /// A broker that saves every contact except those called Bad.
    private func broker() throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            let changes = parameters["changes"]?.elements.map(Array.init) ?? []
            if let index = changes.firstIndex(where: { $0["contact"]?["givenName"]?.says("Bad") == true }) {
                return .error(
                    "io.contactbroker.Contacts.InvalidContact",
                    parameters: "{\"index\":\(index),\"key\":\"givenName\",\"reason\":\"not that one\"}")
            }
            return .reply(
                "{\"identifiers\":[\(changes.map { _ in "\"N\"" }.joined(separator: ","))],\"historyToken\":\"\"}")
        }
    }

    private func saved(_ broker: ScriptedBroker) throws -> [Int] {
        try broker.asked.filter { $0.method == "SaveContacts" }.map {
            try JSONDocument(parsing: Array($0.parameters.utf8)).root["changes"]?.count ?? 0
        }
    }

    private func withFile<Result>(_ text: String, _ body: (String) throws -> Result) throws -> Result {
        var template = Array("/tmp/import-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer { unlink(path) }
        try #require(descriptor >= 0 && write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
        return try body(path)
    }

    private func card(_ name: String, version: String = "3.0") -> String {
        "BEGIN:VCARD\r\nVERSION:\(version)\r\nFN:\(name)\r\nEND:VCARD\r\n"
    }

    @Test("Cards that cannot be added are reported with file, line and reason, and the others are added")
    func report() throws {
        try withFile(card("One") + card("Old", version: "9.9") + card("Bad") + card("Two")) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.output == "added 2 contacts of 1 file\n")
            #expect(
                outcome.error == """
                    \(path):5: unsupported version; only 2.1, 3.0 and 4.0 can be read
                    \(path):9: givenName is not taken: not that one
                    contactbook: 2 contacts were not added

                    """)
            #expect(outcome.code == 1)
            #expect(try saved(broker) == [3, 2])
        }
    }

    @Test("If the address book is full, import stops and prints the broker's reason")
    func full() throws {
        try withFile(card("One") + card("Two")) { path in
            let broker = try ScriptedBroker { method, _ in
                guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
                return .error(
                    "io.contactbroker.Contacts.LimitExceeded",
                    parameters:
                        "{\"limit\":\"addressBook\",\"maximum\":1048576,\"reason\":\"the address book is full: delete some\"}"
                )
            }
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            let reason = "the address book is full: delete some"
            #expect(outcome.error == "contactbook: could not import the contacts: \(reason)\n")
            #expect(broker.asked.count { $0.method == "SaveContacts" } == 1)
        }
    }

    @Test("A large file is saved in several saves of limited size")
    func batches() throws {
        let count = ContactSaves.changesPerSave
        try withFile((0..<2 * count + 1).map { card("Person \($0)") }.joined()) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 0 && outcome.output == "added \(Count.words(2 * count + 1, "contact")) of 1 file\n")
            // The saves use two connections, so their order is not fixed.
            let saves = try saved(broker)
            #expect(saves.max() == count && saves.reduce(0, +) == 2 * count + 1)
            #expect(saves.min() ?? 0 <= ContactSaves.changesOfFirstSave && saves.count <= 6)
        }
    }

    @Test(
        "A few cards that are too large for one save are saved in several",
        .enabled(if: !ThreadSanitizer.isPresent, "so many bytes take ten minutes with the thread sanitizer"))
    func heavy() throws {
        let street = String(repeating: "\"", count: 150_000)
        let cards = (0..<60).map { number in
            card("Person \(number)").replacing("END:", with: "ADR:;;\(street);Town;;;\r\nEND:")
        }
        try withFile(cards.joined()) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 0 && outcome.output == "added 60 contacts of 1 file\n", "\(outcome.error)")
            #expect(try saved(broker).sorted() == [30, 30])
        }
    }

    @Test("A dry run causes no prompt and adds nothing")
    func dryRun() throws {
        try withFile(card("One") + card("Two")) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", "--dry-run", path, with: broker)
            #expect(outcome.code == 0 && outcome.output == "2 contacts in 1 file can be added\n")
            #expect(broker.asked.allSatisfy { ["CountContacts", "FetchContacts"].contains($0.method) })
        }
    }

    @Test("A missing file is reported before anything is added")
    func missingFile() throws {
        try withFile(card("One")) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, "/nowhere/x.vcf", with: broker)
            #expect(outcome.code == 2 && broker.asked.isEmpty)
            #expect(outcome.error.contains("/nowhere/x.vcf: no such file or directory"))
        }
    }

    @Test("A file without a card is reported, and import exits with 1")
    func noCards() throws {
        for text in ["hello\n", "", "\u{0}\u{1}END:VCARD\n"] {
            try withFile(text) { path in
                let broker = try broker()
                let outcome = try run("contactbook", "import", path, with: broker)
                #expect(outcome.code == 1 && outcome.output == "added 0 contacts of 1 file\n")
                #expect(
                    outcome.error
                        == "\(path): no vCard, CSV or LDIF in it\ncontactbook: there is no contact in 1 file\n")
                #expect(!broker.asked.contains { $0.method == "SaveContacts" })
            }
        }
    }

    @Test("If the broker stops answering, import reports how many contacts were added and the last of them")
    func interrupted() throws {
        let count = ContactSaves.changesOfFirstSave
        let broker = try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            return parameters["changes"]?.count == count
                ? .reply("{\"identifiers\":[],\"historyToken\":\"\"}")
                : .error("io.contactbroker.Contacts.StoreUnavailable")
        }
        try withFile((0...count).map { card("Person \($0)") }.joined()) { path in
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            #expect(
                outcome.error.contains(
                    "(\(Count.words(count, "contact")) were added, the last from \(path):\(4 * count - 3))"))
        }
    }

    /// Imports two contacts more than the first save contains. The broker answers the first save after it has received
    /// the second, which also shows that two saves can be pending.
    private func importInTwoSaves(
        first: ScriptedBroker.Answer, second: ScriptedBroker.Answer
    ) throws -> RunningProgram.Outcome {
        let count = ContactSaves.changesOfFirstSave
        let arrival = try pipe()
        defer { for end in arrival { close(end) } }
        let broker = try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            var byte: UInt8 = 1
            guard parameters["changes"]?.count == count else {
                write(arrival[1], &byte, 1)
                return second
            }
            read(arrival[0], &byte, 1)
            return first
        }
        return try withFile((0..<count + 2).map { card("Person \($0)") }.joined()) { path in
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            return outcome
        }
    }

    private static let storeUnavailable = ScriptedBroker.Answer.error("io.contactbroker.Contacts.StoreUnavailable")

    @Test("Contacts saved after a failed save are counted, but import names no card to continue from")
    func brokenInTheMidst() throws {
        let outcome = try importInTwoSaves(
            first: Self.storeUnavailable, second: .reply("{\"identifiers\":[],\"historyToken\":\"\"}"))
        #expect(outcome.error.contains("(2 contacts were added)"))
    }

    @Test(
        "If two pending saves fail, import reports as unknown only the contacts without a reply",
        arguments: [true, false])
    func bothFail(isAnswered: Bool) throws {
        let answer = isAnswered ? Self.storeUnavailable : .hangUp
        let outcome = try importInTwoSaves(first: answer, second: answer)
        let doubt = "\(ContactSaves.changesOfFirstSave + 2) more may have been added"
        #expect(outcome.error.contains("may have been added") == !isAnswered, "\(outcome.error)")
        #expect(outcome.error.contains(doubt) == !isAnswered, "\(outcome.error)")
    }

    @Test("A dry run reports cards that cannot be added, even without a broker")
    func dryRunRefused() throws {
        try withFile(card("One") + card("Old", version: "9.9")) { path in
            let outcome = try RunningProgram("contactbook", ["import", "--dry-run", path], runtime: "/nowhere").finish()
            #expect(outcome.output == "1 contact in 1 file can be added\n" && outcome.code == 1)
            #expect(outcome.error.hasSuffix("contactbook: 1 contact cannot be added\n"))
            #expect(outcome.error.hasPrefix("\(path):5: unsupported version"))
        }
    }

    @Test("Import uses limited memory", arguments: ["cards", "one line", "what is no card"])
    func memory(kind: String) throws {
        let size = 6 * 1_048_576
        let line = String(repeating: "x", count: 1_024)
        let text =
            switch kind {
            case "cards": String(repeating: card(line), count: size / 1_100)
            case "one line": String(repeating: line, count: size / 1_024)
            default: String(repeating: line + "\n", count: size / 1_025)
            }
        func held(_ text: String) throws -> Int {
            try withFile(text) {
                try RunningProgram("contactbook", ["import", "--dry-run", $0], runtime: "/nowhere").finish().memory
            }
        }
        let growth = try held(text) - held(card("One"))
        // Import keeps a line in memory up to the maximum size of a card, even if the line begins no card.
        #expect(growth < (kind == "one line" ? 3 * size : size / 2), "\(growth)")
    }

    @Test("Several files are one import, and each message names its own file")
    func severalFiles() throws {
        try withFile(card("One") + card("Old", version: "9.9")) { first in
            try withFile(card("Two") + "BEGIN:VCARD\nVERSION:3.0\nnonsense\nFN:Three\n") { second in
                let broker = try broker()
                let outcome = try run("contactbook", "import", first, second, with: broker)
                #expect(outcome.output == "added 3 contacts of 2 files\n")
                #expect(
                    outcome.error == """
                        \(first):5: unsupported version; only 2.1, 3.0 and 4.0 can be read
                        \(second):5: no END:VCARD; the lines up to there were read
                        \(second):7: not a vCard line; left out
                        contactbook: 1 contact was not added

                        """)
                #expect(try saved(broker) == [3])
            }
        }
    }

    /// Runs an import that gets SIGINT during its first save.
    ///
    /// - Parameter isAnswered: whether that save is answered after the signal, or never.
    private func interruptedImport(_ path: String, isAnswered: Bool) throws -> (RunningProgram.Outcome, saves: [Int]) {
        let saving = try pipe()
        let goOn = try pipe()
        defer { for end in saving + goOn { close(end) } }
        let broker = try ScriptedBroker { method, _ in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            var byte: UInt8 = 1
            write(saving[1], &byte, 1)
            // Wait until the test writes or closes its end.
            let isAnswered = read(goOn[0], &byte, 1) == 1
            return isAnswered ? .reply("{\"identifiers\":[],\"historyToken\":\"\"}") : .hangUp
        }
        let program = try RunningProgram("contactbook", ["import", path], runtime: broker.folder)
        var byte: UInt8 = 0
        try #require(read(saving[0], &byte, 1) == 1)
        program.signal(SIGINT)
        // A second save may have been sent already.
        if isAnswered { for _ in 0..<2 { write(goOn[1], &byte, 1) } }
        let outcome = try program.finish()
        shutdown(goOn[1], CInt(SHUT_RDWR))
        return (outcome, try saved(broker))
    }

    @Test("On SIGINT, import waits for the pending saves, reports its progress and ends by the signal")
    func interruptedByThePerson() throws {
        try withFile((0..<3 * ContactSaves.changesPerSave).map { card("Person \($0)") }.joined()) { path in
            let (outcome, saves) = try interruptedImport(path, isAnswered: true)
            #expect(outcome.signal == SIGINT && outcome.output.isEmpty)
            // The signal is sent after the first save has arrived; the second may be pending by then.
            let count = saves.reduce(0, +)
            let last = "\(path):\(4 * count - 3)"
            #expect(
                outcome.error
                    == "contactbook: interrupted; \(Count.words(count, "contact")) were added, the last from \(last)\n")
            #expect(saves.contains(ContactSaves.changesOfFirstSave) && saves.count <= 2)
        }
    }

    @Test("On SIGINT without a reply from the broker, import ends and reports the contacts whose save is unknown")
    func interruptedWithoutAnswer() throws {
        try withFile(card("One")) { path in
            let (outcome, _) = try interruptedImport(path, isAnswered: false)
            #expect(outcome.signal == SIGINT)
            #expect(
                outcome.error == "contactbook: interrupted; 0 contacts were added; 1 more may have been added\n")
        }
    }

    @Test("Import reads on while the broker saves")
    func overlap() throws {
        var template = Array("/tmp/import-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        let path = folder + "/cards"
        defer {
            unlink(path)
            rmdir(folder)
        }
        try #require(mkfifo(path, 0o600) == 0)
        let file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        let goOn = try pipe()
        defer { for end in goOn { close(end) } }
        let count = ContactSaves.changesPerSave
        let broker = try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            var byte: UInt8 = 0
            if parameters["changes"]?.count == count { read(goOn[0], &byte, 1) }
            return .reply("{\"identifiers\":[],\"historyToken\":\"\"}")
        }
        let program = try RunningProgram(
            "contactbook", ["import", "--duplicates", "keep", path], runtime: broker.folder)
        // The text exceeds the pipe and one read, but is not enough for another save.
        let text = Array((0..<count).map { card("Person \($0)") }.joined().utf8)
        let long = card("Bob\r\nNOTE:" + String(repeating: "x", count: 500))
        let rest = Array(String(repeating: long, count: count - 1).utf8)
        var left = (text + rest)[...]
        while !left.isEmpty {
            let written = left.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written > 0 { left = left.dropFirst(written) }
            var room = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
            guard written > 0 || poll(&room, 1, 10_000) == 1 else { break }
        }
        #expect(left.isEmpty)
        var byte: UInt8 = 1
        write(goOn[1], &byte, 1)
        close(file)
        let outcome = try program.finish()
        #expect(outcome.output == "added \(Count.words(2 * count - 1, "contact")) of 1 file\n")
    }

    @Test("Cards in other character sets are converted")
    func otherCharacterSet() throws {
        let name = "N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:=C6r=F8"
        try withFile("BEGIN:VCARD\nVERSION:3.0\n\(name)\nEND:VCARD\n") { path in
            let broker = try broker()
            #expect(try run("contactbook", "import", path, with: broker).error.isEmpty)
            #expect(broker.asked.last?.parameters.contains("Ærø") == true)
        }
    }
}
