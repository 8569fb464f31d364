import BrokerFormatting
import BrokerJSON
import BrokerModel
import Glibc
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts to manage an app's granted set")
struct ManageTests {
    /// Thirty people, of whom the app sees the first twelve.
    static func driver(status: String = "limited", granted: Int = 12, isOwn: Bool = false) throws -> Driver {
        var text = PromptText(kind: "manage", status: status, totalContacts: 30, grantedContacts: granted)
        text.grantedKeys = ["givenName", "familyName", "emailAddresses", "note"]
        var driver = try Driver(text, own: isOwn)
        driver.row = { $1.isGranted = $0 <= 12 }
        driver.begin()
        return driver
    }

    @Test(
        "Each sequence of keys gives the expected answer",
        arguments: [
            ("⎋", Answer.dismissed),
            ("N", Answer(neverAskAgain: true)),
            ("c⎋", .dismissed),
            ("c⇥⏎y", Answer(level: .limited, identifiers: [], removed: ["r1"])),
            ("c⇥↓⇥⏎y", Answer(level: .limited, identifiers: [], removed: ["r1", "r2"])),
            ("c→⇟↓⇥⏎y", Answer(level: .limited, identifiers: ["r20"])),
            ("c↓⇥→⇟↓⇥→→⇥⏎y", Answer(level: .limited, identifiers: ["r20"], removed: ["r2", "r1"])),
            ("c⇥⏎⎋⎋", .dismissed),
            ("c⇥⎋⏎⏎y", Answer(level: .limited, identifiers: [], removed: ["r1"])),
            ("xy", Answer(level: .denied)),
            ("x⎋", .dismissed),
            ("x⏎xy", Answer(level: .denied)),
            ("ay", Answer(level: .full)),
            ("c/a⇥⏎y", Answer(level: .limited, identifiers: [], removed: ["r1"])),
            ("cab↑⇥⏎y", Answer(level: .limited, identifiers: [], removed: ["r1"])),
            ("k ⏎y", Answer(level: .limited, keys: ["emailAddresses", "note"])),
            ("t1", Answer(level: .limited, lifetime: .days(1))),
            ("t↓↓⏎", Answer(level: .limited, lifetime: .days(30))),
        ])
    func answers(keys: String, answer: Answer) throws {
        var driver = try Self.driver()
        #expect(driver.press(keys) == .answer(answer))
    }

    @Test(
        "No other key changes the grant",
        arguments: [
            "y", "cy", "c⇥y", "c⇥", "c⇥⇥⏎y", "x", "x⏎", "xx", "a⏎", "a⏎⏎", "k⏎y", "k  ⏎y", "c⏎y", "k ←y", "t4", "t↑⏎",
            "t←1",
        ])
    func changesNothing(keys: String) throws {
        var driver = try Self.driver()
        if case .answer(let answer) = driver.press(keys) { Issue.record("answered \(answer)") }
    }

    @Test(
        "A change cannot be confirmed until it has been visible long enough", arguments: ["c⇥⏎y", "ay", "k ⏎y", "t1"])
    func unarmed(keys: String) throws {
        var driver = try Self.driver()
        driver.isArmed = false
        #expect(driver.press(keys) == .tooEarly)
    }

    @Test(
        "For an app with full access or none, the person makes a new selection",
        arguments: [("full", "c⇥↓↓⇥⏎y", ["r1", "r3"]), ("denied", "c↓↓⇥⏎y", ["r3"])])
    func another(status: String, keys: String, identifiers: [String]) throws {
        var driver = try Self.driver(status: status, granted: 0, isOwn: true)
        #expect(driver.press(keys) == .answer(Answer(level: .limited, identifiers: identifiers)))
    }

    @Test("A denied app can get all contacts, and an app with all contacts has no such choice")
    func levels() throws {
        var denied = try Self.driver(status: "denied", granted: 0, isOwn: true)
        #expect(!denied.shows("Revoke"))
        #expect(denied.press("ay") == .answer(Answer(level: .full)))
        var full = try Self.driver(status: "full", granted: 30, isOwn: true)
        #expect(!full.shows("Share all"))
        #expect(full.press("k ⏎y") == .answer(Answer(level: .full, keys: ["emailAddresses", "note"])))
    }

    @Test("An app that may never ask again can be let to ask again, and without a grant nothing else can be changed")
    func silenced() throws {
        var text = PromptText(kind: "manage", status: "notDetermined", silenced: true)
        var driver = try Driver(text, own: true)
        #expect(driver.shows("It sees no contacts.") && driver.shows("It may not ask"))
        #expect(["[c]", "[a]", "[k]", "[t]", "[x]", "Lasts"].allSatisfy { !driver.shows($0) })
        #expect(driver.press("caktx") == .nothing)
        #expect(driver.press("r") == .answer(Answer(mayAskAgain: true)))
        text.status = "denied"
        driver = try Driver(text, own: true)
        #expect(driver.shows("[r] Let it ask again") && driver.shows("[c]"))
        text.silenced = nil
        driver = try Driver(text, own: true)
        #expect(!driver.shows("[r]") && driver.press("r") == .nothing)
    }

    @Test("Notes can be turned on only if the app asked for them or has them")
    func keys() throws {
        var text = PromptText(kind: "manage", status: "limited", grantedContacts: 12)
        text.grantedKeys = ["givenName"]
        var driver = try Driver(text)
        driver.press("k")
        #expect(driver.shows("[ ] e-mail") && !driver.shows("notes"))
        driver = try Self.driver()
        driver.press("k")
        #expect(driver.shows("[x] notes"))
    }

    @Test("A grant that ends can be made to last, and a grant of a session cannot")
    func lifetimes() throws {
        var text = PromptText(kind: "manage", status: "full", grantedUntil: "2099-02-03T04:05:06Z")
        text.lifetimes = ["untilTime", "untilRevoked"]
        var driver = try Driver(text)
        #expect(driver.shows("Lasts: until Feb 3, 2099   [t] Change"))
        driver.press("t")
        #expect(driver.shows("› [1] 1 day from now") && driver.shows("[4] until you revoke it"))
        #expect(driver.press("4") == .answer(Answer(level: .full, lifetime: .untilRevoked)))
        text.lifetimes = ["session"]
        driver = try Driver(text)
        #expect(driver.shows("Lasts: this terminal session") && !driver.shows("[t]"))
        #expect(driver.press("t1") == .nothing)
    }

    @Test("A lifetime that the policy does not allow is not offered")
    func longest() throws {
        var text = PromptText(kind: "manage", status: "limited", grantedContacts: 1)
        text.endsAt = Timestamp.text(seconds: Int64(time(nil)) + 8 * 86_400)
        var driver = try Driver(text)
        driver.press("t")
        #expect(driver.shows("[2] 7 days from now") && !driver.shows("30 days"))
    }

    @Test("The answer names the end that the person chose")
    func wireLifetime() throws {
        let before = Int64(time(nil))
        var writer = JSONWriter()
        writer.object { Answer(level: .limited, lifetime: .days(7)).write(into: &$0) }
        let answer = try JSONDocument(parsing: writer.bytes).root
        #expect(answer["lifetime"]?.string == "untilTime")
        let end = try #require(answer["expires"]?.string.flatMap(Timestamp.seconds))
        #expect((before...Int64(time(nil))).contains(end - 7 * 86_400))
    }

    @Test("A review lists the app's contact groups, and can revoke them")
    func group() throws {
        var driver = try Self.driver()
        driver.row = {
            $1.isGranted = $0 <= 12; if $0 == 1 { $1.contacts = 5 }
        }
        driver.press("c⇥⏎")
        #expect(driver.shows("“mail” will see 5 fewer:"))
        let answer = Answer(level: .limited, identifiers: [], removed: ["r1"], lessContacts: 4)
        #expect(driver.press("y") == .answer(answer))
        #expect(ManageDialogue.words(for: answer, "“mail”", .inEnglish) == "“mail” now sees 5 fewer.")
    }

    @Test("A prompt says that the app gave another purpose before")
    func otherPurpose() throws {
        var text = PromptText(kind: "manage", status: "limited", grantedContacts: 1)
        var driver = try Driver(text)
        #expect(driver.shows("It says: “to fill in addresses”") && !driver.shows("another reason"))
        text.otherPurpose = true
        driver = try Driver(text)
        #expect(driver.shows("Before, it gave another reason."))
        text.formerPurpose = "to import the contacts"
        driver = try Driver(text)
        #expect(driver.shows("Earlier it said: “to import the contacts”") && !driver.shows("another reason"))
    }

    // MARK: - In a terminal

    static let people: [BrokerStandIn.Contact] = [
        .init(identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org", isGranted: true),
        .init(identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100"),
        .init(identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil),
    ]

    @Test("One answer adds a contact and removes another")
    func addsAndRemoves() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "manage", status: "limited", grantedContacts: 1))
        try fixture.see("“mail” asks you to review what it may see.")
        #expect(fixture.terminal.screen.contains("It sees 1 of 3 contacts."))
        try fixture.see("[c] Change contacts…", thenPress: "c")
        try fixture.see("› [x] Ada Lovelace", thenPress: "\t")
        #expect(!fixture.terminal.screen.contains("Grace"))
        try fixture.see("› [−] Ada Lovelace", thenPress: "\u{1B}[C")
        try fixture.see("  [ ] Grace Hopper", thenPress: "\u{1B}[B\t")
        try fixture.see("› [+] Grace Hopper", thenPress: "\r")
        try fixture.see("“mail” will see 1 more, 1 fewer:")
        #expect(fixture.terminal.screen.contains("+ Grace Hopper"))
        #expect(fixture.terminal.screen.contains("− Ada Lovelace"))
        try fixture.see("[y] Change", thenPress: "y")
        #expect(
            try fixture.answer()
                == BrokerStandIn.Answer(cookie: "cookie-1", level: "limited", identifiers: ["r2"], removed: ["r1"]))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("“mail” now sees 1 more, 1 fewer."))
    }

    @Test("Escape changes nothing")
    func leaves() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "manage", status: "limited", grantedContacts: 1))
        try fixture.see("[c] Change contacts…", thenPress: "\u{1B}")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }

    @Test("The person opens an app on the main screen, and revokes all of its access")
    func opens() throws {
        let broker = BrokerStandIn()
        broker.grants = """
            [{"app":"x","strength":"claimed","displayName":"chat","status":"denied","contacts":0,"uses":0},\
            {"app":"/usr/bin/mail h","strength":"unverified","displayName":"mail","status":"limited","contacts":1,\
            "uses":7,"session":"terminal session of process 7"}]
            """
        broker.managed = PromptText(cookie: "own", kind: "manage", status: "limited", grantedContacts: 1)
        let fixture = try AgentFixture(contacts: Self.people, broker: broker)
        try fixture.registered()
        try fixture.see("› “chat”", thenPress: "\u{1B}[B")
        try fixture.see("› “mail”", thenPress: "\r")
        try fixture.see("What may “mail” see?")
        #expect(fixture.broker.opened == ["/usr/bin/mail h", "unverified", "terminal session of process 7"])
        try fixture.see("[x] Revoke all access…", thenPress: "x")
        try fixture.see("Revoke all access of “mail”?")
        try fixture.see("[y] Revoke", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "own", level: "denied"))
        try fixture.see("You revoked the access of “mail”.")
    }

    private static func chat(_ status: String) -> String {
        #"[{"app":"x","strength":"claimed","displayName":"chat","status":"\#(status)","contacts":1,"uses":0}]"#
    }

    @Test("The list of apps changes without a key when the broker reports a change")
    func live() throws {
        let broker = BrokerStandIn()
        broker.grants = Self.chat("limited")
        let fixture = try AgentFixture(broker: broker)
        try fixture.registered()
        try fixture.see("limited")
        broker.grants = Self.chat("denied")
        broker.say(#"{"accessChanged":true}"#)
        try fixture.see("denied")
        #expect(!fixture.terminal.screen.contains("limited"))
    }

    @Test("A review is closed when the app's access is another one, and not when the app only used it")
    func staleReview() throws {
        let broker = BrokerStandIn()
        broker.grants = Self.chat("limited")
        broker.managed = PromptText(cookie: "own", kind: "manage", status: "limited", grantedContacts: 1)
        let fixture = try AgentFixture(contacts: Self.people, broker: broker)
        try fixture.registered()
        try fixture.see("› “chat”", thenPress: "\r")
        try fixture.see("[x] Revoke all access…")
        broker.grants = Self.chat("limited").replacing(#""contacts":1"#, with: #""contacts":2"#)
        broker.say(#"{"accessChanged":true}"#)
        broker.say(#"{"waiting":2}"#)
        try fixture.see("2 more waiting")
        // The number is that of now, and the review stays open.
        try fixture.see("It sees 2 of")
        #expect(fixture.terminal.screen.contains("[x] Revoke all access…"))
        broker.grants = Self.chat("denied")
        broker.say(#"{"accessChanged":true}"#)
        try fixture.see("The access of “chat” has changed meanwhile.")
        #expect(broker.answers.isEmpty)
    }

    @Test("The outcome says how long the app has access, and whom the person shared")
    func outcomes() {
        let names = LocalizedNames.inEnglish
        let end = names.day(Int64(time(nil)) + 86_400)
        let day = ManageDialogue.words(for: Answer(level: .limited, lifetime: .days(1)), "“mail”", names)
        #expect(day == "“mail” may see your contacts until \(end).")
        let revoked = ManageDialogue.words(for: Answer(level: .full, lifetime: .untilRevoked), "“mail”", names)
        #expect(revoked == "“mail” may see your contacts until you revoke it.")
        let keys = ManageDialogue.words(for: Answer(level: .limited, keys: ["emailAddresses"]), "“mail”", names)
        #expect(keys == "“mail” may now read: e-mail")
    }

    @Test("A review says how many contacts the app got, and when it last did")
    func use() throws {
        var text = PromptText(
            kind: "manage", status: "limited", grantedContacts: 1, lastUsedAt: "2026-03-01T12:00:00Z", uses: 854)
        text.contactsRead = 10_003
        #expect(try Driver(text).shows("It got 10,003 contacts, last on Mar 1, 2026."))
        text.lastUsedAt = Timestamp.text(seconds: Int64(time(nil)))
        let today = try Driver(text)
        #expect(today.shows("It got 10,003 contacts, last today at ") || !today.shows("Mar 1"))
        text.contactsRead = 0
        #expect(try Driver(text).shows("It has not read any contacts."))
    }

    @Test("The list of apps shows what ends a grant, the time of a use today, and all contacts for full access")
    func table() {
        let now = Int64(time(nil))
        var grant = AppGrant(app: "x", displayName: "mail", strength: .claimed, status: "full", contacts: 10_003)
        grant.expires = "2099-02-03T04:05:06Z"
        grant.lastUsedAt = Timestamp.text(seconds: now)
        func row(_ columns: Int) -> String {
            GrantsTable.lines([grant], 0..<1, current: 0, columns: columns, .inEnglish)[1].text
        }
        #expect(row(100).contains("full until Feb 3, 2099") && row(100).contains("10,003"))
        #expect(row(100).contains(LocalizedNames.inEnglish.moment(now)) && row(100).contains("claimed"))
        // A small terminal has no room for every column, and none of dots.
        #expect(row(59).contains("full until Feb 3, 2099") && !row(59).contains("claimed") && !row(59).contains("…"))
    }

    @Test("A grant that has ended since the list was shown cannot be opened")
    func ended() throws {
        let broker = BrokerStandIn()
        broker.grants =
            #"[{"app":"x","strength":"claimed","displayName":"chat","status":"limited","contacts":1,"uses":0}]"#
        let fixture = try AgentFixture(broker: broker)
        try fixture.registered()
        try fixture.see("› “chat”", thenPress: "\r")
        try fixture.see("“chat” has no access any more.")
    }
}
