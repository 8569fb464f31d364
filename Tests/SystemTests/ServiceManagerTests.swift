import Glibc
import Testing

@testable import BrokerSystem

/// Serialized, because the process's environment names the service manager.
@Suite("Notifying the service manager", .serialized)
struct ServiceManagerTests {
    /// A service manager's end of `$NOTIFY_SOCKET`.
    private final class Listener {
        let descriptor: CInt
        private let path: String

        init() throws {
            var template = Array("/tmp/notify.XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/socket"
            descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
            try #require(bound == 0)
            var wait = timeval(tv_sec: 10, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
            setenv("NOTIFY_SOCKET", path, 1)
        }

        deinit {
            unsetenv("NOTIFY_SOCKET")
            close(descriptor)
            unlink(path)
            rmdir(String(path.dropLast("/socket".count)))
        }

        func next() -> String {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test("The service manager is notified that the service is ready, alive and stopping, in order")
    func states() throws {
        let listener = try Listener()
        ServiceManager.notify(.ready, .status("serving\nevery user"))
        ServiceManager.notify(.alive)
        ServiceManager.notify(.stopping)
        #expect(listener.next() == "READY=1\nSTATUS=serving every user")
        #expect(listener.next() == "WATCHDOG=1")
        #expect(listener.next() == "STOPPING=1")
    }

    @Test("A reload notification contains the time, as systemd requires")
    func reloading() throws {
        let listener = try Listener()
        ServiceManager.notify(.reloading)
        #expect(listener.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    }

    @Test("Without a service manager, a notification does nothing")
    func nobody() {
        ServiceManager.notify(.ready)
        ServiceManager.flush()
    }

    @Test("The watchdog is served only if this process is the watched one")
    func watchdog() {
        #expect(ServiceManager.watchdog == nil)
        setenv("WATCHDOG_USEC", "30000000", 1)
        setenv("WATCHDOG_PID", "\(getpid())", 1)
        defer {
            unsetenv("WATCHDOG_USEC")
            unsetenv("WATCHDOG_PID")
        }
        #expect(ServiceManager.watchdog == .seconds(30))
        setenv("WATCHDOG_PID", "1", 1)
        #expect(ServiceManager.watchdog == nil)
    }
}
