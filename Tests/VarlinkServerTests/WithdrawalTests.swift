import BrokerBounds
import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient
import BrokerVarlinkServer
import Testing

@Suite("Withdrawing queued replies", .timeLimit(.minutes(10)))
struct WithdrawalTests {
    /// Sends a call and waits until the server has handled it.
    private func call(_ client: RawClient, _ server: TestServer, _ calls: [(String, String)]) throws {
        for (method, parameters) in calls { client.call(method, parameters) }
        client.call("Hold")
        _ = try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo")
    }

    @Test("Queued replies are withdrawn; each final one is replaced by an error")
    func queued() throws {
        var limits = ServerLimits()
        limits.unsentBytes = 64 * 1_048_576
        let server = try TestServer(limits: limits)
        let client = try RawClient(server.path)
        // The first reply fills the kernel's buffer and is not sensitive; the second is queued behind it.
        try call(
            client, server,
            [
                ("Big", #"{"size":2000000}"#), ("Big", #"{"size":5,"sensitive":true}"#), ("Echo", #"{"n":1}"#),
                ("Big", #"{"size":6,"sensitive":true}"#),
            ])
        let count = try server.onLoop { $0.held.first?.connection.withdraw(.permissionDenied) }
        #expect(count == 2)
        #expect(client.reply()?.utf8.count == 2_000_008)
        #expect(client.frame() == #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#)
        #expect(client.reply() == #"{"n":1}"#)
        #expect(client.frame() == #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#)
        // The connection stays usable.
        try server.onLoop { service in for call in service.held { call.reply { $0.member("n", 2) } } }
        #expect(client.reply() == #"{"n":2}"#)
    }

    @Test("A partly sent reply cannot be withdrawn, so the connection is closed")
    func partly() throws {
        var limits = ServerLimits()
        limits.unsentBytes = 64 * 1_048_576
        let server = try TestServer(limits: limits)
        let client = try RawClient(server.path)
        try call(client, server, [("Big", #"{"size":2000000,"sensitive":true}"#)])
        let count = try server.onLoop { $0.held.first?.connection.withdraw(.permissionDenied) }
        #expect(count == 1)
        var bytes = 0
        while let frame = client.frame() { bytes += frame.utf8.count }
        #expect(bytes == 0)
        #expect(client.isHungUp)
        // The other closed connection is the one with which the test waited.
        #expect(Set([server.closings.next(), server.closings.next()]) == [.withdrawn, .peerClosed])
    }

    @Test("Sent replies and replies that are not sensitive are not withdrawn")
    func nothing() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        try call(client, server, [("Big", #"{"size":5,"sensitive":true}"#), ("Big", #"{"size":2000000}"#)])
        let other = try VarlinkClient(path: server.path, timeout: .seconds(30))
        try other.begin("a.b.Hold", more: false)
        _ = try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo")
        let count = try server.onLoop { service in
            service.held.map { $0.connection.withdraw(.permissionDenied) }.reduce(0, +)
        }
        #expect(count == 0)
        #expect(client.reply() == #"{"x":"xxxxx"}"#)
        #expect(client.reply()?.utf8.count == 2_000_008)
    }

    @Test("A stream waits for its slow reader, and ends when it is withdrawn")
    func stream() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        let other = try VarlinkClient(path: server.path, timeout: .seconds(30))
        client.call("Stream", #"{"size":50000,"count":100000}"#, #","more":true"#)
        _ = try other.call("a.b.Echo")
        // While the kernel accepts everything, there is nothing to withdraw.
        let end = ContinuousClock.now + .seconds(30)
        while try server.onLoop({ $0.streaming.first?.connection.withdraw(.permissionDenied) }) == 0 {
            try #require(ContinuousClock.now < end)
        }
        #expect(server.closings.next() == .withdrawn)
        #expect(try server.onLoop { $0.abandoned } == 1)
        // The client read nothing. The server therefore made only as much of the five gigabytes as fits into the
        // kernel's queue and its own.
        let (frames, ended) = client.framesUntilEnd()
        #expect(frames > 0 && frames < 50 && ended)
    }
}
