import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("Malformed and hostile input")
struct BadInputTests {
    private static let method = #""method":"io.contactbroker.Contacts.GetAuthorization""#

    /// Frames that are not valid calls.
    private static let frames: [(kind: String, bytes: [UInt8])] = [
        ("empty", []), ("not JSON", Array("GET / HTTP/1.1\r\n\r\n".utf8)), ("truncated", Array(#"{"method":"#.utf8)),
        ("an array", Array("[]".utf8)), ("a string", Array(#""io.contactbroker.Contacts.GetAuthorization""#.utf8)),
        ("no method", Array("{}".utf8)), ("a method that is not text", Array(#"{"method":5}"#.utf8)),
        ("a method twice", Array(#"{\#(method),\#(method)}"#.utf8)),
        ("parameters that are not an object", Array(#"{\#(method),"parameters":[]}"#.utf8)),
        ("more that is not a boolean", Array(#"{\#(method),"more":"yes"}"#.utf8)),
        ("bytes after the end", Array(#"{\#(method)} {}"#.utf8)),
        ("invalid UTF-8", Array(#"{\#(method),"parameters":{"a":""#.utf8) + [0xFF, 0xC0, 0x80] + Array(#""}}"#.utf8)),
        ("an unpaired surrogate", Array(#"{\#(method),"parameters":{"a":"\ud800"}}"#.utf8)),
        ("nested too deeply", Array(repeating: UInt8(ascii: "["), count: 1_000_000)),
        (
            "nested in a call",
            Array(#"{\#(method),"parameters":{"a":"#.utf8) + Array(repeating: UInt8(ascii: "["), count: 100_000)
        ),
    ]

    @Test(
        "A malformed frame gets an error, and neither its own connection nor another is closed",
        arguments: frames.indices)
    func malformed(index: Int) throws {
        let fixture = try DaemonFixture()
        let (kind, bytes) = Self.frames[index]
        let other = try fixture.app("chat")
        for door in [fixture.appsSocket, fixture.agentSocket, fixture.adminSocket] {
            let line = try fixture.companion("mail").open(door)
            try line.send(bytes + [0])
            #expect(try line.reply().error == "InvalidParameter", "\(kind)")
            try line.begin("org.varlink.service.GetInfo")
            #expect(try line.reply()["vendor"]?.string != nil, "\(kind)")
        }
        #expect(try other.call("GetAuthorization").word == "notDetermined")
        #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined")
    }

    @Test("The broker accepts a frame of 16 MiB and closes the connection at a longer one", arguments: [0, 1])
    func oversized(beyond: Int) throws {
        let fixture = try DaemonFixture()
        let line = try fixture.companion("mail").open(fixture.appsSocket)
        let start = Array(#"{"parameters":{},\#(Self.method)"#.utf8)
        let end = Array("}".utf8)
        let filler = [UInt8](repeating: 0x20, count: 16 * 1_048_576 + beyond - start.count - end.count)
        try line.send(start + filler + end)
        if beyond == 0 {
            try line.send([0])
            #expect(try line.reply().word == "notDetermined")
        } else {
            #expect(try line.frame() == nil)
        }
        #expect(try fixture.app("chat").call("GetAuthorization").word == "notDetermined")
    }

    @Test(
        "An invalid call gets an error by name and causes no prompt",
        arguments: [
            ("FetchContacts", "{}", "InvalidParameter"), ("FetchContacts", #"{"keys":null}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":"givenName"}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":["password"]}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[5]}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"uid":0}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"limit":0}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"limit":-1}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"limit":1.5}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"limit":99999999999999999999}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"unify":1}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"sortOrder":"age"}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"predicate":[]}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"predicate":{}}"#, "InvalidPredicate"),
            ("FetchContacts", #"{"keys":[],"predicate":{"name":"a","emailAddress":"b"}}"#, "InvalidPredicate"),
            ("FetchContacts", #"{"keys":[],"predicate":{"age":5}}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"predicate":{"name":5}}"#, "InvalidParameter"),
            ("FetchContacts", #"{"keys":[],"predicate":{"identifiers":[5]}}"#, "InvalidParameter"),
            (
                "FetchContacts", #"{"keys":[],"predicate":{"name":"\#(String(repeating: "a", count: 257))"}}"#,
                "LimitExceeded"
            ),
            ("RequestAccess", #"{"purpose":"\#(String(repeating: "a", count: 1_025))"}"#, "LimitExceeded"),
            ("RequestAccess", #"{"purpose":5}"#, "InvalidParameter"),
            ("RequestContacts", "{}", "InvalidParameter"), ("RequestContacts", #"{"query":""}"#, "InvalidParameter"),
            ("RequestContacts", #"{"query":" \n\u2003"}"#, "InvalidParameter"),
            ("RequestContacts", #"{"query":"a","caption":"loud"}"#, "InvalidParameter"),
            ("GetAuthorization", #"{"app":"another"}"#, "InvalidParameter"),
            ("SaveContacts", "{}", "InvalidParameter"), ("SaveContacts", #"{"changes":{}}"#, "InvalidParameter"),
            ("SaveContacts", #"{"changes":[5]}"#, "InvalidParameter"),
            ("SaveContacts", #"{"changes":[{"operation":"drop"}]}"#, "InvalidParameter"),
            ("SaveContacts", #"{"changes":[{"contact":{}}]}"#, "InvalidParameter"),
            ("NoSuchMethod", "{}", "MethodNotFound"), ("getAuthorization", "{}", "MethodNotFound"),
        ])
    func wrongParameters(method: String, parameters: String, error: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        #expect(try app.call(method, parameters).error == error)
        #expect(try person.wasNotAsked())
        // The connection stays usable.
        #expect(try app.call("GetAuthorization").word == "notDetermined")
    }

    @Test(
        "A save with an invalid contact is refused, and InvalidContact names the step",
        arguments: [
            (#""givenName":5"#, "InvalidParameter"), (#""birthday":"tomorrow""#, "InvalidContact"),
            (#""phoneNumbers":"1""#, "InvalidParameter"), (#""phoneNumbers":[{"label":"x"}]"#, "InvalidParameter"),
            (#""age":5"#, "InvalidParameter"), (#""contactType":"robot""#, "InvalidParameter"),
            (#""imageData":"no base64!""#, "InvalidContact"),
            (#""note":"ENDLESS""#, "LimitExceeded"),
        ])
    func wrongContact(contact: String, error: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.keeper(with: person)
        // One byte over the limit for a value.
        let whole = contact.replacing("ENDLESS", with: String(repeating: "a", count: 1_048_577))
        let reply = try app.save([App.adding(given: "Kurt"), App.adding(whole)])
        #expect(reply.error == error, "\(reply.text.prefix(300))")
        #expect(error != "InvalidContact" || reply["index"]?.integer == 1)
        #expect(try app.fetch().names == DaemonFixture.names)
        #expect(try app.save([App.adding(given: "Kurt"), App.adding(given: "Emil")]).word == "ok")
    }

    @Test("A save may have 2,000 steps, but not one more")
    func steps() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail", .everything, by: person)
        let step = App.adding(given: "Kurt")
        #expect(try app.save(Array(repeating: step, count: 2_001)).error == "LimitExceeded")
        #expect(try app.fetch("").names.isEmpty)
        #expect(try app.save(Array(repeating: step, count: 2_000)).strings("identifiers").count == 2_000)
    }

    @Test("Each socket offers only its own interface")
    func doors() throws {
        let fixture = try DaemonFixture()
        let contacts = "io.contactbroker.Contacts.GetAuthorization"
        let agent = "io.contactbroker.Agent.Serve"
        let admin = "io.contactbroker.Admin.ListGrants"
        for (door, others) in [
            (fixture.appsSocket, [agent, admin]), (fixture.agentSocket, [contacts, admin]),
            (fixture.adminSocket, [contacts, agent]),
        ] {
            for method in others {
                let line = try fixture.companion("mail").open(door)
                try line.begin(method, more: method == agent)
                #expect(try line.reply().error == "InterfaceNotFound")
            }
        }
    }

    @Test("Folders, sockets and databases are closed to other users")
    func modes() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        func mode(_ path: String) -> mode_t {
            var status = stat()
            return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
        }
        for folder in [
            fixture.runtime, fixture.runtime + "/apps", fixture.runtime + "/agent", fixture.runtime + "/admin",
            fixture.state,
        ] {
            #expect(mode(folder) == 0o700, "\(folder)")
        }
        for socket in [fixture.appsSocket, fixture.agentSocket, fixture.adminSocket] {
            #expect(mode(socket) == 0o600, "\(socket)")
        }
        let files = DaemonFixture.paths(below: fixture.state)
        #expect(files.contains { $0.hasSuffix("/contacts.sqlite") })
        for file in files { #expect(mode(file) & 0o077 == 0, "\(file)") }
    }

    @Test("Of one app's 2,000 connections, 256 are served; the user's other apps and the other sockets work")
    func crowd() throws {
        let fixture = try DaemonFixture()
        let companion = try fixture.companion("crowd")
        var lines: [Line] = []
        for _ in 0..<2_000 {
            guard let line = try companion.openIfAnswered(fixture.appsSocket) else { continue }
            lines.append(line)
        }
        #expect(lines.count == 2_000)
        var served: [Line] = []
        for line in lines {
            try line.begin("io.contactbroker.Contacts.GetAuthorization")
        }
        for line in lines where try line.frame(within: .seconds(60)) != nil { served.append(line) }
        #expect(served.count == 256)
        #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined")
        #expect(try fixture.person().wasNotAsked())
        let status = try fixture.status()
        #expect((256...300).contains(status["openConnections"].flatMap { Int($0) } ?? 0))
        #expect(status["openConnectionsLimit"] == "16384" && status["heldBytesLimit"] == "268435456")
        #expect(try fixture.administrator().call("io.contactbroker.Admin.ListGrants")["grants"]?.count == 0)
        #expect(fixture.journal.contains("its app has as many connections as one app may have"))
        // The app is served again when its connections have closed.
        fixture.end("crowd")
        let deadline = ContinuousClock.now + .seconds(30)
        var answer: String?
        while answer == nil, ContinuousClock.now < deadline {
            guard let line = try fixture.companion("crowd").openIfAnswered(fixture.appsSocket) else { continue }
            try line.begin("io.contactbroker.Contacts.GetAuthorization")
            answer = try line.frame().map { try Answer($0).word }
        }
        #expect(answer == "notDetermined")
    }

    @Test("A client that sends a byte at a time and one that never reads do not delay other clients")
    func slow() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let filler = String(repeating: "x", count: 2_000)
        let people = (0..<3_000).map { #""givenName":"N\#($0)","organizationName":"\#(filler)""# }
        try fixture.keeper(adding: people, with: person)
        // This app never reads, and its lists fill every buffer between the broker and itself.
        let deaf = try fixture.app("deaf", .everything, by: person)
        for _ in 0..<20 {
            try deaf.begin("FetchContacts", #"{"keys":["givenName","organizationName"]}"#, more: true)
        }
        try deaf.line.stopReading()
        // One client sends a byte at a time, and one stops in the middle of a call.
        let slow = try fixture.companion("slow").open(fixture.appsSocket)
        let stopped = try fixture.companion("stopped").open(fixture.appsSocket)
        try stopped.send(#"{"method":"io.contactbroker.Con"#)
        let call = Array(#"{"method":"io.contactbroker.Contacts.GetAuthorization"}"#.utf8) + [0]
        let quick = try fixture.app("quick", .everything, by: person)
        var longest = Duration.zero
        for byte in call {
            try slow.send([byte])
            let start = ContinuousClock.now
            #expect(try quick.fetch(#""limit":1"#).names.count == 1)
            longest = max(longest, ContinuousClock.now - start)
        }
        #expect(longest < .seconds(10))
        #expect(try slow.reply().word == "notDetermined")
    }

    @Test("Pipelined calls are answered in order")
    func pipelined() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.keeper(with: person)
        for number in 0..<500 {
            if number % 50 == 0 {
                try app.begin("SaveContacts", App.saving([App.adding(given: "P\(number)")]))
            } else {
                try app.begin(
                    "FetchContacts", App.fetching(#""predicate":{"name":"\#(number % 2 == 0 ? "ada" : "grace")"}"#))
            }
        }
        for number in 0..<500 {
            let reply = try app.reply()
            if number % 50 == 0 {
                #expect(reply.strings("identifiers").count == 1)
            } else {
                #expect(reply.names == [number % 2 == 0 ? "Ada Lovelace" : "Grace Hopper"])
            }
        }
    }

    @Test("A oneway call is carried out without a reply")
    func oneway() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.keeper(with: person)
        let parameters = App.saving([App.adding(given: "Quiet", family: "A")])
        try app.line.send(
            Array(
                #"{"method":"io.contactbroker.Contacts.SaveContacts","oneway":true,"parameters":\#(parameters)}"#.utf8)
                + [0])
        #expect(try app.fetch().names == ["Quiet A"] + DaemonFixture.names)
    }
}
