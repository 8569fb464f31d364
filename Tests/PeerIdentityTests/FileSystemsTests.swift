import CBrokerIdentify
import CBrokerLinux
import Glibc
import Testing

@testable import BrokerPeerIdentity

@Suite("File systems whose contents are trusted")
struct FileSystemsTests {
    private let mounts = """
        21 1 0:5 / / rw,relatime shared:1 - btrfs /dev/sda1 rw
        22 21 0:6 / /run rw - tmpfs tmpfs rw
        23 21 0:7 / /home/u/m rw shared:2 master:3 - fuse.sshfs sshfs rw
        24 21 0:8 / /srv rw - nfs4 server:/ rw
        25 21 0:9 / /var rw - overlay overlay rw,lowerdir=/ - tmpfs
        26 21 0:10 / /cut rw -

        """

    private func file(mount: UInt64, device: UInt32 = 99, major: UInt32 = 0) -> clinux_file {
        var file = clinux_file()
        file.device_major = major
        file.device_minor = device
        file.mount = mount
        file.has_mount = 1
        return file
    }

    private func isLocal(_ file: clinux_file, own: Bool = true) -> Bool {
        Self.isLocal(file, mounts, own)
    }

    private static func isLocal(_ file: clinux_file, _ mounts: String, _ own: Bool) -> Bool {
        var file = file
        return mounts.withCString { identify_is_local($0, mounts.utf8.count, &file, own ? 1 : 0) == 1 }
    }

    @Test("Disk and memory file systems are trusted; file servers and unmounted ones are not")
    func kinds() {
        #expect(isLocal(file(mount: 21)))
        #expect(isLocal(file(mount: 22)))
        #expect(isLocal(file(mount: 99, major: 8)))
        #expect(!isLocal(file(mount: 23)))
        #expect(!isLocal(file(mount: 24)))
        #expect(!isLocal(file(mount: 26)))
        #expect(!isLocal(file(mount: 2)))
    }

    @Test("An overlay is trusted only among the broker's own mounts")
    func overlay() {
        #expect(isLocal(file(mount: 25)))
        #expect(!isLocal(file(mount: 25), own: false))
    }

    @Test("Without a mount ID, the device number is looked up")
    func byDevice() {
        var tmpfs = file(mount: 23, device: 6)
        tmpfs.has_mount = 0
        #expect(isLocal(tmpfs))
        var server = file(mount: 22, device: 7)
        server.has_mount = 0
        #expect(!isLocal(server))
    }

    @Test(
        "An invalid mount list trusts nothing",
        arguments: ["", "\n", "21", "21 1 0:5 / / rw -", "x y z"])
    func garbage(text: String) {
        #expect(!Self.isLocal(file(mount: 21), text, true))
    }

    @Test("This machine's own mounts are classified")
    func here() throws {
        guard case .found(let bytes) = contents(ofFile: "/proc/self/mountinfo") else {
            throw TestFailure.unreadable("mountinfo")
        }
        let mounts = String(decoding: bytes, as: UTF8.self)
        for (path, expected) in [("/usr/bin/cat", true), ("/dev/shm", true), ("/proc/version", false)] {
            let file = clinux_open_path(AT_FDCWD, path, 1)
            try #require(file >= 0)
            defer { close(file) }
            var status = clinux_file()
            try #require(clinux_file_status(file, &status) == 0)
            #expect(Self.isLocal(status, mounts, true) == expected, "\(path)")
        }
    }
}
