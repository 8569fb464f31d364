import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient
import BrokerVarlinkServer
import CBrokerLinux
import Glibc
import Testing

@Suite("Opening a socket", .timeLimit(.minutes(10)))
struct VarlinkServerTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(
        "The socket's file has the requested mode, whatever the umask is", arguments: [0o600, 0o660, 0o666] as [mode_t])
    func modes(mode: mode_t) throws {
        let server = try TestServer(mode: mode)
        #expect(self.mode(server.path) == mode)
    }

    @Test("A stale socket that nobody listens on is replaced")
    func stale() throws {
        let folder = try temporaryFolder()
        let left = clinux_listen(folder + "/door", 0o600, 1)
        try #require(left >= 0)
        close(left)
        let server = try TestServer(in: folder)
        #expect(try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo").count == 0)
    }

    @Test("A socket that another process listens on is left alone")
    func answered() throws {
        let server = try TestServer()
        #expect(throws: ServerError.alreadyServed(path: server.path)) { try TestServer(in: server.folder) }
        #expect(try VarlinkClient(path: server.path, timeout: .seconds(30)).call("a.b.Echo").count == 0)
    }

    @Test("A file that is not a socket is left alone")
    func noSocket() throws {
        let folder = try temporaryFolder()
        defer { removeFolder(folder) }
        close(open(folder + "/door", O_CREAT | O_WRONLY, 0o644))
        #expect(throws: ServerError.notASocket(path: folder + "/door")) { try TestServer(in: folder) }
        #expect(mode(folder + "/door") == 0o644)
    }

    @Test("A missing folder is not made; a path that is too long is refused")
    func noFolder() throws {
        for folder in ["/tmp/varlink-test-missing", "/tmp/" + String(repeating: "x", count: 120)] {
            #expect {
                try TestServer(in: folder)
            } throws: {
                if case .cannotListen? = $0 as? ServerError { true } else { false }
            }
        }
    }

    @Test("Closing removes the socket and closes its connections")
    func closed() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.call("Echo")
        #expect(client.reply() == "{}")
        try server.onLoop { $0.server?.close() }
        #expect(client.isHungUp)
        #expect(server.closings.next() == .closedByOwner)
        #expect(mode(server.path) == 0)
        #expect(throws: VarlinkClientError.self) { try VarlinkClient(path: server.path) }
    }

    @Test("A socket that systemd bound is served and not removed")
    func adopted() throws {
        let folder = try temporaryFolder()
        let descriptor = clinux_listen(folder + "/door", 0o600, 8)
        try #require(descriptor >= 0)
        let server = try TestServer(passing: descriptor, in: folder)
        #expect(PassedSocket(descriptor: descriptor, name: "varlink").path == folder + "/door")
        #expect(try VarlinkClient(path: folder + "/door", timeout: .seconds(30)).call("a.b.Echo").count == 0)
        try server.onLoop { $0.server?.close() }
        #expect(mode(folder + "/door") == 0o600)
    }

    @Test("A descriptor that does not listen is refused")
    func notListening() throws {
        var pair: [CInt] = [-1, -1]
        try #require(clinux_pair(&pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        let descriptor = pair[0]
        #expect(throws: ServerError.notListening(descriptor: descriptor)) { try TestServer(passing: descriptor) }
    }

    @Test(
        "Descriptors from systemd are used only by the process that they are for",
        arguments: [
            (["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "apps:admin"], ["apps", "admin"]),
            (["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "apps"], ["apps", "unknown"]),
            (["LISTEN_PID": "7", "LISTEN_FDS": "1"], ["unknown"]),
            (["LISTEN_PID": "8", "LISTEN_FDS": "1"], []),
            (["LISTEN_FDS": "1"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "0"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "-1"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "65"], []),
            (["LISTEN_PID": "7", "LISTEN_FDS": "x"], []),
            ([:], []),
        ])
    func passed(environment: [String: String], names: [String]) {
        let sockets = PassedSocket.all(in: environment, processID: 7)
        #expect(sockets.map(\.name) == names)
        #expect(sockets.map(\.descriptor) == (0..<CInt(names.count)).map { $0 + 3 })
    }
}

@Suite("Admitting a peer", .timeLimit(.minutes(10)))
struct AdmissionTests {
    @Test("Calls are answered only after the peer is admitted, then in order")
    func later() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        for number in 0..<10 { client.call("Echo", #"{"n":\#(number)}"#) }
        try waitForAdmissions(1, server)
        try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        for number in 0..<10 { #expect(client.reply() == #"{"n":\#(number)}"#) }
    }

    @Test("A refused peer is disconnected without a reply")
    func refused() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        client.call("Echo")
        try waitForAdmissions(1, server)
        try server.onLoop { $0.admissions.removeFirst()(.refuse) }
        #expect(client.framesUntilEnd() == (0, true))
    }

    @Test("A peer that hangs up before its admission is dropped")
    func gone() throws {
        let server = try TestServer(admitting: false)
        do {
            let client = try RawClient(server.path)
            client.call("Hold")
            try waitForAdmissions(1, server)
        }
        while try server.onLoop({ $0.server?.connectionCount }) != 0 { sched_yield() }
        #expect(
            try server.onLoop {
                $0.admissions.removeFirst()(.admit(context: nil))
                return $0.held.count
            } == 0)
        // The abandonment handler runs once for each abandoned admission, and never for an admitted peer.
        #expect(try server.onLoop { $0.abandonedAdmissions } == 1)
        do {
            let admitted = try RawClient(server.path)
            admitted.call("Hold")
            try waitForAdmissions(1, server)
            try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        }
        while try server.onLoop({ $0.server?.connectionCount }) != 0 { sched_yield() }
        #expect(try server.onLoop { $0.abandonedAdmissions } == 1)
    }

    @Test("A peer that shuts down its sending side before its admission is still answered")
    func halfClosed() throws {
        let server = try TestServer(admitting: false)
        let client = try RawClient(server.path)
        client.call("Echo", #"{"n":1}"#)
        client.endInput()
        try waitForAdmissions(1, server)
        try server.onLoop { $0.admissions.removeFirst()(.admit(context: nil)) }
        #expect(client.framesUntilEnd() == (1, true))
    }

    private func waitForAdmissions(_ count: Int, _ server: TestServer) throws {
        let end = ContinuousClock.now + .seconds(30)
        while try server.onLoop({ $0.admissions.count }) < count {
            try #require(ContinuousClock.now < end)
            sched_yield()
        }
    }
}
