import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("Revoked and expired access")
struct RevocationTests {
    private static let count = 4_000
    /// Contacts of about a kilobyte, far more than the buffers between the broker and the app can hold.
    private static func crowd() -> [String] {
        let filler = String(repeating: "x", count: 1_000)
        return (0..<count).map { #""givenName":"N\#($0)","organizationName":"\#(filler)""# }
    }

    @Test("Revoking or narrowing access ends a list that is being sent", arguments: ["revoked", "narrowed", "reset"])
    func endsStreams(how: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.keeper(adding: Self.crowd(), with: person)
        let administrator = try fixture.administrator()
        let name = try #require(
            administrator.call("io.contactbroker.Admin.ListGrants")["grants"]?.elements?
                .compactMap { $0["app"]?.string }.first)
        try app.begin("FetchContacts", #"{"keys":["givenName","organizationName"]}"#, more: true)
        let first = try app.reply()
        #expect(first.continues)
        var received = first.names.count
        #expect(received > 0)
        _ =
            switch how {
            case "reset": try administrator.call("io.contactbroker.Admin.ResetGrant") { $0.member("app", name) }
            default:
                try administrator.call("io.contactbroker.Admin.SetGrant") {
                    $0.member("app", name)
                    $0.member("status", how == "revoked" ? "denied" : "limited")
                }
            }
        var isOver = false
        while let frame = try app.line.frame() {
            let reply = try Answer(frame)
            received += reply.names.count
            guard !reply.continues else { continue }
            #expect(reply.error == "AccessDenied")
            isOver = true
            break
        }
        #expect(isOver || app.line.isClosed)
        #expect(received < Self.count)
        let withheld = try fixture.audit("withheld")
        #expect(withheld.count == 1)
        #expect((withheld.first?["contacts"]?.integer ?? 0) >= 1)
        // The audit counts at least as many disclosed contacts as the app received.
        let disclosed = try fixture.audit("disclosure").reduce(0) { $0 + ($1["contacts"]?.integer ?? 0) }
        #expect(disclosed >= received)
        let next = try fixture.app("keeper")
        #expect(
            try next.call("GetAuthorization").word
                == (how == "revoked" ? "denied" : how == "narrowed" ? "limited" : "notDetermined"))
        if how == "revoked" { #expect(try next.fetch().error == "AccessDenied") }
        if how == "narrowed" { #expect(try next.fetch().names.isEmpty) }
    }

    @Test("A list arrives whole if access is not revoked")
    func wholeStream() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.keeper(adding: Self.crowd(), with: person)
        try app.begin("FetchContacts", #"{"keys":["givenName","organizationName"]}"#, more: true)
        var names: Set<String> = []
        var reply: Answer
        repeat {
            reply = try app.reply()
            names.formUnion(reply.names)
        } while reply.continues
        #expect(reply.error == nil)
        #expect(names.count == Self.count)
        #expect(try fixture.audit("withheld").isEmpty)
    }

    @Test("A revocation still applies after a restart and after a kill", arguments: [true, false])
    func lasts(killed: Bool) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .everything, by: person)
        try fixture.revoke(mail)
        if killed { fixture.kill() } else { try fixture.stop() }
        try fixture.start()
        #expect(try fixture.app("mail").call("GetAuthorization").word == "denied")
        #expect(try fixture.app("keeper").call("GetAuthorization").word == "full")
    }

    @Test("Access with an end time ends then, and leaves the app without a decision")
    func expires() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestAccess")
        let prompt = try person.prompt()
        var text = [CChar](repeating: 0, count: 32)
        var end = time(nil) + 6
        var parts = tm()
        gmtime_r(&end, &parts)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        let expires = text.prefix { $0 != 0 }.map { Character(Unicode.Scalar(UInt8(bitPattern: $0))) }
        try person.answer(prompt, #""level":"full","lifetime":"untilTime","expires":"\#(String(expires))""#)
        #expect(try app.reply().word == "full")
        #expect(try app.call("GetAuthorization")["expires"]?.string == String(expires))
        #expect(try app.fetch().names == DaemonFixture.names)
        let deadline = ContinuousClock.now + .seconds(30)
        while try app.call("GetAuthorization").word == "full", ContinuousClock.now < deadline { poll(nil, 0, 20) }
        // Do not use time(2), because it can lag behind the clock that the broker reads.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        #expect(now.tv_sec >= end)
        #expect(try app.call("GetAuthorization").word == "notDetermined")
    }

    @Test("SetGrant refuses an unknown app and cannot widen a grant")
    func notWidened() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .only(["Ada Lovelace"]), by: person)
        let administrator = try fixture.administrator()
        func set(_ app: String, _ status: String) -> String {
            do {
                _ = try administrator.call("io.contactbroker.Admin.SetGrant") {
                    $0.member("app", app)
                    $0.member("status", status)
                }
                return "ok"
            } catch {
                guard case .error(let name, _) = error else { return "\(error)" }
                return name
            }
        }
        let name = try #require(
            administrator.call("io.contactbroker.Admin.ListGrants")["grants"]?.elements?
                .compactMap { $0["app"]?.string }.first { $0.hasPrefix(mail.path + " ") })
        #expect(set("no such app", "denied") == "io.contactbroker.Admin.UnknownApp")
        #expect(set(name, "full") == "io.contactbroker.Admin.InvalidValue")
        #expect(set(name, "denied") == "ok")
        #expect(set(name, "limited") == "io.contactbroker.Admin.InvalidValue")
        #expect(try mail.call("GetAuthorization").word == "denied")
    }
}
