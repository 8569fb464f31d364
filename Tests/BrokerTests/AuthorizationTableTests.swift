import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants

@Suite("Answers of each method at each authorization level")
struct AuthorizationTableTests {
    typealias Table = AuthorizationTable

    @Test("A method that names no record answers as the table says", arguments: Table.Level.allCases)
    func general(level: Table.Level) throws {
        let world = try TableWorld(level)
        let nothing = TableWorld.Record("nothing", identifier: "")
        for row in Table.general { try world.check(row, nothing) }
    }

    @Test(
        "A method that names a contact answers as the table says, and alike for all contacts that the app cannot see",
        arguments: Table.Level.allCases)
    func contacts(level: Table.Level) throws {
        let world = try TableWorld(level)
        for row in Table.ofContacts {
            var hidden = Set<String>()
            for record in world.contacts {
                let answer = try world.check(row, record)
                if !world.sees(record) { hidden.insert(answer) }
            }
            #expect(
                hidden.count <= 1,
                "\(level) \(row.method) \(row.parameters) answers differently for hidden contacts: \(hidden)")
        }
    }

    @Test(
        "A method that names a group answers as the table says, and alike for all groups that the app cannot see",
        arguments: Table.Level.allCases)
    func groups(level: Table.Level) throws {
        let world = try TableWorld(level)
        for row in Table.ofGroups {
            var hidden = Set<String>()
            for record in world.groups {
                let answer = try world.check(row, record)
                if !world.sees(record) { hidden.insert(answer) }
            }
            #expect(
                hidden.count <= 1,
                "\(level) \(row.method) \(row.parameters) answers differently for hidden groups: \(hidden)")
        }
    }

    @Test("The table covers every method")
    func methods() {
        let rows = Table.general + Table.ofContacts + Table.ofGroups
        #expect(
            Set(rows.map(\.method)) == [
                "GetAuthorization", "RequestAccess", "FetchContacts", "CountContacts", "SaveContacts",
                "ListLinkedContacts", "GetUserDefaults", "SetUserDefaults", "ListContainers", "ListGroups",
                "WatchChanges", "FetchHistory", "RequestContacts", "UpdateRequest", "ManageAccess", "PickContacts",
                "ProposeContact", "ListSaves", "TakeBack",
            ])
        #expect(Set(rows.map(\.method)) == Set(ContactsMethod.allCases.map(\.rawValue)))
    }
}

/// A book with Ada and Bob, and an app at one level that knows identifiers of every kind.
private final class TableWorld {
    struct Record {
        let kind: String
        let identifier: String
        var name = ""
        /// For a group: the given name of its member.
        var member = ""

        init(_ kind: String, identifier: String, name: String = "", member: String = "") {
            (self.kind, self.identifier, self.name, self.member) = (kind, identifier, name, member)
        }
    }

    let level: AuthorizationTable.Level
    let fixture: BrokerFixture
    private let app: TestApp
    private var person: TestPerson?
    private(set) var contacts: [Record] = []
    private(set) var groups: [Record] = []
    /// The table's placeholders, by the app's identifiers.
    private var words: [String: String] = [:]

    init(_ level: AuthorizationTable.Level) throws {
        self.level = level
        fixture = try BrokerFixture()
        app = try fixture.app("mail", .full, strength: .installed)
        let keeper = try fixture.app("keeper", .full)
        let chat = try fixture.app("chat", .full)
        let stranger = TestApp(fixture: fixture, caller: fixture.caller("mail", uid: 1_001))
        try fixture.grant(.full, to: stranger)
        _ = try keeper.save([
            .add(given: "Ada"), .add(given: "Bob", extra: #","emailAddresses":[{"value":"bob@example.org"}]"#),
            .add(given: "Cid"),
        ])
        _ = try stranger.save([.add(given: "Ada")])
        let cid = try app.identifier(of: "Cid")
        _ = try keeper.save([.delete(keeper.identifier(of: "Cid"))])

        let (ada, bob) = (try app.identifier(of: "Ada"), try app.identifier(of: "Bob"))
        let made = String(repeating: "5a", count: 16)
        contacts = [
            Record("ungranted", identifier: bob, name: "Bob"),
            Record("deleted", identifier: cid),
            Record("another app's", identifier: try chat.identifier(of: "Ada")),
            Record("another app's, of what is ungranted", identifier: try chat.identifier(of: "Bob")),
            Record("another user's", identifier: try stranger.identifier(of: "Ada")),
            Record("made up", identifier: made),
            Record("visible", identifier: ada, name: "Ada"),
        ]
        let mine = try Self.makeGroup("Mine", of: "Ada", by: app)
        _ = try Self.makeGroup("Theirs", of: "Bob", by: keeper)
        let gone = try Self.makeGroup("Gone", of: "Ada", by: app)
        _ = try app.save([.other(#"{"operation":"delete","group":{"identifier":"\#(gone)","name":"Gone"}}"#)])
        let theirs = try Self.group("Theirs", of: app)
        groups = [
            Record("ungranted", identifier: theirs, name: "Theirs", member: "Bob"),
            Record("deleted", identifier: gone),
            Record("another app's", identifier: try Self.group("Mine", of: chat)),
            Record("another user's", identifier: try Self.makeGroup("Mine", of: "Ada", by: stranger)),
            Record("made up", identifier: made),
            Record("visible", identifier: mine, name: "Mine", member: "Ada"),
        ]
        let container = try #require(try app.call("ListContainers").parameters["defaultContainer"]?.string)
        words = [ada: "<ada>", bob: "<bob>", mine: "<mine>", theirs: "<theirs>", container: "<container>"]
        switch level {
        case .limited, .cappedKeys: try fixture.grant(.limited(to: fixture.records("Ada")), to: app)
        case .denied: try fixture.grant(.denied, to: app)
        case .notDeterminedDismissed, .notDeterminedRefused, .notDeterminedWithoutAgent, .full, .restrictedUndecided,
            .restricted, .capped:
            break
        }
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        switch level {
        case .restrictedUndecided, .restricted: rule.denies = true
        case .capped: rule.capsLevel = true
        case .cappedKeys: rule.maximumKeys = ContactKeySet([.givenName])
        case .notDeterminedDismissed, .notDeterminedRefused, .notDeterminedWithoutAgent, .limited, .full, .denied:
            return
        }
        fixture.rule([rule])
    }

    private static func makeGroup(_ name: String, of member: String, by app: TestApp) throws -> String {
        let answer = try app.save([
            .other(#"{"operation":"add","group":{"name":"\#(name)","identifier":"g"}}"#),
            .other(
                #"{"operation":"addMember","group":{"name":"\#(name)","identifier":"g"},"#
                    + #""member":"\#(try app.identifier(of: member))"}"#),
        ])
        return try #require(answer.strings("identifiers").first)
    }

    private static func group(_ name: String, of app: TestApp) throws -> String {
        let groups = try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        return try #require(groups.first { $0["name"]?.string == name }?["identifier"]?.string)
    }

    func sees(_ record: Record) -> Bool {
        switch level {
        case .full: record.kind == "visible" || record.kind == "ungranted"
        case .limited, .cappedKeys: record.kind == "visible"
        // It sees its own group, without members.
        case .capped: record.kind == "visible" && !record.member.isEmpty
        case .notDeterminedDismissed, .notDeterminedRefused, .notDeterminedWithoutAgent, .denied,
            .restrictedUndecided, .restricted:
            false
        }
    }

    // MARK: Calls

    /// Makes the call of one row about one record and compares the answer. Returns the answer.
    @discardableResult
    func check(_ row: AuthorizationTable.Row, _ record: Record) throws -> String {
        let expected = expected(row, record)
        try beginAnew(waiting: !expected.asked.isEmpty)
        var parameters = row.parameters.replacing("<record>", with: record.identifier)
            .replacing("<group>", with: record.identifier).replacing("<name>", with: record.name)
        for (identifier, word) in words { parameters = parameters.replacing(word, with: identifier) }
        let call = try app.begin(row.method, parameters, more: row.more)
        let asked = try answerPrompt(call)
        let answer = try answer(to: call)
        let place = "\(level): \(row.method) \(row.parameters) of \(record.kind)"
        #expect(asked == expected.asked, "\(place): the kind of prompt")
        #expect(normal(answer) == expected.text, "\(place)")
        return answer
    }

    /// Resets the app where nothing is decided, so that each call prompts again.
    private func beginAnew(waiting: Bool) throws {
        switch level {
        case .notDeterminedDismissed, .notDeterminedRefused, .notDeterminedWithoutAgent, .restrictedUndecided:
            fixture.grants.endGrant(app.principal, detail: "reset")
        case .limited, .full, .denied, .restricted, .capped, .cappedKeys: break
        }
        // Wait until the back-off after the last prompt ends. In all other cases the clock is not advanced, because
        // tokens depend on the time.
        if waiting { fixture.loop.advance(by: .seconds(25 * 3_600)) }
        if level != .notDeterminedWithoutAgent, person == nil { person = try TestPerson(fixture: fixture) }
        _ = try person?.prompts()
    }

    /// Answers the prompt as this level says, if there is one. Returns the kind of prompt.
    private func answerPrompt(_ call: Call) throws -> String {
        // A watch replies at once or waits, and does not end.
        let isWatching = call.method.hasSuffix("WatchChanges")
        try #require(
            isWatching
                || fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 },
            "neither an answer nor a prompt")
        guard let person else {
            let kind = fixture.prompts.openCount(1_000) > 0 ? "nobody" : ""
            fixture.loop.advance(by: .seconds(6))
            return kind
        }
        let prompts = try person.prompts()
        guard let prompt = prompts.first else { return "" }
        #expect(prompts.count == 1)
        let refuses = level == .notDeterminedRefused && (prompt.kind == "access" || prompt.kind == "button")
        try person.answer(prompt, refuses ? #""level":"denied""# : "")
        return (prompt.isQuiet ? "quiet " : "") + prompt.kind
    }

    /// The whole answer: the error's name and parameters, or the reply's parameters.
    private func answer(to call: Call) throws -> String {
        let isWatching = call.method.hasSuffix("WatchChanges")
        try #require(isWatching || fixture.loop.run { call.isOver }, "\(call.method) has no answer")
        let replies = try app.replies(to: call)
        guard let reply = replies.first, replies.count == 1 else { return replies.isEmpty ? "waits" : "several" }
        return (reply.error.map { $0 + " " } ?? "") + reply.text + (call.isOver ? "" : " and goes on")
    }

    /// An answer with placeholders for the values that only the broker knows.
    private func normal(_ answer: String) -> String {
        var text = answer
        for (identifier, word) in words { text = text.replacing(identifier, with: word) }
        for (name, word) in [("historyToken", "<token>"), ("reason", "<reason>")] {
            guard let start = text.firstRange(of: "\"\(name)\":\""),
                let end = text[start.upperBound...].firstIndex(of: "\"")
            else { continue }
            text.replaceSubrange(start.upperBound..<end, with: word)
        }
        return text
    }

    // MARK: Expected answers

    private func expected(_ row: AuthorizationTable.Row, _ record: Record) -> (asked: String, text: String) {
        switch row.columns {
        case .reading(let limited, let full, let capped, let cappedKeys):
            switch level {
            case .notDeterminedDismissed: ("access", AuthorizationTable.notDetermined)
            case .notDeterminedRefused: ("access", AuthorizationTable.denied)
            case .notDeterminedWithoutAgent: ("nobody", AuthorizationTable.notDetermined)
            case .denied, .restrictedUndecided, .restricted: ("", AuthorizationTable.denied)
            case .limited: ("", filled(limited, record))
            case .full: ("", filled(full, record))
            case .capped: ("", filled(capped ?? limited, record))
            case .cappedKeys: ("", filled(cappedKeys ?? limited, record))
            }
        case .atOnce(let notDetermined, let limited, let full, let denied, let restricted, let cappedKeys):
            switch level {
            case .notDeterminedDismissed, .notDeterminedRefused, .notDeterminedWithoutAgent: ("", notDetermined)
            case .limited, .capped: ("", limited)
            case .full: ("", full)
            case .denied: ("", denied)
            case .restrictedUndecided, .restricted: ("", restricted)
            case .cappedKeys: ("", cappedKeys)
            }
        case .requestingAccess:
            switch level {
            case .notDeterminedDismissed: ("access", #"{"status":"notDetermined"}"#)
            case .notDeterminedRefused: ("access", #"{"status":"denied"}"#)
            case .notDeterminedWithoutAgent: ("nobody", "NoAgent {}")
            case .limited, .capped, .cappedKeys: ("", #"{"status":"limited"}"#)
            case .full: ("", #"{"status":"full"}"#)
            case .denied: ("", #"{"status":"denied"}"#)
            case .restrictedUndecided, .restricted: ("", #"{"status":"restricted"}"#)
            }
        case .asking(let kind, let asked, let empty):
            switch (level, asked) {
            case (.restrictedUndecided, .always), (.restrictedUndecided, .unlessFull), (.restricted, .always),
                (.restricted, .unlessFull):
                ("", AuthorizationTable.denied)
            default: (prompt(kind, asked), empty)
            }
        }
    }

    private func filled(_ cell: AuthorizationTable.Cell, _ record: Record) -> String {
        let text = sees(record) ? cell.visible : cell.hidden
        let word = words[record.identifier] ?? ""
        let member = #"{"identifier":"<\#(record.member.lowercased())>","givenName":"\#(record.member)"}"#
        return text.replacing("<record>", with: word).replacing("<group>", with: word)
            .replacing("<name>", with: record.name).replacing("<the members>", with: member)
            .replacing("<members>", with: "1")
    }

    private func prompt(_ kind: String, _ asked: AuthorizationTable.Asked) -> String {
        switch (level, asked) {
        case (.limited, _), (.capped, _), (.cappedKeys, _), (.full, .always): kind
        case (.restrictedUndecided, _), (.restricted, _): ""
        case (.full, .unlessFull), (.full, .ifLimited): ""
        case (.denied, .always), (.denied, .unlessFull): "quiet " + kind
        case (.denied, .ifLimited): ""
        case (.notDeterminedDismissed, .ifLimited), (.notDeterminedRefused, .ifLimited),
            (.notDeterminedWithoutAgent, .ifLimited):
            ""
        case (.notDeterminedWithoutAgent, _): "nobody"
        case (.notDeterminedDismissed, _), (.notDeterminedRefused, _): kind
        }
    }
}
