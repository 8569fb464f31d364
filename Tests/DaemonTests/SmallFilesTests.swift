import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("The broker's small files after a power cut")
struct SmallFilesTests {
    @Test("The broker starts and serves, whichever of its small files is empty, torn or missing")
    func damaged() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        try fixture.stop()
        // Made by the first backup, and by an earlier version.
        try DaemonFixture.write([UInt8](repeating: 7, count: 32), to: fixture.state + "/backup.key")
        try DaemonFixture.write(Array("12\n".utf8), to: fixture.state + "/audit-journal")
        let paths = DaemonFixture.paths(below: fixture.state).filter { !$0.contains(".sqlite") }
        #expect(paths.contains { $0.hasSuffix("/access.synced") } && paths.contains { $0.hasSuffix("/lock") })
        for path in paths {
            for how in ["empty", "torn", "missing"] {
                var bytes = DaemonFixture.bytes(of: path) ?? []
                if how == "torn" { bytes = Array(bytes.prefix(bytes.count / 2)) + [0, 0, 0] }
                if how == "empty" { bytes = [] }
                if how == "missing" { unlink(path) } else { try DaemonFixture.write(bytes, to: path) }
                try fixture.start()
                let place: Comment = "\(path) is \(how)"
                #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined", place)
                let keeper = try fixture.app("keeper").call("GetAuthorization").word
                // Without the position, revocations may be lost, so every grant is denied.
                #expect(keeper == "full" || keeper == "denied", place)
                let verified = try fixture.administrator().call("io.contactbroker.Admin.VerifyAudit")
                #expect(verified["brokenAt"]?.integer == nil, place)
                try fixture.stop()
            }
        }
    }

    @Test(
        "If the file with the journal's position is damaged, the broker starts, and the journal gets all records again",
        .enabled(if: getuid() == 0 && Surroundings.journal.canBeEntered, "needs root, to mount"),
        arguments: [("1\n", 2), ("", 1), ("1", 1), ("\0\0", 1)])
    func position(text: String, first: Int) throws {
        let fixture = try DaemonFixture(starting: false, in: .journal)
        let journal = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        defer { close(journal) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (fixture.folder + "/journal-socket").utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(journal, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        var wait = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(journal, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        try fixture.start()
        try fixture.stop()
        try #require(mkdir(fixture.configuration, 0o755) == 0)
        try DaemonFixture.write(
            Array("[audit]\njournal = true\n".utf8), to: fixture.configuration + "/contactbroker.toml", mode: 0o644)
        try DaemonFixture.write(Array(text.utf8), to: fixture.state + "/audit-journal")
        try fixture.start()
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(journal, &bytes, bytes.count, 0)
        let message = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(message.contains("MESSAGE=audit \(first): "), "\(message)")
        #expect(fixture.journal.contains("does not contain the number of an audit record") == (first == 1))
    }
}
