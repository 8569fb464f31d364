import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient
import BrokerVarlinkServer
import CBrokerLinux
import CTestCaller
import Glibc
import Testing

@Suite("A connection belongs to the process that made it", .timeLimit(.minutes(10)))
struct StolenSocketTests {
    private static let call = Array(#"{"method":"a.b.Echo","parameters":{"whose":"thief's"}}"#.utf8) + [0]

    /// - Returns: the thief's number, or the negative of why it could not.
    private func write(_ bytes: [UInt8], into client: RawClient, _ how: test_theft) -> pid_t {
        test_thief_write(client.descriptor, how, bytes, bytes.count)
    }

    private func isServing(_ server: TestServer) throws -> Bool {
        try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo").count == 0
    }

    @Test(
        "Who has stolen or inherited one is not answered, and it ends for its owner too",
        arguments: [TEST_INHERITED, TEST_STOLEN])
    func thief(how: test_theft) throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.call("Echo", #"{"n":1}"#)
        #expect(client.reply() == #"{"n":1}"#)
        let thief = write(Self.call, into: client, how)
        // Where the machine lets nobody steal there is nothing to try.
        if how == TEST_STOLEN, [-EPERM, -ENOSYS].contains(thief) { return }
        try #require(thief > 0)
        #expect(client.framesUntilEnd() == (0, true))
        #expect(
            server.closings.next() == .foreignBytes(writer: thief, writerUser: getuid(), owner: getpid()))
        #expect(try isServing(server))
    }

    @Test("The rest of a call that the owner began, the beginning of one, and a single byte are a thief's as well")
    func pieces() throws {
        let server = try TestServer()
        for (owners, thiefs) in [(Self.call.dropLast(20), Self.call.suffix(20)), ([], Self.call.prefix(20)), ([], [0])]
        {
            let client = try RawClient(server.path)
            client.send(Array(owners))
            try #require(write(Array(thiefs), into: client, TEST_INHERITED) > 0)
            #expect(client.framesUntilEnd() == (0, true))
            guard case .foreignBytes? = server.closings.next() else {
                Issue.record("closed for another reason")
                return
            }
        }
    }

    @Test("What the owner waits for is given up, and what lies between the owner's and the thief's bytes is kept apart")
    func pending() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        // All of it lies in the socket before the first byte is read.
        client.call("Hold")
        try #require(write(Self.call, into: client, TEST_INHERITED) > 0)
        client.call("Echo")
        while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        #expect(client.framesUntilEnd() == (0, true))
        guard case .foreignBytes? = server.closings.next() else {
            Issue.record("closed for another reason")
            return
        }
        #expect(try server.onLoop { $0.abandoned } == 1)
    }

    @Test("Bytes that a thief wrote before the owner was admitted are nobody's call either")
    func beforeAdmission() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        try #require(write(Self.call, into: client, TEST_INHERITED) > 0)
        while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        #expect(client.framesUntilEnd() == (0, true))
    }

    @Test("A process that has become another user since it connected is not answered")
    func turncoat() throws {
        guard getuid() == 0 else { return }
        let server = try TestServer(mode: 0o666)
        var received: UInt32 = 0
        let pid = test_turncoat(server.path, 65_534, Self.call, Self.call.count, &received)
        try #require(pid > 0)
        #expect(received == 0)
        #expect(server.closings.next() == .foreignBytes(writer: pid, writerUser: 65_534, owner: pid))
        // The same with its own user is served: it is the change that counts.
        #expect(try isServing(server))
    }

    @Test("A socket that systemd passed knows its writers too")
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

    @Test("Who had connected and called before the broker took the passed socket is served")
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

@Suite("Descriptors that are sent along", .timeLimit(.minutes(10)))
struct SentDescriptorTests {
    private static let call = Array(#"{"method":"a.b.Echo","parameters":{"n":1}}"#.utf8) + [0]

    /// Whether nobody can write into the pipe any more.
    private func hasEnded(_ reader: CInt) -> Bool {
        var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 30_000) == 1 && waiting.revents & Int16(POLLHUP) != 0
    }

    private func pipe() throws -> (reader: CInt, writer: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(clinux_pair(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("Where they can be sent at all they are let go of, and the call is answered", arguments: [1, 250])
    func letGo(count: CInt) throws {
        let folder = try temporaryFolder()
        // The listener knows nothing of the rule yet, so the kernel lets the sender have its way.
        let descriptor = test_caller_listen(folder + "/door")
        try #require(descriptor >= 0)
        let (reader, writer) = try pipe()
        defer { close(reader) }
        let client = try RawClient(folder + "/door")
        try #require(test_send_descriptors(client.descriptor, Self.call, Self.call.count, writer, count) == 0)
        close(writer)
        var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 0) == 0)
        let server = try TestServer(passing: descriptor, in: folder)
        #expect(client.reply() == #"{"n":1}"#)
        #expect(hasEnded(reader))
        client.call("Echo", #"{"n":2}"#)
        #expect(client.reply() == #"{"n":2}"#)
        _ = server
    }

    @Test("From the first moment of a door of ours they are refused by the kernel, or let go of")
    func refused() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        let (reader, writer) = try pipe()
        defer { close(reader) }
        let result = test_send_descriptors(client.descriptor, Self.call, Self.call.count, writer, 1)
        close(writer)
        // Linux 6.16 refuses them; the socket is none the worse for it.
        if result == -EPERM { client.call("Echo", #"{"n":1}"#) } else { #expect(result == 0) }
        #expect(client.reply() == #"{"n":1}"#)
        #expect(hasEnded(reader))
    }

    @Test("Those that nobody read are gone with the connection")
    func unread() throws {
        let folder = try temporaryFolder()
        let descriptor = test_caller_listen(folder + "/door")
        try #require(descriptor >= 0)
        let (reader, writer) = try pipe()
        defer { close(reader) }
        let server: TestServer
        do {
            let client = try RawClient(folder + "/door")
            try #require(test_send_descriptors(client.descriptor, Self.call, Self.call.count, writer, 9) == 0)
            close(writer)
            server = try TestServer(passing: descriptor, admitting: false, in: folder)
            while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        }
        #expect(hasEnded(reader))
        _ = server
    }
}
