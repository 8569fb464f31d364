import BrokerBounds
import BrokerVarlinkServer
import CTestCaller
import Glibc
import Testing

@Suite("Limits for users and apps", .timeLimit(.minutes(10)))
struct BoundsTests {
    /// A client of this app whose connection is admitted.
    private func client(_ server: TestServer, _ app: String?, known: Bool = true) throws -> RawClient {
        let client = try begin(server, app, known: known)
        try #require(client.reply() == "{}")
        return client
    }

    /// A client that has made a call, which may be refused.
    private func begin(_ server: TestServer, _ app: String?, known: Bool = true) throws -> RawClient {
        try server.onLoop { ($0.app, $0.isKnown) = (app, known) }
        let client = try RawClient(server.path)
        client.call("Echo")
        return client
    }

    /// Why the server closed a connection; skips connections that their clients closed.
    private func closing(_ server: TestServer) -> CloseReason? {
        while let reason = server.closings.next() {
            if reason != .peerClosed { return reason }
        }
        return nil
    }

    /// A call without its end, with a parameter of this many bytes.
    private func unfinished(_ method: String, _ size: Int) -> [UInt8] {
        Array((#"{"method":"a.b.\#(method)","parameters":{"x":""# + String(repeating: "x", count: size)).utf8)
    }

    /// Makes a complete call with a parameter of this many bytes.
    /// - Returns: whether it is answered.
    private func isAnswered(_ client: RawClient, _ size: Int) -> Bool {
        client.send(unfinished("Echo", size))
        client.send("\"}}")
        return (client.reply()?.utf8.count ?? 0) > size
    }

    /// Sends as many of the bytes as the server reads.
    /// - Returns: how many the kernel accepted. It accepts more than the server reads.
    @discardableResult
    private func fill(_ client: RawClient, _ bytes: [UInt8], _ server: TestServer) throws -> Int {
        let other = try self.client(server, "filler")
        var sent = 0
        while sent < bytes.count {
            let count = client.sendSome(Array(bytes[sent...]))
            guard count > 0 else { return sent }
            sent += count
            // A reply shows that the server has read as many of the earlier bytes as it accepts.
            for _ in 0..<8 {
                other.call("Echo")
                try #require(other.reply() == "{}")
            }
        }
        return sent
    }

    // MARK: Connections

    @Test("An app's connections are limited, and another app of its user is served")
    func connectionsOfApp() throws {
        var limits = ServerLimits()
        limits.connectionsPerApp = 3
        let server = try TestServer(limits: limits)
        let first = try (0..<3).map { _ in try client(server, "a") }
        #expect(try begin(server, "a").isHungUp)
        #expect(closing(server) == .appHasTooManyConnections)
        let other = try client(server, "b")
        for client in first + [other] {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
    }

    @Test("At a user's limit, the app with the most connections loses one without a call, and another app is served")
    func givesWay() throws {
        var limits = ServerLimits()
        limits.connectionsPerUser = 5
        let server = try TestServer(limits: limits)
        let silent = try client(server, "a")
        let busy = try (0..<2).map { _ in try client(server, "a") }
        for client in busy { client.call("Hold") }
        let copies = try (0..<2).map { _ in try client(server, "copy") }
        let other = try client(server, "b")
        #expect(closing(server) == .gaveWay)
        #expect(silent.isHungUp)
        #expect(try server.onLoop { ($0.held.count, $0.abandoned) } == (2, 0))
        for client in copies + [other] {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
    }

    @Test("A new connection is refused if no app has at least two connections more than the new process")
    func noFairer() throws {
        var limits = ServerLimits()
        limits.connectionsPerUser = 3
        let server = try TestServer(limits: limits)
        let clients = try ["a", "b", "c"].map { try client(server, $0) }
        #expect(try begin(server, "d").isHungUp)
        for client in clients {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
    }

    @Test("Connections that wait to be identified do not shut out another process of their user")
    func unidentified() throws {
        var limits = ServerLimits()
        limits.connectionsPerUser = 8
        let server = try TestServer(limits: limits, admitting: false)
        let clients = try (0..<8).map { _ in try RawClient(server.path) }
        let refused = try RawClient(server.path)
        #expect(refused.isHungUp)
        #expect(try server.onLoop { $0.admissions.count } == 8)
        var terminal: CInt = -1
        let process = server.path.withCString { path in
            var plan = test_caller_plan()
            (plan.socket_path, plan.uid) = (path, -1)
            return test_caller_start(&plan, &terminal)
        }
        try #require(process > 0)
        #expect(clients[7].isHungUp)
        #expect(try server.onLoop { ($0.admissions.count, $0.server?.connectionCount) } == (9, 8))
        try server.onLoop { $0.server?.close() }
        #expect(test_caller_wait(process, 0) == 0)
    }

    @Test("User IDs that are not known share one limit, and take no connection from a known user")
    func strangers() throws {
        var limits = ServerLimits()
        limits.connectionsOfStrangers = 2
        let server = try TestServer(limits: limits)
        let strangers = try (0..<2).map { _ in try client(server, nil, known: false) }
        #expect(try begin(server, nil, known: false).isHungUp)
        let known = try (0..<3).map { _ in try client(server, nil) }
        for client in strangers + known {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
    }

    @Test("A known user has a reserve when the socket is full, and strangers have none")
    func reserve() throws {
        var limits = ServerLimits()
        (limits.connections, limits.reservedPerUser) = (2, 2)
        let server = try TestServer(limits: limits)
        let strangers = try (0..<2).map { _ in try client(server, nil, known: false) }
        #expect(try begin(server, nil, known: false).isHungUp)
        let known = try (0..<2).map { _ in try client(server, nil) }
        #expect(try begin(server, nil).isHungUp)
        for client in strangers + known {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
    }

    // MARK: Memory

    @Test("An app's unfinished calls delay no other app's call")
    func unfinishedCalls() throws {
        var limits = ServerLimits()
        limits.callBytesPerApp = 2_000_000
        limits.frameTimeout = .seconds(3_600)
        let server = try TestServer(limits: limits)
        let crowd = try (0..<6).map { _ in try client(server, "a") }
        for client in crowd { try fill(client, unfinished("Echo", 900_000), server) }
        let other = try client(server, "b")
        #expect(isAnswered(other, 900_000))
        // The unfinished calls were only delayed.
        crowd[0].send("\"}}")
        #expect((crowd[0].reply()?.utf8.count ?? 0) > 900_000)
    }

    @Test(
        "An app that sends more than the pace allows has to wait; its small calls and another app's long calls do not")
    func longCallPace() throws {
        var limits = ServerLimits()
        limits.longCallBytesPerSecond = 500_000
        limits.frameTimeout = .seconds(3_600)
        let server = try TestServer(limits: limits)
        let greedy = try client(server, "a")
        // At this pace, reading it takes 20 seconds.
        #expect(try fill(greedy, unfinished("Echo", 10_000_000), server) < 10_000_000)
        let small = try client(server, "a")
        small.call("Echo")
        #expect(small.reply() == "{}")
        let other = try client(server, "b")
        #expect(isAnswered(other, 100_000))
    }

    @Test("A call that had to wait for the pace is read to its end")
    func longCallPaceEnds() throws {
        var limits = ServerLimits()
        limits.longCallBytesPerSecond = 2_000_000
        let server = try TestServer(limits: limits)
        let client = try client(server, "a")
        #expect(isAnswered(client, 3_000_000))
    }

    @Test("If a user's calls take too much memory, the app that uses the most loses its largest unfinished call")
    func callsOfUser() throws {
        var limits = ServerLimits()
        limits.callBytesPerApp = 1_000_000
        limits.callBytesPerUser = 3_000_000
        limits.frameTimeout = .seconds(3_600)
        let server = try TestServer(limits: limits)
        let small = try client(server, "a")
        try fill(small, unfinished("Echo", 700_000), server)
        let large = try client(server, "a")
        try fill(large, unfinished("Echo", 900_000), server)
        let copies = try (0..<2).map { _ in try client(server, "copy") }
        for client in copies { try fill(client, unfinished("Echo", 700_000), server) }
        let other = try client(server, "b")
        #expect(isAnswered(other, 400_000))
        #expect(closing(server) == .appHoldsTooMuch)
        #expect(large.isHungUp)
        for client in copies + [small] {
            client.send("\"}}")
            #expect((client.reply()?.utf8.count ?? 0) > 700_000)
        }
    }

    @Test("Calls that wait for a reply count with the memory of their JSON values")
    func waitingCalls() throws {
        var limits = ServerLimits()
        limits.callBytesPerApp = 1_000_000
        limits.callBytesPerUser = 3_500_000
        let server = try TestServer(limits: limits)
        let values = #"{"method":"a.b.Hold","parameters":{"x":[0"# + String(repeating: ",0", count: 60_000) + "]}}"
        let clients = try (0..<3).map { _ in try client(server, "a") }
        for client in clients { client.send(values) }
        #expect(closing(server) == .appHoldsTooMuch)
        #expect(try server.onLoop { $0.abandoned } == 1)
        _ = try client(server, "b")
    }

    @Test("If an app does not read, another app of its user still gets its replies")
    func unreadReplies() throws {
        var limits = ServerLimits()
        limits.replyBytesPerUser = 3_500_000
        let server = try TestServer(limits: limits)
        let other = try client(server, "b")
        let crowd = try (0..<3).map { _ in try client(server, "a") }
        for client in [other] + crowd {
            client.call("Big", #"{"size":1200000}"#)
            // A reply on another connection shows that the server has made this reply.
            _ = try self.client(server, nil)
        }
        #expect(closing(server) == .userHoldsTooMuch)
        #expect(crowd[0].framesUntilEnd() == (0, true))
        for client in [other] + crowd[1...] { #expect(client.reply()?.utf8.count == 1_200_008) }
    }

    @Test("If all sockets together use too much memory, the user who uses the most loses connections")
    func allUsers() throws {
        var limits = ServerLimits()
        limits.bytesOfAllUsers = 2_000_000
        limits.frameTimeout = .seconds(3_600)
        let server = try TestServer(limits: limits, hasSecond: true)
        try server.onLoop { $0.isKnown = false }
        let heavy = try RawClient(server.folder + "/second")
        let light = try RawClient(server.folder + "/second")
        for client in [heavy, light] {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
        heavy.send(unfinished("Echo", 900_000))
        light.send(unfinished("Echo", 400_000))
        for client in [heavy, light] { try fill(client, [], server) }
        let known = try client(server, "a")
        #expect(isAnswered(known, 900_000))
        #expect(closing(server) == .userHoldsMost)
        #expect(heavy.isHungUp)
        light.send("\"}}")
        #expect((light.reply()?.utf8.count ?? 0) > 400_000)
    }
}
