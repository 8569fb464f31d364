import CBrokerLinux
import Glibc
import Testing

@Suite("Who is at the other end of a CardDAV connection")
struct CardDAVPeerTests {
    private static let asNobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]

    private func run(_ program: String, _ arguments: [String], in service: CardDAVFixture) throws -> Command {
        try Command(program, arguments, in: service.fixture)
    }

    /// A Python program that connects from a port, sends a request, and prints what comes back.
    private func script(_ service: CardDAVFixture, from port: Int = 0, andReset: Bool = false) -> String {
        let request = service.request("OPTIONS", "/", "", ["Connection": "close"])
            .replacing("\r\n", with: "\\r\\n")
        return """
            import socket, struct, sys
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(('127.0.0.1', \(port)))
            s.connect(('127.0.0.1', \(service.port)))
            s.sendall(b'\(request)')
            if \(andReset ? "True" : "False"):
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                sys.exit()
            try: sys.stdout.write(s.recv(100).decode())
            except ConnectionResetError: pass
            """
    }

    @Test("Another user's program gets nothing, whatever password it knows", .enabled(if: getuid() == 0, "needs root"))
    func anotherUser() throws {
        let service = try CardDAVFixture()
        let own = try run("/usr/bin/python3", ["-c", script(service)], in: service)
        #expect(own.output.hasPrefix("HTTP/1.1 200"), "\(own.errors)")
        let other = try run(
            "/usr/bin/setpriv", Self.asNobody + ["/usr/bin/python3", "-c", script(service)], in: service)
        #expect(other.end == .exited(0) && other.output.isEmpty, "\(other.errors)")
        #expect(service.messages.contains("refused a connection of user 65534"))
    }

    @Test(
        "A connection that was reset is not taken for the next one with the same addresses",
        .enabled(if: getuid() == 0, "needs root"))
    func reusedPort() throws {
        let service = try CardDAVFixture()
        let process = try #require(service.service)
        // Both connections are accepted after the second was made.
        for (port, first, second, isServed) in [(17_201, [], Self.asNobody, false), (17_202, Self.asNobody, [], true)] {
            try process.pause()
            let reset = script(service, from: port, andReset: true)
            let start = { (user: [String]) in
                (
                    user.isEmpty ? "/usr/bin/python3" : "/usr/bin/setpriv",
                    user.isEmpty ? [] : user + ["/usr/bin/python3"]
                )
            }
            let (program, arguments) = start(first)
            #expect(try run(program, arguments + ["-c", reset], in: service).end == .exited(0))
            let (other, others) = start(second)
            let running = try Command.Running(other, others + ["-c", script(service, from: port)], in: service.fixture)
            _ = try service.wait { Self.isConnected(from: port, to: service.port) }
            process.signal(SIGCONT)
            #expect(try running.finish().output.hasPrefix("HTTP/1.1 200") == isServed)
        }
        #expect(try service.tags().count == 3)
    }

    private static func isConnected(from port: Int, to other: UInt16) -> Bool {
        let ports = (String(port, radix: 16, uppercase: true), String(other, radix: 16, uppercase: true))
        return DaemonFixture.text(of: "/proc/net/tcp").contains("0100007F:\(ports.0) 0100007F:\(ports.1) 01")
    }

    @Test("The kernel names the user of the other end while it is established, and nobody after a reset")
    func kernel() throws {
        let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(listening, $0, size) == 0 && listen(listening, 5) == 0)
                #expect(getsockname(listening, $0, &size) == 0)
            }
        }
        let line = try HTTPLine(port: UInt16(bigEndian: address.sin_port))
        var peer = sockaddr_in()
        var (uid, code): (uid_t, CInt) = (4_711, 0)
        let accepted = withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { accept(listening, $0, &size) }
        }
        defer { close(accepted) }
        func ask() {
            withUnsafePointer(to: &address) { own in
                own.withMemoryRebound(to: sockaddr.self, capacity: 1) { own in
                    withUnsafePointer(to: &peer) { peer in
                        peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                            code = clinux_tcp_peer_user(own, peer, &uid)
                        }
                    }
                }
            }
        }
        ask()
        #expect(code == 0 && uid == getuid())
        line.reset()
        ask()
        #expect(code == -ENOTCONN || code == -ENOENT)
    }

    @Test("Either program can be killed at any time, and clients find the other one again")
    func killed() throws {
        let service = try CardDAVFixture()
        let token = try #require(try service.sync(nil).token)
        let line = try HTTPLine(port: service.port)
        line.send(service.request("OPTIONS", "/"))
        #expect(try line.response()?.status == 200)
        service.fixture.kill()
        line.send(service.request("OPTIONS", "/"))
        let without = try line.response()
        #expect(without?.status == 503 && without?.fields["retry-after"] == "5")
        try service.fixture.start()
        line.send(service.request("OPTIONS", "/"))
        #expect(try line.response()?.status == 200)
        #expect(try service.sync(token).found.isEmpty)

        service.service?.kill()
        #expect(try line.response() == nil)
        let port = service.port
        try service.startService()
        #expect(service.port == port)
        #expect(try service.sync(token).found.isEmpty && service.tags().count == 3)
        #expect(try service.endService() == .exited(0))
    }

    @Test("If another program has the stored port, the service says so and does not choose another")
    func portTaken() throws {
        let service = try CardDAVFixture()
        let second = try service.launchService()
        #expect(try second.waitForEnd() == .exited(2))
        #expect(service.messages.contains("another program has port \(service.port)"))
    }
}
