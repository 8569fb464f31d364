import BrokerJSON
import Testing

/// Runs programs that `import Contacts` against a real broker.
@Suite("Apple's Contacts API over the broker")
struct ContactsTests {
    @Test("The listings of Apple's introduction print what it says")
    func article() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let article = try Command(DaemonFixture.programs + "/ContactsArticle", in: fixture) {
            let prompt = try person.prompt()
            #expect(prompt["purpose"]?.string == "to show what the article shows")
            try person.answer(prompt, #""level":"full","lifetime":"untilRevoked","changes":"all""#)
        }
        #expect(article.end == .exited(0), "\(article.errors)")
        #expect(
            article.output == """
                John Appleseed
                1 Infinite Loop
                Cupertino
                95014
                CA
                nickname
                home
                1 found: Appleseed
                John Appleseed ["john@example.com", "j.appleseed@icloud.com"]
                fetched again: (408) 555-0126
                1 john@example.com, 2 j.appleseed@icloud.com, 3 johnny@example.com

                """)
        let spanish = try Command(
            DaemonFixture.programs + "/ContactsArticle", in: fixture, environment: ["LANG": "es_ES.UTF-8"])
        #expect(spanish.output.contains("\napodo\ncasa\n"), "\(spanish.output) \(spanish.errors)")
    }

    @Test("Without a broker, the article's program shows its help, and says why it cannot run")
    func articleWithoutBroker() throws {
        let fixture = try DaemonFixture(starting: false)
        let help = try Command(DaemonFixture.programs + "/ContactsArticle", ["--help"], in: fixture)
        #expect(help.end == .exited(0) && help.output.hasPrefix("ContactsArticle: "), "\(help)")
        let alone = try Command(DaemonFixture.programs + "/ContactsArticle", in: fixture)
        #expect(alone.end == .exited(1) && alone.errors.hasPrefix("ContactsArticle: "), "\(alone)")
    }

    @Test("A contact is found by a phone number in any notation; an unknown number finds none")
    func callerID() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let program = DaemonFixture.programs + "/CallerID"
        let known = try Command(program, ["020 7946 0001"], in: fixture, environment: ["LANG": "en_GB.UTF-8"]) {
            try person.answer(.everything)
        }
        #expect(known.output == "Ada Lovelace\n" || known.output.hasPrefix("unknown caller"), "\(known.errors)")
        #expect(try Command(program, ["+44 20 7946 0001"], in: fixture).output == "Ada Lovelace\n")
        let unknown = try Command(program, ["+44 20 7946 9999"], in: fixture)
        #expect(unknown.output == "unknown caller +44 20 7946 9999\n" && unknown.end == .exited(1))
    }

    @Test("A client that keeps a history token first gets everything, then only what changed")
    func syncs() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let file = fixture.folder + "/token"
        let first = try Command(DaemonFixture.programs + "/SyncClient", [file], in: fixture) {
            try person.answer(.everything)
        }
        #expect(first.output.split(separator: "\n").first == "start over", "\(first.errors)")
        #expect(
            Set(first.output.split(separator: "\n").dropFirst().map(String.init))
                == Set(DaemonFixture.names.map { "added " + $0 }))
        #expect(try Command(DaemonFixture.programs + "/SyncClient", [file], in: fixture).output == "")

        let ada = try #require(keeper.fetch(#""predicate":{"name":"ada"}"#).identifiers.first)
        let grace = try #require(keeper.fetch(#""predicate":{"name":"grace"}"#).identifiers.first)
        let steps = [
            #"{"operation":"update","contact":{"identifier":"\#(ada)","familyName":"King"}}"#,
            #"{"operation":"delete","contact":{"identifier":"\#(grace)"}}"#,
        ]
        #expect(try keeper.save(steps).error == nil)
        let second = try Command(DaemonFixture.programs + "/SyncClient", [file], in: fixture)
        #expect(second.output == "deleted\nchanged Ada King\n", "\(second.errors)")

        // For a contact that was added and deleted between two runs, the history has only the deletion.
        let added = try keeper.save([App.adding(given: "Short")])
        let short = try #require(added.strings("identifiers").first)
        #expect(try keeper.save([#"{"operation":"delete","contact":{"identifier":"\#(short)"}}"#]).error == nil)
        let third = try Command(DaemonFixture.programs + "/SyncClient", [file], in: fixture)
        #expect(third.output == "deleted\n" && third.end == .exited(0), "\(third.errors)")
        #expect(try Command(DaemonFixture.programs + "/SyncClient", [file], in: fixture).output == "")
    }
}
