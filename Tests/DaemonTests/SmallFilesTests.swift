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
}
