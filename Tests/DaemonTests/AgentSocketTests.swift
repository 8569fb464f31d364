import BrokerJSON
import Glibc
import Testing

@Suite("Agents and their answers")
struct AgentSocketTests {
    enum Kin: CaseIterable, Sendable { case itself, parent, child }

    @Test(
        "An app's prompt is not shown to the app itself, its parent or its child process", arguments: Kin.allCases)
    func kinship(kin: Kin) throws {
        let fixture = try DaemonFixture()
        let independent = try fixture.person()
        let family = try Companion.family(
            parent: fixture.executable("upper"), child: fixture.executable("lower"))
        let asking = kin == .parent ? family.child : family.parent
        let answering = kin == .child ? family.child : family.parent
        let partial = try Person(companion: answering, at: fixture.agentSocket)
        let app = try App(companion: asking, at: fixture.appsSocket)
        try app.begin("RequestAccess")
        let prompt = try independent.prompt()
        #expect(prompt["caller"]?["executable"]?.string == asking.path)
        #expect(try partial.wasNotAsked())
        // The agent cannot answer or read the prompt either, even with the prompt's cookie.
        #expect(try partial.answer(prompt, #""level":"full""#).error == "UnknownPrompt")
        let cookie = try #require(prompt["cookie"]?.string)
        for method in ["Search", "Show"] {
            let rest = method == "Search" ? #""query":"""# : #""identifier":"x""#
            let fields = #"{"agent":"\#(partial.token)","cookie":"\#(cookie)",\#(rest)}"#
            #expect(try partial.call(method, fields).error == "UnknownPrompt")
        }
        // It may answer another app's prompt, since any of the person's programs may be an agent.
        try independent.answer(prompt, #""level":"full""#)
        #expect(try app.reply().word == "full")
        try fixture.app("mail").begin("RequestAccess")
        #expect(try partial.prompt()["caller"]?["displayName"]?.string == "mail")
    }

    @Test("Without an agent, RequestAccess fails after five seconds, and RequestContacts returns no identifiers")
    func noAgent() throws {
        let fixtures = try (0..<4).map { _ in try DaemonFixture() }
        let apps = try fixtures.map { try $0.app("mail") }
        // Neither an agent in the app's own process nor a notify-only agent counts as an agent. With a notify-only
        // agent, the call waits longer.
        let relative = try Person(companion: fixtures[0].companion("mail"), at: fixtures[0].agentSocket)
        let notifier = try fixtures[3].companion("notifier").open(fixtures[3].agentSocket)
        try notifier.begin("io.contactbroker.Agent.Serve", #"{"notifyOnly":true}"#, more: true)
        #expect(try notifier.reply().text == #"{"parameters":{"waiting":0},"continues":true}"#)
        let start = ContinuousClock.now
        try apps[0].begin("RequestAccess")
        try apps[1].begin("RequestContacts", #"{"query":"ada"}"#)
        try apps[2].begin("FetchContacts", App.fetching(""))
        try apps[3].begin("RequestAccess")
        #expect(try notifier.reply().text == #"{"parameters":{"waiting":1},"continues":true}"#)
        #expect(try apps[0].reply().error == "NoAgent")
        #expect(try apps[1].reply().text == #"{"parameters":{"identifiers":[]}}"#)
        #expect(try apps[2].reply().error == "AuthorizationNotDetermined")
        #expect(!apps[3].line.hasNews)
        try apps[3].line.close()
        #expect(try notifier.reply().text == #"{"parameters":{"waiting":0},"continues":true}"#)
        let took = ContinuousClock.now - start
        #expect(took > .milliseconds(4_900) && took < .seconds(20))
        #expect(try relative.wasNotAsked())
    }

    @Test("An agent that connects within five seconds is sent the prompt")
    func lateAgent() throws {
        let fixture = try DaemonFixture()
        let app = try fixture.app("mail")
        // Start the agent's process before the call, so that its start does not use up the five seconds.
        _ = try fixture.companion("agent")
        try app.begin("RequestAccess")
        try fixture.waitForPrompts(1)
        let person = try fixture.person()
        try person.answer(.everything)
        #expect(try app.reply().word == "full")
    }

    @Test("If an agent disconnects, its open prompt goes to the next agent")
    func handedOn() throws {
        let fixture = try DaemonFixture()
        let first = try fixture.person("first")
        let app = try fixture.app("mail")
        _ = try fixture.companion("second")
        try app.begin("RequestAccess")
        _ = try first.prompt()
        fixture.end("first")
        let second = try fixture.person("second")
        try second.answer(.everything)
        #expect(try app.reply().word == "full")
    }

    @Test("The first answer of two agents wins, and the prompt is withdrawn from the other agent")
    func twoAgents() throws {
        let fixture = try DaemonFixture()
        let left = try fixture.person("left")
        let right = try fixture.person("right")
        let app = try fixture.app("mail")
        try app.begin("RequestAccess")
        let (seenLeft, seenRight) = (try left.prompt(), try right.prompt())
        // Each agent knows that another one serves.
        #expect(left.others == 1 && right.others == 1)
        try right.answer(seenRight, #""level":"denied""#)
        #expect(try app.reply().word == "denied")
        try left.waitForWithdrawal(of: seenLeft)
        #expect(try left.answer(seenLeft, #""level":"full""#).error == "UnknownPrompt")
        #expect(try app.call("GetAuthorization").word == "denied")
    }

    @Test("Eight agents can serve one person; a ninth is refused until one disconnects")
    func tooMany() throws {
        let fixture = try DaemonFixture()
        let people = try (0..<8).map { _ in try fixture.person() }
        #expect(throws: Trouble.self) { try fixture.person() }
        let line = try fixture.companion("agent").open(fixture.agentSocket)
        try line.begin("io.contactbroker.Agent.Serve", more: true)
        #expect(try line.reply().error == "TooManyAgents")
        try people[3].serving.close()
        var found = try? fixture.person()
        let deadline = ContinuousClock.now + .seconds(10)
        while found == nil, ContinuousClock.now < deadline { found = try? fixture.person() }
        #expect(found != nil)
    }

    @Test("An agent's token works only for the process that received it")
    func tokens() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let stranger = try fixture.person("stranger")
        let app = try fixture.app("mail")
        try app.begin("RequestAccess")
        let (prompt, theirs) = (try person.prompt(), try stranger.prompt())
        let cookie = try #require(prompt["cookie"]?.string)
        #expect(theirs["cookie"]?.string == cookie)
        func ask(_ who: Person, _ method: String, token: String, cookie: String) throws -> String? {
            let rest =
                switch method {
                case "Search": #","query":"""#
                case "Show": #","identifier":"x""#
                default: #","level":"full""#
                }
            return try who.call(method, #"{"agent":"\#(token)","cookie":"\#(cookie)"\#(rest)}"#).error
        }
        for method in ["Search", "Show", "Answer"] {
            #expect(try ask(stranger, method, token: person.token, cookie: cookie) == "NotAnAgent")
            #expect(try ask(person, method, token: "", cookie: cookie) == "NotAnAgent")
            #expect(try ask(person, method, token: String(person.token.reversed()), cookie: cookie) == "NotAnAgent")
            #expect(try ask(person, method, token: person.token, cookie: "") == "UnknownPrompt")
            #expect(try ask(person, method, token: person.token, cookie: person.token) == "UnknownPrompt")
        }
        // The token becomes invalid when the connection that received it closes.
        try person.serving.close()
        let deadline = ContinuousClock.now + .seconds(10)
        var last: String?
        repeat {
            last = try ask(person, "Search", token: person.token, cookie: cookie)
        } while last != "NotAnAgent"
            && ContinuousClock.now < deadline
        #expect(last == "NotAnAgent")
        #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined")
    }

    @Test("An answer may name only rows of its own prompt; rows of other prompts and apps are refused")
    func rows() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let (mail, chat) = (try fixture.app("mail"), try fixture.app("chat"))
        try mail.begin("RequestAccess")
        try fixture.waitForPrompts(1)
        try chat.begin("RequestAccess")
        let first = try person.prompt()
        let before = try person.search(first)
        try person.answer(first, #""level":"limited","identifiers":[]"#)
        #expect(try mail.reply().word == "limited")
        let second = try person.prompt()
        let now = try person.search(second)
        #expect(now.map(\.name) == before.map(\.name))
        #expect(Set(now.map(\.identifier)).isDisjoint(with: before.map(\.identifier)))
        let keepers = try keeper.fetch().identifiers
        for row in [before[0].identifier, keepers[0], "", "0123456789abcdef0123456789abcdef"] {
            let both = #""level":"limited","identifiers":[\#(quoted(now[0].identifier)),\#(quoted(row))]"#
            #expect(try person.answer(second, both).error == "InvalidAnswer")
        }
        // A row's identifier does not work on the apps' socket either.
        let predicate = #""predicate":{"identifiers":\#(quoted(now.map(\.identifier)))}"#
        #expect(try keeper.fetch(predicate).names.isEmpty)
        try person.answer(second, #""level":"limited","identifiers":[\#(quoted(now[0].identifier))]"#)
        #expect(try chat.reply().word == "limited")
        #expect(try chat.fetch().names == [now[0].name])
    }

    @Test(
        "The broker refuses an inconsistent answer",
        arguments: [
            (#""level":"full""#, "button"), (#""level":"limited""#, "button"),
            (#""level":"full","identifiers":["x"]"#, "access"), (#""level":"limited","lifetime":"session""#, "access"),
            (#""level":"full","lifetime":"untilTime""#, "access"),
            (#""level":"full","lifetime":"untilTime","expires":"2001-01-01T00:00:00Z""#, "access"),
            (#""level":"full","picked":[]"#, "access"), (#""level":"limited","removed":["x"]"#, "access"),
        ])
    func nonsense(fields: String, kind: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        try app.begin(
            kind == "button" ? "RequestContacts" : "RequestAccess", kind == "button" ? #"{"query":"a"}"# : "{}")
        let prompt = try person.prompt()
        #expect(try person.answer(prompt, fields).error == "InvalidAnswer")
        #expect(try person.answer(prompt).error == nil)
        _ = try app.reply()
        #expect(try app.call("GetAuthorization").word == "notDetermined")
    }
}
