import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient
import BrokerVarlinkServer
import Glibc
import Testing

@Suite("Calling a service", .timeLimit(.minutes(10)))
struct CallingTests {
    @Test("A call gets its reply", arguments: ["Echo", "Later"])
    func echo(method: String) throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        let reply = try client.call("a.b.\(method)") { $0.member("name", "Ada") }
        #expect(reply["name"]?.string == "Ada")
        #expect(client.serverCredentials()?.uid == getuid())
        #expect(client.serverCredentials()?.pid == getpid())
    }

    @Test("An error has its name and its parameters")
    func error() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        do {
            _ = try client.call("a.b.Fail")
            Issue.record("the call did not fail")
        } catch .error(let name, let parameters) {
            #expect(name == "org.example.Failed")
            #expect(parameters["why"]?.string == "asked to")
        }
        // The connection stays usable.
        #expect(try client.call("a.b.Echo") { $0.member("n", 1) }["n"]?.integer == 1)
        #expect {
            try client.call("a.b.Nothing")
        } throws: {
            if case .error("org.varlink.service.MethodNotFound", _)? = $0 as? VarlinkClientError { true } else { false }
        }
    }

    @Test("Many replies arrive in order, and only the last has no `continues`")
    func stream() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        var continuing: [Bool] = []
        var bytes = 0
        try client.stream(
            "a.b.Stream",
            {
                $0.member("count", 100); $0.member("size", 60_000)
            }
        ) { reply, continues in
            continuing.append(continues)
            bytes += reply["x"]?.string?.utf8.count ?? 0
            return true
        }
        #expect(continuing == [Bool](repeating: true, count: 99) + [false])
        #expect(bytes == 6_000_000)
        #expect(try client.call("a.b.Echo").count == 0)
    }

    @Test("A client may hang up during a stream, and the server notices")
    func stopStream() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        var found = 0
        try client.stream(
            "a.b.Stream",
            {
                $0.member("count", 1_000_000); $0.member("size", 10)
            }
        ) { _, _ in
            found += 1
            return found < 3
        }
        #expect(found == 3)
        #expect(throws: VarlinkClientError.self) { try client.call("a.b.Echo") }
        #expect(server.closings.next() == .peerClosed)
    }

    @Test("A oneway call is carried out without a reply, whether it succeeds or not")
    func oneway() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        try client.begin("a.b.Echo", oneway: true) { $0.member("n", 1) }
        try client.begin("a.b.Fail", oneway: true)
        try client.begin("a.b.Later", oneway: true)
        #expect(try client.call("a.b.Echo") { $0.member("n", 2) }["n"]?.integer == 2)
        #expect(try server.onLoop { $0.onewayCalls } == [#"{"n":1}"#])
        #expect(!client.hasBufferedReply)
    }

    @Test("A call that times out ends the client's connection, and the server continues")
    func timeout() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .milliseconds(50))
        #expect {
            try client.call("a.b.Hold")
        } throws: {
            if case .timedOut? = $0 as? VarlinkClientError { true } else { false }
        }
        #expect(server.closings.next() == .peerClosed)
        #expect(try server.onLoop { $0.abandoned } == 1)
    }

    @Test("Waiting for a reply may time out, and the reply can still be read later")
    func splitCall() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        try client.begin("a.b.Hold", more: false)
        #expect(try client.nextReply(timeout: .milliseconds(10))?.continues == nil)
        // Once a later call on another connection is answered, the loop has this call.
        _ = try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo")
        try server.onLoop { service in for call in service.held { call.reply { $0.member("n", 7) } } }
        let reply = try #require(try client.nextReply(timeout: .seconds(30)))
        #expect(reply.parameters["n"]?.integer == 7 && !reply.continues)
    }

    @Test("A large call and a large reply are sent at the same time", arguments: [1_000, 1_000_000, 15_000_000])
    func large(size: Int) throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(60))
        let text = String(repeating: "y", count: size)
        #expect(try client.call("a.b.Echo") { $0.member("x", text) }["x"]?.string == text)
    }

    @Test("Two ends with full buffers do not deadlock")
    func bothWrite() throws {
        let server = try TestServer()
        let client = try VarlinkClient(path: server.path, timeout: .seconds(60))
        let text = String(repeating: "z", count: 1_000_000)
        for _ in 0..<8 { try client.begin("a.b.Echo", more: false) { $0.member("x", text) } }
        for _ in 0..<8 {
            #expect(try client.nextReply(timeout: .seconds(60))?.parameters["x"]?.string?.utf8.count == 1_000_000)
        }
    }

    @Test("If no server listens, the client's error names the path")
    func nobody() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        #expect {
            try VarlinkClient(path: folder + "/door")
        } throws: {
            if case .cannotConnect(folder + "/door", _)? = $0 as? VarlinkClientError { true } else { false }
        }
    }

    @Test("Pipelined calls are answered in order", arguments: ["Echo", "Later"])
    func pipelining(method: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        for number in 0..<1_000 { client.call(number % 3 == 0 ? method : "Echo", #"{"n":\#(number)}"#) }
        for number in 0..<1_000 { #expect(client.reply() == #"{"n":\#(number)}"#) }
    }

    @Test("A hundred thousand pipelined calls are all answered")
    func manyCalls() throws {
        let server = try TestServer()
        let count = 100_000
        let calls = Array(repeatElement(Array(#"{"method":"a.b.Echo"}"#.utf8) + [0], count: count).joined())
        let client = try RawClient(server.path)
        var sent = 0
        var answered = 0
        while answered < count {
            if sent < calls.count { sent += client.sendSome(Array(calls[sent...].prefix(1 << 20))) }
            if client.frame() == nil { break }
            answered += 1
        }
        #expect(answered == count)
    }

    @Test("A client that shuts down its sending side is answered, then disconnected")
    func halfClose() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.call("Later", #"{"n":1}"#)
        client.call("Later", #"{"n":2}"#)
        client.call("Big", #"{"size":3000000}"#)
        client.endInput()
        #expect(client.reply() == #"{"n":1}"#)
        #expect(client.reply() == #"{"n":2}"#)
        #expect(client.reply()?.utf8.count == 3_000_008)
        #expect(client.isHungUp)
        #expect(server.closings.next() == .peerClosed)
    }

    @Test(
        "A call is abandoned when its caller hangs up, even if it shut down its sending side first",
        arguments: [true, false])
    func abandoned(stopsTalkingFirst: Bool) throws {
        let server = try TestServer()
        do {
            let client = try RawClient(server.path)
            client.call("Hold")
            if stopsTalkingFirst { client.endInput() }
            _ = try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo")
        }
        // Of the two closed connections, in either order, one was waiting.
        #expect(server.closings.next() == .peerClosed)
        #expect(server.closings.next() == .peerClosed)
        #expect(try server.onLoop { $0.abandoned } == 1)
        #expect(try server.onLoop { $0.server?.connectionCount } == 0)
    }

    @Test("A reply for a caller that hung up reaches no other caller")
    func descriptorsUsedAgain() throws {
        let server = try TestServer()
        for number in 0..<1_000 {
            do {
                let gone = try RawClient(server.path)
                gone.call("Later", #"{"secret":\#(number)}"#)
            }
            let next = try RawClient(server.path)
            next.call("Echo", #"{"n":\#(number)}"#)
            #expect(next.reply() == #"{"n":\#(number)}"#)
        }
    }
}
