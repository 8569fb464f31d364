import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerGrants

@Suite("Changes of an access button's query")
struct QueryChangeTests {
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let app: TestApp
    /// The app's second connection.
    private let second: TestApp

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
        app = try fixture.app("mail")
        second = TestApp(fixture: fixture, caller: app.caller)
    }

    private static let token = "request_1-A"

    private func ask(_ app: TestApp, query: String = "ad") throws -> (call: Call, prompt: TestPerson.Prompt?) {
        let call = try app.begin("RequestContacts", #"{"query":"\#(query)","token":"\#(Self.token)"}"#)
        try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 })
        return (call, try person.prompts().last)
    }

    @discardableResult
    private func update(_ query: String, by app: TestApp? = nil, token: String = token) throws -> String {
        let answer = try (app ?? second).call("UpdateRequest", #"{"token":"\#(token)","query":"\#(query)"}"#)
        return (answer.error ?? "") + answer.text
    }

    /// The changes that the agent received.
    private func changes(_ person: TestPerson) throws -> [String] {
        try person.serveReplies().compactMap { reply in
            reply.parameters["updated"]?.string.map { "\($0) \(reply.parameters["query"]?.string ?? "")" }
        }
    }

    @Test("Every agent gets a changed query, and one that joins later gets the latest")
    func changed() throws {
        let other = try TestPerson(fixture: fixture)
        let (call, prompt) = try ask(app)
        let cookie = try #require(prompt).cookie
        #expect(try update("ada") == "{}")
        #expect(try changes(person) == ["\(cookie) ada"] && changes(other) == ["\(cookie) ada"])
        // The same query again is no change.
        #expect(try update("ada") == "{}")
        let late = try TestPerson(fixture: fixture)
        #expect(try late.told().last?["query"]?.string == "ada")
        #expect(try changes(late).isEmpty && changes(person).count == 1)
        // The agent searches for the new query, and then the app changes it again.
        _ = try person.rows(try #require(prompt), query: "ada")
        #expect(try update("adaa") == "{}")
        #expect(try changes(person).last == "\(cookie) adaa")
        // An earlier query does not freeze the prompt, because the change may have been under way.
        _ = try person.rows(try #require(prompt), query: "ad")
        fixture.loop.advance(by: .seconds(1))
        try update("ad")
        #expect(try changes(person).last == "\(cookie) ad")
        #expect(!call.isOver)
    }

    @Test("A change does not extend the prompt's time")
    func time() throws {
        let (call, _) = try ask(app)
        for number in 0..<4 {
            fixture.loop.advance(by: .seconds(29))
            try update("ada \(number)")
            try update("ad")
        }
        #expect(!call.isOver)
        fixture.loop.advance(by: .seconds(5))
        #expect(try app.replies(1, to: call)[0].text == #"{"identifiers":[]}"#)
        // After the prompt's end the reply is the same.
        #expect(try update("ada") == "{}")
    }

    @Test("After the person used the prompt, the query stays", arguments: ["key", "search", "answer"])
    func frozen(use: String) throws {
        let (_, found) = try ask(app)
        let prompt = try #require(found)
        switch use {
        case "key": #expect(try person.keepOpen(prompt).error == nil)
        case "search": _ = try person.rows(prompt, query: "grace")
        default: #expect(try person.answer(prompt, #""level":"full""#).error == "InvalidAnswer")
        }
        #expect(try update("grace") == "{}")
        #expect(try changes(person).isEmpty)
        let late = try TestPerson(fixture: fixture)
        #expect(try late.told().last?["query"]?.string == "ad")
    }

    @Test("The person sees two changes in a second, the last text wins, and no number of changes ends that")
    func flood() throws {
        let prompt = try #require(try ask(app).prompt)
        func seen() throws -> [Substring] { try changes(person).map { $0.split(separator: " ")[1] } }
        for number in 0..<200 { #expect(try update("a\(number)") == "{}") }
        #expect(try seen() == ["a0", "a1"])
        for second in 1...30 {
            fixture.loop.advance(by: .seconds(1))
            for number in 0..<3 { try update("b\(second).\(number)") }
        }
        fixture.loop.advance(by: .seconds(1))
        #expect(try seen().count == 63 && seen()[2] == "a199" && seen().last == "b30.2")
        // An agent may be late by twenty queries; a search for an older one freezes the query.
        _ = try person.rows(prompt, query: String(seen()[42]))
        try update("c")
        #expect(try seen().last == "c")
        _ = try person.rows(prompt, query: "a0")
        try update("d")
        fixture.loop.advance(by: .seconds(1))
        #expect(try seen().last == "c")
    }

    @Test("Whatever the pace of typing, the last text is shown", arguments: [1, 30, 120, 250, 499, 500, 700])
    func typing(pace: Int) throws {
        let text = "saga lindqvist"
        let (call, _) = try ask(app, query: "s")
        for length in 2...text.count {
            fixture.loop.advance(by: .milliseconds(pace))
            try update(String(text.prefix(length)))
        }
        fixture.loop.advance(by: .seconds(1))
        #expect(try changes(person).last?.hasSuffix(" \(text)") == true && !call.isOver)
    }

    @Test("A waiting text is dropped if the person uses the prompt, or if the app goes back to the shown text")
    func waiting() throws {
        let prompt = try #require(try ask(app).prompt)
        for text in ["ada", "adam", "adama", "adam"] { try update(text) }
        fixture.loop.advance(by: .seconds(1))
        #expect(try changes(person).count == 2)
        for text in ["ada l", "ada lo", "ada lov"] { try update(text) }
        #expect(try person.keepOpen(prompt).error == nil)
        fixture.loop.advance(by: .seconds(1))
        #expect(try changes(person).last == "\(prompt.cookie) ada lo")
    }

    @Test("Only the process that asked can change its query, and nobody learns whether there is a request")
    func strangers() throws {
        _ = try ask(app)
        let sameApp = try fixture.app("mail")
        let otherApp = try fixture.app("chat")
        let otherUser = try fixture.app("mail", uid: 1_001)
        let mail = app.caller
        let samePID = TestApp(
            fixture: fixture,
            caller: Caller(
                uid: mail.uid, strength: mail.strength, app: "chat", displayName: "chat", executable: "/usr/bin/chat",
                process: mail.process, session: nil, terminal: nil, isInterpreter: false, isSandboxed: false))
        for stranger in [sameApp, otherApp, otherUser, samePID] {
            #expect(try update("grace", by: stranger) == "{}")
        }
        #expect(try update("grace", token: "another-token") == "{}")
        #expect(try update("grace", by: otherApp, token: "another-token") == "{}")
        #expect(try changes(person).isEmpty)
        #expect(try update("ada") == "{}")
        #expect(try changes(person).count == 1)
    }

    @Test("A prompt without a token, or of another kind, has no query to change")
    func otherPrompts() throws {
        let call = try app.begin("RequestContacts", #"{"query":"ad"}"#)
        try #require(fixture.loop.run { fixture.prompts.openCount(1_000) > 0 })
        #expect(try update("ada") == "{}")
        try person.answer(try #require(try person.prompts().last))
        try #require(fixture.loop.run { call.isOver })
        _ = try app.begin("RequestAccess")
        #expect(try update("ada") == "{}")
        #expect(try changes(person).isEmpty)
    }

    @Test(
        "A token is 8 to 64 letters, digits, - and _, and a query is as in RequestContacts",
        arguments: [
            ("short-7", "ada", "InvalidParameter"), (String(repeating: "t", count: 65), "ada", "InvalidParameter"),
            ("with space", "ada", "InvalidParameter"), ("umlaut-ä-ö", "ada", "InvalidParameter"),
            ("12345678", "", "InvalidParameter"), ("12345678", " - ", "InvalidParameter"),
            ("12345678", String(repeating: "q", count: 257), "LimitExceeded"),
            (String(repeating: "t", count: 64), String(repeating: "q", count: 256), "{}"),
        ])
    func parameters(token: String, query: String, expected: String) throws {
        #expect(try update(query, token: token).hasPrefix(expected))
        let asked = try app.begin("RequestContacts", #"{"query":"\#(query)","token":"\#(token)"}"#)
        if expected == "{}" {
            #expect(!asked.isOver)
        } else {
            #expect(try app.replies(1, to: asked)[0].error == expected)
        }
    }
}
