import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient
import BrokerVarlinkServer
import CBrokerLinux
import CTestCaller
import Glibc
import Testing

@Suite("A connection serves only the process that made it", .timeLimit(.minutes(10)))
struct StolenSocketTests {
    private static let call = Array(#"{"method":"a.b.Echo","parameters":{"whose":"thief's"}}"#.utf8) + [0]

    /// - Returns: the thief's PID, or a negative errno.
    private func write(_ bytes: [UInt8], into client: RawClient, _ how: test_theft) -> pid_t {
        test_thief_write(client.descriptor, how, bytes, bytes.count)
    }

    private func isServing(_ server: TestServer) throws -> Bool {
        try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo").count == 0
    }

    @Test(
        "A process that copied or inherited a connection gets no reply, and the connection closes",
        arguments: [TEST_INHERITED, TEST_STOLEN])
    func thief(how: test_theft) throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.call("Echo", #"{"n":1}"#)
        #expect(client.reply() == #"{"n":1}"#)
        let thief = write(Self.call, into: client, how)
        // Some machines do not permit pidfd_getfd(2).
        if how == TEST_STOLEN, [-EPERM, -ENOSYS].contains(thief) { return }
        try #require(thief > 0)
        #expect(client.framesUntilEnd() == (0, true))
        #expect(
            server.closings.next() == .foreignBytes(writer: thief, writerUser: getuid(), owner: getpid()))
        #expect(try isServing(server))
    }

    @Test("Any byte of another process closes the connection, even within the owner's call")
    func pieces() throws {
        let server = try TestServer()
        for (owners, thiefs) in [(Self.call.dropLast(20), Self.call.suffix(20)), ([], Self.call.prefix(20)), ([], [0])]
        {
            let client = try RawClient(server.path)
            client.send(Array(owners))
            try #require(write(Array(thiefs), into: client, TEST_INHERITED) > 0)
            #expect(client.framesUntilEnd() == (0, true))
            guard case .foreignBytes? = server.closings.next() else {
                Issue.record("closed for a different reason")
                return
            }
        }
    }

    @Test("The owner's pending call is abandoned, and the thief's bytes are not mixed with the owner's")
    func pending() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        // All bytes are in the socket before the first is read.
        client.call("Hold")
        try #require(write(Self.call, into: client, TEST_INHERITED) > 0)
        client.call("Echo")
        while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        #expect(client.framesUntilEnd() == (0, true))
        guard case .foreignBytes? = server.closings.next() else {
            Issue.record("closed for a different reason")
            return
        }
        #expect(try server.onLoop { $0.abandoned } == 1)
    }

    @Test("Bytes that another process wrote before the admission are not read as a call")
    func beforeAdmission() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        try #require(write(Self.call, into: client, TEST_INHERITED) > 0)
        while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        #expect(client.framesUntilEnd() == (0, true))
    }

    @Test("A process that has changed its user since it connected gets no reply")
    func turncoat() throws {
        guard getuid() == 0 else { return }
        let server = try TestServer(mode: 0o666)
        var received: UInt32 = 0
        let pid = test_turncoat(server.path, 65_534, Self.call, Self.call.count, &received)
        try #require(pid > 0)
        #expect(received == 0)
        #expect(server.closings.next() == .foreignBytes(writer: pid, writerUser: 65_534, owner: pid))
        // The same process without the change is served.
        #expect(try isServing(server))
    }

    @Test("Writers are checked on a socket from systemd too")
    func passed() throws {
        let folder = try temporaryFolder()
        let descriptor = test_caller_listen(folder + "/door")
        try #require(descriptor >= 0)
        let server = try TestServer(passing: descriptor, in: folder)
        let client = try RawClient(server.path)
        client.call("Echo", #"{"n":1}"#)
        #expect(client.reply() == #"{"n":1}"#)
        try #require(write(Self.call, into: client, TEST_INHERITED) > 0)
        #expect(client.framesUntilEnd() == (0, true))
    }

    @Test("A call from before the broker took over systemd's socket is served")
    func connectedBefore() throws {
        let folder = try temporaryFolder()
        let descriptor = test_caller_listen(folder + "/door")
        try #require(descriptor >= 0)
        let client = try RawClient(folder + "/door")
        client.call("Echo", #"{"n":1}"#)
        let server = try TestServer(passing: descriptor, in: folder)
        #expect(client.reply() == #"{"n":1}"#)
        client.call("Echo", #"{"n":2}"#)
        #expect(client.reply() == #"{"n":2}"#)
        try #require(write(Self.call, into: client, TEST_INHERITED) > 0)
        #expect(client.framesUntilEnd() == (0, true))
        _ = server
    }
}
