import BrokerBounds
import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient
import BrokerVarlinkServer
import Glibc
import Testing

@Suite("Hostile peers", .timeLimit(.minutes(10)), .serialized)
struct BadInputTests {
    private func isServing(_ server: TestServer) throws -> Bool {
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        return try client.call("a.b.Echo") { $0.member("n", 1) }["n"]?.integer == 1
    }

    @Test(
        "A whole frame that is no call is answered by an error that names the member, and the connection stays open",
        arguments: [
            ("", "parameters"), ("x", "parameters"), ("{", "parameters"), ("[]", "parameters"), ("null", "parameters"),
            (#"{"method":1}"#, "method"), (#"{"method":"Echo"}"#, "method"),
            (#"{"method":"a.b.Echo","parameters":[]}"#, "parameters"), (#"{"method":"a.b.Echo","more":"yes"}"#, "more"),
            (#"{"method":"a.b.Echo","surprise":1}"#, "surprise"),
            (#"{"method":"a.b.Echo","method":"a.b.Echo"}"#, "parameters"),
            (#"{"method":"a.b.Echo","more":true,"oneway":true}"#, "oneway"),
            (#"{"method":"a.b.Echo","parameters":{"x":"\ud800"}}"#, "parameters"),
            ("GET / HTTP/1.1\r\n\r\n", "parameters"),
            (#"{"method":"a.b.Echo","parameters":{"x":"# + String(repeating: "[", count: 200_000), "parameters"),
        ])
    func malformed(frame: String, member: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.call("Echo", #"{"n":1}"#)
        client.send(frame)
        client.call("Echo", #"{"n":2}"#)
        #expect(client.reply() == #"{"n":1}"#)
        #expect(client.frame() == Self.error(member))
        #expect(client.reply() == #"{"n":2}"#)
        #expect(try isServing(server))
    }

    private static func error(_ member: String) -> String {
        #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(member)"}}"#
    }

    @Test("Invalid UTF-8 is answered by an error")
    func invalidUTF8() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(Array(#"{"method":"a.b.Echo","parameters":{"x":""#.utf8) + [0xC3, 0x28] + Array("\"}}\0".utf8))
        #expect(client.frame() == Self.error("parameters"))
        client.call("Echo", #"{"n":2}"#)
        #expect(client.reply() == #"{"n":2}"#)
    }

    @Test("A peer that sends only ends of frames gets errors no faster than it reads them, and others are served")
    func onlyEnds() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send([UInt8](repeating: 0, count: 3_000))
        #expect(try isServing(server))
        for _ in 0..<3_000 { guard client.frame() == Self.error("parameters") else { break } }
        client.call("Echo", #"{"n":2}"#)
        #expect(client.reply() == #"{"n":2}"#)
    }

    @Test("A valid call of an unknown method gets an error, and the connection stays open")
    func notOffered() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.call("Nothing")
        #expect(
            client.frame() == #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"a.b.Nothing"}}"#)
        client.call("Echo", "{}", #","upgrade":true"#)
        #expect(
            client.frame() == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"upgrade"}}"#)
        client.call("Echo", #"{"unknown":null}"#, #","more":false"#)
        #expect(client.reply() == #"{"unknown":null}"#)
    }

    @Test("A call may be as long as the limit and no longer")
    func frameLimit() throws {
        var limits = ServerLimits()
        limits.frameSize = 1_000
        let server = try TestServer(limits: limits)
        let empty = #"{"method":"a.b.Hold","parameters":{"x":""}}"#
        func frame(_ size: Int) -> String {
            empty.replacingFirst(#""""#, with: "\"\(String(repeating: "x", count: size - empty.utf8.count))\"")
        }
        let client = try RawClient(server.path)
        client.send(frame(1_000))
        _ = try isServing(server)
        #expect(try server.onLoop { $0.held.count } == 1)
        #expect(server.closings.next() == .peerClosed)

        let other = try RawClient(server.path)
        other.send(frame(1_001))
        #expect(other.isHungUp)
        #expect(server.closings.next() == .frameTooLong)

        let endless = try RawClient(server.path)
        endless.send([UInt8](repeating: UInt8(ascii: " "), count: 1_001))
        #expect(endless.isHungUp)
        #expect(server.closings.next() == .frameTooLong)
        #expect(try isServing(server))
    }

    @Test("A reply above the frame limit is not sent")
    func replyLimit() throws {
        var limits = ServerLimits()
        limits.frameSize = 10_000
        let server = try TestServer(limits: limits)
        let client = try RawClient(server.path)
        client.call("Big", #"{"size":9000}"#)
        #expect(client.reply()?.utf8.count == 9_008)
        client.call("Big", #"{"size":10000}"#)
        #expect(client.isHungUp)
        #expect(server.closings.next() == .replyTooLong)
        #expect(try isServing(server))
    }

    @Test("A client that does not complete a call is disconnected; a silent one is not")
    func slowClient() throws {
        var limits = ServerLimits()
        limits.frameTimeout = .milliseconds(100)
        let server = try TestServer(limits: limits)
        let silent = try RawClient(server.path)
        let slow = try RawClient(server.path)
        slow.call("Echo", #"{"n":1}"#)
        slow.send(Array(#"{"method""#.utf8))
        #expect(slow.framesUntilEnd() == (1, true))
        #expect(server.closings.next() == .unfinishedFrame)
        // The silent one is still served after the slow one's time has passed.
        silent.call("Echo", #"{"n":2}"#)
        #expect(silent.reply() == #"{"n":2}"#)
    }

    @Test("Single bytes do not extend a client's time to complete a call")
    func drippingClient() throws {
        var limits = ServerLimits()
        limits.frameTimeout = .milliseconds(200)
        let server = try TestServer(limits: limits)
        let client = try RawClient(server.path)
        let began = ContinuousClock.now
        // Another client's call after each byte makes sure that the server has read the byte alone.
        let other = try VarlinkClient(path: server.path, timeout: .seconds(30))
        while client.sendSome([UInt8(ascii: " ")]) == 1, began.duration(to: .now) < .seconds(30) {
            _ = try other.call("a.b.Echo")
        }
        #expect(server.closings.next() == .unfinishedFrame)
        #expect(began.duration(to: .now) < .seconds(20))
    }

    @Test("A client that never reads uses limited memory and is disconnected eventually; others are served meanwhile")
    func neverReads() throws {
        var limits = ServerLimits()
        limits.stallTimeout = .milliseconds(500)
        let server = try TestServer(limits: limits)
        let client = try RawClient(server.path)
        let calls = Array(
            repeatElement(Array(#"{"method":"a.b.Big","parameters":{"size":50000}}"#.utf8) + [0], count: 1_000).joined()
        )
        var sent = 0
        while sent < calls.count {
            let count = client.sendSome(Array(calls[sent...]))
            guard count > 0 else { break }
            sent += count
        }
        #expect(try isServing(server))
        // One of the two closed connections is the test's own.
        #expect(Set([server.closings.next(), server.closings.next()]) == [.peerClosed, .peerDoesNotRead])
        // The client got only the bytes that may be queued for one client: some hundred kilobytes of fifty megabytes.
        var received = 0
        while let frame = client.frame() { received += frame.utf8.count }
        #expect(received < 2_000_000)
    }

    @Test("One user's unread replies are bounded; the client that has not read for longest is disconnected first")
    func userHoldsTooMuch() throws {
        var limits = ServerLimits()
        limits.replyBytesPerUser = 4_000_000
        let server = try TestServer(limits: limits)
        var clients: [RawClient] = []
        for _ in 0..<5 {
            let client = try RawClient(server.path)
            client.call("Big", #"{"size":1500000}"#)
            clients.append(client)
            #expect(try isServing(server))
            #expect(server.closings.next() == (clients.count > 3 ? .userHoldsTooMuch : .peerClosed))
            if clients.count > 3 { #expect(server.closings.next() == .peerClosed) }
        }
        #expect(clients[0].reply() == nil)
        #expect(clients[1].reply() == nil)
        for client in clients[2...] { #expect(client.reply()?.utf8.count == 1_500_008) }
    }

    @Test("If an app's long calls together reach its limit, they are read one at a time, and short calls still pass")
    func callsInFlight() throws {
        var limits = ServerLimits()
        limits.callBytesPerApp = 2_000_000
        let server = try TestServer(limits: limits)
        let half = Array((#"{"method":"a.b.Echo","parameters":{"x":""# + String(repeating: "x", count: 900_000)).utf8)
        let clients = try (0..<6).map { _ in try RawClient(server.path) }
        var sent = [Int](repeating: 0, count: clients.count)
        // Each client sends as much of a call of 900 kB as the server accepts. Together the calls exceed the limit.
        for (index, client) in clients.enumerated() {
            while sent[index] < half.count {
                let count = client.sendSome(Array(half[sent[index]...]))
                guard count > 0 else { break }
                sent[index] += count
                _ = try isServing(server)
            }
        }
        for (index, client) in clients.enumerated() where sent[index] == half.count {
            client.send("\"}}")
            #expect((client.reply()?.utf8.count ?? 0) > 900_000)
        }
        for (index, client) in clients.enumerated() where sent[index] < half.count {
            client.send(Array(half[sent[index]...]))
            client.send("\"}}")
            #expect((client.reply()?.utf8.count ?? 0) > 900_000)
        }
    }

    @Test("Of 2,000 connections of one user, 1,024 are served and the others closed at once")
    func manyConnections() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(limit.rlim_cur >= 4_500)
        let server = try TestServer()
        let clients = try (0..<2_000).map { _ in try RawClient(server.path) }
        var served = 0
        var refused = 0
        for client in clients { client.call("Echo") }
        for client in clients {
            if client.reply() != nil { served += 1 } else if client.isHungUp { refused += 1 }
        }
        #expect(served == 1_024)
        #expect(refused == 976)
        #expect(try server.onLoop { $0.server?.connectionCount } == 1_024)
    }

    @Test("When a connection closes, another one is accepted")
    func roomAgain() throws {
        var limits = ServerLimits()
        limits.connectionsPerUser = 1
        let server = try TestServer(limits: limits)
        do {
            let first = try RawClient(server.path)
            first.call("Echo")
            #expect(first.reply() == "{}")
            #expect(try RawClient(server.path).isHungUp)
        }
        #expect(server.closings.next() == .peerClosed)
        #expect(try isServing(server))
    }
}

extension String {
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
