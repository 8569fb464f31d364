import BrokerJSON
import Glibc
import Testing

/// Runs a program that does one thing at a time with `import Contacts`, against a real broker.
@Suite("What the Contacts library does for an app")
struct ContactsPromisesTests {
    private static let probe = DaemonFixture.programs + "/ContactsProbe"

    /// A broker whose address book the probe may see in full.
    private func fixture() throws -> (fixture: DaemonFixture, person: Person, keeper: App) {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let first = try Command(Self.probe, ["request"], in: fixture) { try person.answer(.everything) }
        #expect(first.output == "true\n3\n", "\(first.errors)")
        return (fixture, person, keeper)
    }

    private func probe(_ words: String..., in fixture: DaemonFixture) throws -> String {
        let command = try Command(Self.probe, words, in: fixture)
        #expect(command.end == .exited(0), "\(command.errors)")
        return command.output
    }

    @Test("Reading a key that was not fetched stops the program and names the key; saving it is an error")
    func unfetched() throws {
        let (fixture, _, keeper) = try fixture()
        let stopped = try Command(Self.probe, ["unfetched"], in: fixture, environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(stopped.end != .exited(0) && stopped.output.isEmpty)
        #expect(stopped.errors.contains("CNPropertyNotFetchedException"))
        #expect(stopped.errors.contains("phoneNumbers"))
        #expect(try probe("unfetched-update", in: fixture) == "Countess\nerror 302 [\"jobTitle\"] 1\n")
        let ada = try keeper.call("FetchContacts", #"{"keys":["jobTitle"],"predicate":{"name":"ada"}}"#)
        #expect(ada["contacts"]?.elements?.map { $0["jobTitle"]?.string } == [""])
    }

    @Test("A predicate that the library did not make and a key that was not granted have their own errors")
    func refused() throws {
        let (fixture, _, _) = try fixture()
        #expect(try probe("foreign", in: fixture) == "error 400 [] 0\n")
        #expect(try probe("note", in: fixture) == "error 102 [\"note\"] 0\n")
    }

    @Test("A save is carried out as a whole or not at all, and a contact added and deleted in it is not saved")
    func saves() throws {
        let (fixture, _, _) = try fixture()
        #expect(try probe("all-or-nothing", in: fixture) == "error 200 [] 1\n0\n")
        #expect(try probe("cancel", in: fixture) == "4\n")
    }

    @Test("The last save can be undone")
    func undo() throws {
        let (fixture, _, _) = try fixture()
        #expect(try probe("undo", in: fixture) == "King 4 true\nLovelace 4 false\n[\"grace@example.org\"]\n")
    }

    @Test("Fetched contacts outlive their store and can be read by many threads at once")
    func outlives() throws {
        let (fixture, _, _) = try fixture()
        #expect(try probe("outlive", in: fixture) == "Hopper,Lanying,Lovelace,Noether\n")
    }

    @Test("The first call waits for the person's answer; after a denial, calls fail without another prompt")
    func refusal() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        #expect(try probe("status", in: fixture) == "0\n")
        let refused = try Command(Self.probe, ["list"], in: fixture) {
            try person.answer(person.prompt(), #""level":"denied","lifetime":"untilRevoked""#)
        }
        #expect(refused.output == "error 100 [] 0\n", "\(refused.errors)")
        #expect(try probe("request", in: fixture) == "error 100 [] 0\n2\n")
        #expect(try probe("list", in: fixture) == "error 100 [] 0\n")
        #expect(try person.wasNotAsked())
    }

    @Test("With limited access, requestAccess succeeds, and the app sees the granted set only")
    func limited() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let asked = try Command(Self.probe, ["request"], in: fixture) { try person.answer(.only(["Ada Lovelace"])) }
        #expect(asked.output == "true\n4\n", "\(asked.errors)")
        #expect(try probe("list", in: fixture) == "Ada Lovelace\n")
    }

    @Test("An observer is notified of each change once, even across a restart of the broker")
    func watches() throws {
        let (fixture, _, keeper) = try fixture()
        let watcher = try Command.Running(Self.probe, ["watch"], in: fixture)
        defer { watcher.end() }
        #expect(try watcher.wait(for: 2) == ["4", "watching"])
        #expect(try keeper.save([App.adding(given: "Nils")]).error == nil)
        #expect(try watcher.wait(for: 3).last == "told 5")
        try fixture.stop()
        try fixture.start()
        let again = try fixture.app("keeper")
        #expect(try again.save([App.adding(given: "Akka")]).error == nil)
        #expect(try watcher.wait(for: 4).last == "told 6")
    }

    @Test("Two threads with a store each see each other's saves, and a burst causes one notification")
    func threads() throws {
        let (fixture, _, _) = try fixture()
        let threads = try Command(Self.probe, ["threads"], in: fixture, within: .seconds(60))
        #expect(threads.output == "failures 0 contacts 44\ntold of a burst 1\n", "\(threads.errors)")
        // If the thread sanitizer is present and finds a race, the program's exit status is not 0.
        #expect(threads.end == .exited(0), "\(threads.errors)")
    }

    @Test("Linked cards are read and changed as one contact until they are unlinked")
    func links() throws {
        let (fixture, _, _) = try fixture()
        #expect(
            try probe("linked", in: fixture) == """
                1 ["katherine@home.example", "katherine@work.example"]
                false true
                2
                2
                [2]
                [["katherine@work.example"], ["kj@home.example"]]

                """)
    }

    @Test("The history lists the changes since a token and leaves out excluded authors")
    func history() throws {
        let (fixture, _, _) = try fixture()
        let told = try probe("history", in: fixture).split(separator: "\n").map(String.init)
        let group = "CNChangeHistoryAddGroupEvent CNChangeHistoryAddMemberToGroupEvent false"
        #expect(told == ["CNChangeHistoryAddContactEvent \(group)", group, "true"])
    }

    @Test("An app that asks for notes can read them if the person agrees")
    func notes() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let asked = try Command(Self.probe, ["request-notes"], in: fixture) { try person.answer(.everythingAndNotes) }
        // The name by which the contact is found is among the granted keys.
        #expect(asked.output == "true\nfirst programmer\n", "\(asked.errors)")
    }

    @Test("An app that asks for the groups of others sees them if the person agrees")
    func groups() throws {
        for isGiven in [true, false] {
            let fixture = try DaemonFixture()
            let person = try fixture.person()
            let keeper = try fixture.keeper(with: person)
            #expect(try keeper.save([#"{"operation":"add","group":{"name":"Programmers"}}"#]).error == nil)
            let asked = try Command(Self.probe, ["request-groups"], in: fixture) {
                let prompt = try person.prompt()
                #expect(prompt["keys"]?.elements?.compactMap(\.string).last == "groups")
                let rows = try person.search(prompt, "ada").map(\.identifier)
                let keys = isGiven ? #","keys":["givenName","groups"]"# : ""
                try person.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows))\#(keys)"#)
            }
            #expect(asked.output == "true\n\(isGiven ? #"["Programmers"] true"# : "[] false")\n", "\(asked.errors)")
        }
    }

    @Test("The access button shares one contact and makes the app limited")
    func button() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let pressed = try Command(Self.probe, ["button", "ada"], in: fixture) {
            let prompt = try person.prompt()
            #expect(prompt["query"]?.string == "ada")
            let rows = try person.search(prompt, "ada").map(\.identifier)
            try person.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows))"#)
        }
        #expect(pressed.output == "[\"Ada\"] 4\n", "\(pressed.errors)")
        let ignored = try Command(Self.probe, ["button", "grace"], in: fixture) {
            let prompt = try person.prompt()
            #expect(try person.search(prompt, "grace").isEmpty)
            try person.answer(prompt)
        }
        #expect(ignored.output == "[] 4\n", "\(ignored.errors)")
    }

    @Test("The access button's query follows what the person types in the app")
    func changedQuery() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let pipe = fixture.folder + "/typed"
        try #require(mkfifo(pipe, 0o600) == 0)
        let pressed = try Command(Self.probe, ["typing", "ad", "grace", pipe], in: fixture) {
            let prompt = try person.prompt()
            #expect(prompt["query"]?.string == "ad")
            close(open(pipe, O_WRONLY))
            #expect(try person.changedQuery() == "grace")
            let rows = try person.search(prompt, "grace").map(\.identifier)
            try person.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows))"#)
        }
        #expect(pressed.output == "1\n", "\(pressed.errors)")
    }

    @Test("A picked value leaves the app without access, and an app without access may propose a card")
    func picks() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let picked = try Command(Self.probe, ["pick"], in: fixture) {
            let prompt = try person.prompt()
            let ada = try #require(person.search(prompt, "ada").first).identifier
            let value = #"{"contact":"\#(ada)","key":"emailAddresses","value":"1"}"#
            #expect(try person.answer(prompt, #""picked":[\#(value)]"#).error == nil)
        }
        #expect(picked.output == "Ada emailAddresses ada@example.org\n1 0\nnone of the picker's\n", "\(picked.errors)")
        let offered = try Command(Self.probe, ["offer"], in: fixture) {
            let prompt = try person.prompt()
            #expect(prompt["kind"]?.string == "propose")
            #expect(try person.answer(prompt, #""addProposed":true"#).error == nil)
        }
        #expect(offered.output == "done nothing false\nfalse\n", "\(offered.errors)")
    }

    @Test("A list is fetched page by page at the app's pace, and the app may stop early")
    func pages() throws {
        let (fixture, _, _) = try fixture()
        #expect(
            try probe("pages", in: fixture) == """
                2 Hopper,Lanying true
                2 Lovelace,Noether false
                Hopper Lanying Lovelace Noether
                stopped after Lanying
                error 400 [] 0

                """)
    }

    @Test("The app continues during a pending save, and a descriptor becomes readable when the save is done")
    func pending() throws {
        let (fixture, _, _) = try fixture()
        #expect(try probe("pending", in: fixture) == "4 false -1\nreadable true\n304 true\ntrue -1\n304\n")
    }

    @Test("An abandoned save is carried out as a whole or not at all, and the store stays usable")
    func abandoned() throws {
        let (fixture, _, _) = try fixture()
        let words = try probe("abandoned", in: fixture).split(separator: "\n")
        #expect(words.first == "-1 true" && (words.last == "0" || words.last == "100"), "\(words)")
    }

    @Test("The error of a refused save names the step, the reason and the exceeded limit")
    func failedStep() throws {
        let (fixture, _, _) = try fixture()
        #expect(
            try probe("failed-step", in: fixture) == """
                1 InvalidContact birthday true
                0
                LimitExceeded changes 2000

                """)
    }

    @Test("A save may refer to records by identifiers, including records that the same save adds")
    func identifiers() throws {
        let (fixture, _, _) = try fixture()
        #expect(
            try probe("identifiers", in: fixture) == """
                Lovelace,Mary 1
                Lovelace
                []
                0 3

                """)
    }

    @Test("Without a broker, a call fails at once with an error that says what to check")
    func alone() throws {
        let fixture = try DaemonFixture(starting: false)
        #expect(try probe("list", in: fixture) == "error 1 [] 0\n")
        #expect(try probe("status", in: fixture) == "0\n")
        let advice = try probe("advice", in: fixture)
        #expect(advice.hasPrefix("no contact broker at \(fixture.runtime)"))
        #expect(advice.hasSuffix("\nis contactbrokerd running? try: contactbrokerd --session\n"))
    }
}
