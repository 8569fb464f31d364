import BrokerBounds
import BrokerVarlinkServer
import CBrokerLinux
import CTestCaller
import Dispatch
import Glibc
import Synchronization
import Testing

/// The clients connect before the server adopts the listening socket and sets its options, so every kernel permits the
/// descriptors, as kernels before Linux 6.16 always do.
@Suite("Descriptors that are sent with a call", .timeLimit(.minutes(10)))
struct SentDescriptorTests {
    private static let call = Array(#"{"method":"a.b.Echo","parameters":{"n":1}}"#.utf8) + [0]

    /// A socket that somebody else listens on, and a client that has connected to it.
    private final class Listener {
        let folder: String
        let descriptor: CInt
        let client: RawClient

        init() throws {
            folder = try temporaryFolder()
            descriptor = test_caller_listen(folder + "/door")
            try #require(descriptor >= 0)
            client = try RawClient(folder + "/door")
        }

        func connect() throws -> RawClient { try RawClient(folder + "/door") }

        func serve(_ limits: ServerLimits = ServerLimits(), admitting: Bool = true) throws -> TestServer {
            try TestServer(limits: limits, passing: descriptor, admitting: admitting, in: folder)
        }
    }

    /// Sends a call with copies of a descriptor that only the connection then has.
    private func send(_ client: RawClient, with descriptor: CInt, count: CInt = 1, flags: CInt = 0) throws {
        try #require(
            test_send_descriptors(client.descriptor, Self.call, Self.call.count, descriptor, count, flags) == 0)
        close(descriptor)
    }

    /// A TCP socket with unsent bytes, whose close waits for an hour.
    private func lingering() throws -> CInt {
        let descriptor = test_lingering_socket(3_600)
        try #require(descriptor >= 0)
        return descriptor
    }

    /// Whether all writing ends of the pipe are closed.
    private func hasEnded(_ reader: CInt) -> Bool {
        var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 30_000) == 1 && waiting.revents & Int16(POLLHUP) != 0
    }

    /// The number of the file that a descriptor names, which no other open socket has.
    private func inode(_ descriptor: CInt) -> ino_t? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_ino : nil
    }

    private func pipe() throws -> (reader: CInt, writer: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(clinux_pair(&ends) == 0)
        return (ends[0], ends[1])
    }

    private func isServing(_ server: TestServer) throws -> Bool {
        let client = try RawClient(server.path)
        client.call("Echo", #"{"n":3}"#)
        return client.reply() == #"{"n":3}"#
    }

    @Test("They are closed, and so is the connection", arguments: [1, 250])
    func closed(count: CInt) throws {
        let listener = try Listener()
        let (reader, writer) = try pipe()
        defer { close(reader) }
        try send(listener.client, with: writer, count: count)
        var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 0) == 0)
        let server = try listener.serve()
        #expect(listener.client.framesUntilEnd() == (0, true))
        #expect(server.closings.next() == .sentDescriptors)
        #expect(hasEnded(reader))
        #expect(try isServing(server))
    }

    @Test("On the server's own socket, the kernel refuses them or the server closes the connection")
    func refused() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        let (reader, writer) = try pipe()
        defer { close(reader) }
        let result = test_send_descriptors(client.descriptor, Self.call, Self.call.count, writer, 1, 0)
        close(writer)
        if result == -EPERM {
            // Linux 6.16 refuses the descriptors, and the socket stays usable.
            client.call("Echo", #"{"n":1}"#)
            #expect(client.reply() == #"{"n":1}"#)
        } else {
            #expect(client.framesUntilEnd() == (0, true))
        }
        #expect(hasEnded(reader))
    }

    @Test("They are closed if other calls come before and after them")
    func amongCalls() throws {
        let listener = try Listener()
        let (reader, writer) = try pipe()
        defer { close(reader) }
        listener.client.send(Self.call + Self.call)
        try send(listener.client, with: writer)
        listener.client.send(Self.call)
        let server = try listener.serve()
        #expect(listener.client.isHungUp)
        #expect(server.closings.next() == .sentDescriptors)
        #expect(hasEnded(reader))
    }

    @Test("Unread ones are closed with the connection")
    func unread() throws {
        let server: TestServer
        let (reader, writer) = try pipe()
        defer { close(reader) }
        do {
            let listener = try Listener()
            try send(listener.client, with: writer, count: 9)
            server = try listener.serve(admitting: false)
            while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        }
        #expect(hasEnded(reader))
        _ = server
    }

    @Test("A socket whose close waits delays nobody when it arrives")
    func lingers() throws {
        let listener = try Listener()
        try send(listener.client, with: lingering())
        let server = try listener.serve()
        #expect(try isServing(server))
        #expect(listener.client.isHungUp)
    }

    @Test("Nor with a byte out of band, which the kernel drops when later bytes are received in the usual way")
    func lingersOutOfBand() throws {
        let listener = try Listener()
        let socket = try lingering()
        try #require(
            test_send_descriptors(listener.client.descriptor, Self.call, 1, socket, 1, CInt(MSG_OOB)) == 0)
        close(socket)
        listener.client.send(Array(Self.call.dropFirst()))
        let server = try listener.serve()
        #expect(try isServing(server))
        #expect(listener.client.framesUntilEnd() == (0, true))
    }

    @Test("Nor after calls that are received together with it")
    func lingersAmongCalls() throws {
        let listener = try Listener()
        listener.client.send(Self.call)
        try send(listener.client, with: lingering())
        let server = try listener.serve()
        #expect(try isServing(server))
        #expect(listener.client.isHungUp)
    }

    @Test("Nor in a connection that is refused, or has no place")
    func lingersUnread() throws {
        var limits = ServerLimits()
        limits.connectionsPerUser = 1
        let listener = try Listener()
        try send(listener.client, with: lingering())
        let second = try listener.connect()
        try send(second, with: lingering())
        let server = try listener.serve(limits, admitting: false)
        while try server.onLoop({ $0.admissions.isEmpty }) { sched_yield() }
        // The second has no place, and the first is refused.
        #expect(second.isHungUp)
        try server.onLoop { $0.admissions.removeFirst()(.refuse) }
        #expect(listener.client.isHungUp)
        #expect(try server.onLoop { _ in true })
    }

    @Test("Nor within another socket that was sent")
    func lingersWithin() throws {
        let listener = try Listener()
        let (inner, outer) = try pipe()
        let socket = try lingering()
        try #require(test_send_descriptors(outer, Self.call, Self.call.count, socket, 1, 0) == 0)
        for each in [socket, outer] { close(each) }
        try send(listener.client, with: inner)
        let server = try listener.serve()
        #expect(try isServing(server))
    }

    /// Each thread has a copy of the others' sockets for a moment. Sixty seconds are more than all of it takes, and little
    /// enough for the test to end if a thread waits for another's socket.
    ///
    /// Without the copies that end with their threads, each attempt takes more. But a child that another test starts also has
    /// copies of all sockets until it executes its program, so a single attempt can take long all the same.
    @Test("Nor for a thread that closes another socket at the same time")
    func lingersForAnother() throws {
        #expect((0..<3).contains { _ in longestClose() < .seconds(60) })
    }

    /// Closes many sockets on many threads, and returns how long the longest close took.
    private func longestClose() -> Duration {
        let longest = Mutex(Duration.zero)
        let threads = DispatchGroup()
        for thread in 0..<16 {
            // A queue for each, because a concurrent queue has no more threads than processors.
            DispatchQueue(label: "thread \(thread)").async(group: threads) {
                for _ in 0..<60 {
                    guard let (inner, outer) = try? pipe() else { return }
                    let socket = test_lingering_socket(60)
                    let sent = test_send_descriptors(outer, Self.call, Self.call.count, socket, 1, 0)
                    #expect(sent == 0)
                    for each in [socket, outer] { close(each) }
                    let duration = ContinuousClock().measure { clinux_close_by_thread(inner) }
                    longest.withLock { $0 = max($0, duration) }
                }
            }
        }
        threads.wait()
        return longest.withLock { $0 }
    }

    @Test("Nor in a connection that was not accepted when the server closes")
    func lingersInBacklog() throws {
        let listener = try Listener()
        let server = try listener.serve()
        #expect(try isServing(server))
        try server.onLoop {
            $0.server?.close()
            $0.server = nil
        }
        #expect(try server.onLoop { _ in true })
    }

    @Test("Nor does a crowd of them")
    func crowd() throws {
        let listener = try Listener()
        let crowd = try (0..<6).map { _ in try listener.connect() }
        for each in crowd { try send(each, with: lingering()) }
        let server = try listener.serve()
        #expect(try isServing(server))
        for each in crowd { #expect(each.isHungUp) }
    }

    @Test("A thread that ends closes a connection without waiting for a socket in it")
    func closesByThread() throws {
        let (inner, outer) = try pipe()
        let socket = try lingering()
        try #require(test_send_descriptors(outer, Self.call, Self.call.count, socket, 1, 0) == 0)
        for each in [socket, outer] { close(each) }
        var scratch = [UInt8](repeating: 0, count: 64)
        #expect(!clinux_close_if_empty(inner, &scratch, scratch.count))
        let number = inode(inner)
        try #require(number != nil)
        clinux_close_by_thread(inner)
        // Another test can have opened a file with the same descriptor meanwhile.
        #expect(inode(inner) != number)
    }

    @Test("A connection without them is closed at once, whatever is unread")
    func closesAtOnce() throws {
        for unread in [[], Self.call] {
            let (inner, outer) = try pipe()
            defer { close(outer) }
            try #require(unread.isEmpty || Glibc.send(outer, unread, unread.count, 0) == unread.count)
            var scratch = [UInt8](repeating: 0, count: 64)
            #expect(clinux_close_if_empty(inner, &scratch, scratch.count))
        }
    }
}
