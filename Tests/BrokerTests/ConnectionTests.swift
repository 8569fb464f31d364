import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink
import Testing

@Suite("Connections of programs that speak CardDAV")
struct ConnectionTests {
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace", "Joan")
        person = try TestPerson(fixture: fixture)
    }

    private func administrator() -> TestApp {
        TestApp(fixture: fixture, caller: fixture.caller("ctl", strength: .unverified), interface: .admin)
    }

    private func service() -> TestApp {
        TestApp(fixture: fixture, caller: fixture.caller("dav", strength: .unverified), interface: .cardDAV)
    }

    private func connect(_ name: String, _ level: String = #""level":"limited""#, adding: String...) throws -> Answer {
        let ctl = administrator()
        let call = try ctl.begin("Connect", #"{"name":"\#(name)"}"#)
        let prompt = try #require(person.prompts().first)
        let rows = try person.rows(prompt).filter { adding.contains($0.contact["givenName"]?.string ?? "") }
        let identifiers = rows.map { "\"\($0.identifier)\"" }.joined(separator: ",")
        #expect(try person.answer(prompt, #"\#(level),"identifiers":[\#(identifiers)]"#).error == nil)
        return try ctl.replies(1, to: call)[0]
    }

    private func password(_ answer: Answer) throws -> String { try #require(answer.parameters["password"]?.string) }

    private func open(_ name: String, _ password: String, uid: UInt32 = 1_000, by app: TestApp? = nil) throws -> Answer
    {
        try (app ?? service()).call("Open", #"{"user":\#(uid),"name":"\#(name)","password":"\#(password)"}"#)
    }

    @Test("The person is asked, the password is told once, and opens just what was given")
    func limited() throws {
        let made = try connect("thunderbird", adding: "Grace")
        #expect(made.parameters["status"]?.string == "limited")
        #expect(made.parameters["user"]?.string == "thunderbird")
        #expect(made.parameters["port"] == nil)
        let password = try password(made)
        #expect(password.utf8.count == 26)
        let told = try #require(person.told().last)
        #expect(told["caller"]?["strength"]?.string == "password")
        #expect(told["changes"]?.string == "edit")
        let app = service()
        let opened = try open("thunderbird", password, by: app)
        #expect(opened.parameters["connection"]?.string?.utf8.count == 32)
        #expect(try app.fetch().names == ["Grace"])
        #expect(try fixture.audit(.connection).count == 1)
        let listed = try administrator().call("ListConnections")
        #expect(!listed.text.contains(password))
        #expect(listed.parameters["connections"]?.elements?.first { _ in true }?["name"]?.string == "thunderbird")
    }

    @Test("It outlives the broker, and nothing that the broker keeps has the password")
    func stored() throws {
        let password = try password(connect("thunderbird", adding: "Grace"))
        try fixture.restart()
        let app = service()
        #expect(try open("thunderbird", password, by: app).error == nil)
        #expect(try app.fetch().names == ["Grace"])
        for (name, bytes) in fixture.files() {
            #expect(!String(decoding: bytes, as: UTF8.self).contains(password), "\(name)")
        }
    }

    @Test("Without a password the socket gives nothing, and an unknown name is as a wrong password")
    func wrong() throws {
        let password = try password(connect("thunderbird", adding: "Grace"))
        let app = service()
        for method in ContactsMethod.allCases {
            #expect(try app.call(method.rawValue).error == "MethodNotFound", "\(method)")
        }
        let answers = try [
            open("thunderbird", "x"), open("thunderbird", password.uppercased()),
            open("evolution", password),
            open("Thunderbird", password),
            open("thunderbird", password, uid: 1_001),
        ]
        for answer in answers { #expect(answer.error == "WrongPassword" && answer.text == answers[0].text) }
        // Only the answers to more wrong ones should wait, at most 5 s.
        #expect(answers[0].parameters["wait"]?.integer == 0)
        for _ in 0..<20 { _ = try open("thunderbird", "y") }
        #expect(try open("thunderbird", "y").parameters["wait"]?.integer == 5_000)
        #expect(try open("thunderbird", password).error == nil)
    }

    @Test("What was opened with a former password, or on a former connection, is closed at its next call")
    func formerPassword() throws {
        let first = try password(connect("thunderbird", adding: "Ada"))
        // They call nothing until then.
        let (one, other) = (service(), service())
        #expect(try open("thunderbird", first, by: one).error == nil)
        let second = try password(administrator().call("Connect", #"{"name":"thunderbird","newPassword":true}"#))
        _ = try one.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(one.isClosed)
        #expect(try open("thunderbird", second, by: other).error == nil)
        #expect(try administrator().call("Disconnect", #"{"name":"thunderbird"}"#).error == nil)
        _ = try connect("thunderbird", #""level":"full""#)
        _ = try other.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(other.isClosed)
    }

    @Test("Two programs that connect under one name at once get one password")
    func twice() throws {
        let (one, other) = (administrator(), administrator())
        let calls = try [one, other].map { try $0.begin("Connect", #"{"name":"thunderbird"}"#) }
        let prompt = try #require(person.prompts().first)
        try person.answer(prompt, #""level":"full","lifetime":"untilRevoked""#)
        let answers = try [one.replies(1, to: calls[0])[0], other.replies(1, to: calls[1])[0]]
        let passwords = answers.compactMap { $0.parameters["password"]?.string }
        #expect(passwords.count == 1 && answers.compactMap(\.error) == ["ConnectionExists"])
        let password = try #require(passwords.first)
        #expect(try open("thunderbird", password).error == nil)
    }

    @Test("A denial outlives the connection")
    func deniedForGood() throws {
        _ = try connect("thunderbird", adding: "Ada")
        #expect(try administrator().call("SetGrant", #"{"app":"thunderbird","status":"denied"}"#).error == nil)
        #expect(try administrator().call("Disconnect", #"{"name":"thunderbird"}"#).error == nil)
        let again = try administrator().call("Connect", #"{"name":"thunderbird"}"#)
        #expect(again.parameters["status"]?.string == "denied" && again.parameters["password"] == nil)
        #expect(try person.prompts().isEmpty)
    }

    @Test("The system's broker refuses before it asks anybody")
    func systemMode() throws {
        let fixture = try BrokerFixture(authority: TestAuthority([.answer: .granted]), mode: .system)
        let ctl = TestApp(
            fixture: fixture, caller: fixture.caller("ctl", strength: .unverified), interface: .admin)
        #expect(try ctl.call("Connect", #"{"name":"thunderbird"}"#).error == "InvalidValue")
    }

    @Test("A program that was refused gets no password")
    func refused() throws {
        let ctl = administrator()
        let call = try ctl.begin("Connect", #"{"name":"thunderbird"}"#)
        let prompt = try #require(person.prompts().first)
        #expect(try person.answer(prompt, #""level":"denied""#).error == nil)
        let answer = try ctl.replies(1, to: call)[0]
        #expect(answer.parameters["status"]?.string == "denied")
        #expect(answer.parameters["password"] == nil)
        #expect(fixture.access.connections.connections(of: 1_000).isEmpty)
    }

    @Test("A caller that left before the answer leaves no connection and no grant")
    func left() throws {
        let ctl = administrator()
        _ = try ctl.begin("Connect", #"{"name":"thunderbird"}"#)
        let prompt = try #require(person.prompts().first)
        ctl.hangUp()
        fixture.loop.iterate()
        try person.answer(prompt, #""level":"full""#)
        fixture.loop.iterate()
        #expect(fixture.access.connections.connections(of: 1_000).isEmpty)
        let principal = Principal(uid: 1_000, strength: .password, app: "thunderbird")
        #expect(fixture.access.grant(of: principal) == nil)
    }

    @Test("A name is used once, and names are short and plain")
    func names() throws {
        _ = try connect("thunderbird", adding: "Ada")
        #expect(try administrator().call("Connect", #"{"name":"thunderbird"}"#).error == "ConnectionExists")
        for name in ["", "Thunderbird", "a b", "a/b", "ä", String(repeating: "a", count: 33)] {
            #expect(try administrator().call("Connect", #"{"name":"\#(name)"}"#).error == "InvalidValue", "\(name)")
        }
        #expect(try administrator().call("Disconnect", #"{"name":"evolution"}"#).error == "UnknownConnection")
        #expect(
            try administrator().call("Connect", #"{"name":"evolution","newPassword":true}"#).error
                == "UnknownConnection")
    }

    @Test("A connection that was ended closes, and another one with its name inherits nothing")
    func disconnected() throws {
        let first = try password(connect("thunderbird", #""level":"full""#))
        let app = service()
        let connection = try open("thunderbird", first, by: app).parameters["connection"]?.string
        let ada = try app.identifier(of: "Ada")
        #expect(try administrator().call("Disconnect", #"{"name":"thunderbird"}"#).error == nil)
        #expect(app.isClosed)
        #expect(try open("thunderbird", first).error == "WrongPassword")
        let second = try password(connect("thunderbird", adding: "Ada"))
        #expect(try open("thunderbird", first).error == "WrongPassword")
        let next = service()
        #expect(try open("thunderbird", second, by: next).parameters["connection"]?.string != connection)
        #expect(try next.fetch().names == ["Ada"])
        #expect(try next.identifier(of: "Ada") != ada)
    }

    @Test("Another password takes the place of the first, and ends what was opened with it")
    func newPassword() throws {
        let first = try password(connect("thunderbird", adding: "Ada"))
        let app = service()
        let connection = try open("thunderbird", first, by: app).parameters["connection"]?.string
        let ada = try app.identifier(of: "Ada")
        let second = try password(
            administrator().call("Connect", #"{"name":"thunderbird","newPassword":true}"#))
        #expect(app.isClosed)
        #expect(try open("thunderbird", first).error == "WrongPassword")
        let next = service()
        #expect(try open("thunderbird", second, by: next).parameters["connection"]?.string == connection)
        #expect(try next.identifier(of: "Ada") == ada)
    }

    @Test("A program whose access was reset asks nobody: only the person connects it again")
    func asksNobody() throws {
        let password = try password(connect("thunderbird", adding: "Ada"))
        #expect(try administrator().call("ResetGrant", #"{"app":"thunderbird"}"#).error == nil)
        let app = service()
        #expect(try open("thunderbird", password, by: app).error == nil)
        #expect(try app.fetch().error == "AuthorizationNotDetermined")
        #expect(try app.call("RequestAccess").parameters["status"]?.string == "notDetermined")
        for (method, parameters) in [
            ("ManageAccess", "{}"), ("RequestContacts", #"{"query":"Ada"}"#), ("PickContacts", "{}"),
        ] {
            _ = try app.call(method, parameters)
        }
        #expect(try person.prompts().isEmpty)
        // To connect it again raises a prompt, and gives it another password.
        let again = try self.password(connect("thunderbird", adding: "Grace"))
        #expect(try open("thunderbird", password).error == "WrongPassword")
        let next = service()
        #expect(try open("thunderbird", again, by: next).error == nil && next.fetch().names == ["Grace"])
    }

    @Test("What was taken back is an empty address book for 30 days, and then nothing")
    func lapsed() throws {
        let password = try password(connect("thunderbird", adding: "Ada"))
        #expect(try administrator().call("SetGrant", #"{"app":"thunderbird","status":"denied"}"#).error == nil)
        let app = service()
        #expect(try open("thunderbird", password, by: app).error == nil)
        #expect(try app.call("GetAuthorization").parameters["status"]?.string == "denied")
        #expect(try app.fetch().error == "AccessDenied")
        fixture.loop.advance(by: .seconds(29 * 86_400))
        #expect(try open("thunderbird", password).error == nil)
        fixture.loop.advance(by: .seconds(2 * 86_400))
        #expect(try open("thunderbird", password).error == "WrongPassword")
    }

    @Test("The service tells where it listens as long as it is connected")
    func announced() throws {
        let app = service()
        #expect(try app.call("Announce", #"{"port":843}"#).error == nil)
        #expect(try app.call("Announce", #"{"port":65536}"#).error == "InvalidParameter")
        #expect(try administrator().call("ListConnections").parameters["port"]?.integer == 843)
        app.hangUp()
        #expect(try administrator().call("ListConnections").parameters["port"] == nil)
    }

    @Test("Full access needs the person's password, as for any app that others can imitate")
    func withAuthority() throws {
        let authority = TestAuthority([.answer: .granted])
        let fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada")
        let person = try TestPerson(fixture: fixture)
        let ctl = TestApp(
            fixture: fixture, caller: fixture.caller("ctl", strength: .unverified), interface: .admin)
        let call = try ctl.begin("Connect", #"{"name":"thunderbird"}"#)
        let prompt = try #require(person.prompts().first)
        _ = try person.begin(answering: prompt, #""level":"full","lifetime":"untilRevoked""#)
        #expect(authority.open.map(\.action) == [.shareAll])
        #expect(!call.isOver && fixture.access.connections.connections(of: 1_000).isEmpty)
        try authority.answer(.refused)
        #expect(!call.isOver)
        // So does another password for what a connection has.
        let other = try ctl.begin(
            "Connect", #"{"name":"thunderbird","newPassword":true,"allowInteractiveAuthentication":true}"#)
        #expect(authority.open.map(\.action) == [.shareAll])
        try authority.answer(.refused)
        #expect(try ctl.replies(1, to: other)[0].error == "NotAuthorized")
    }
}
