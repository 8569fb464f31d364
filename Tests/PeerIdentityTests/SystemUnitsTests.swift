import Glibc
import Testing

@testable import BrokerPeerIdentity

/// A tree with the files of systemd's system manager.
private final class Tree {
    let root: String

    init() throws {
        var template = Array("/tmp/units-XXXXXX".utf8CString)
        root = String(cString: try #require(mkdtemp(&template)))
    }

    deinit { for path in made.reversed() + [root] { remove(path) } }

    private var made: [String] = []

    func write(_ text: String, to path: String) throws {
        var folder = root
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            if mkdir(folder, 0o755) == 0 { made.append(folder) }
        }
        let file = open(root + path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try #require(file >= 0)
        made.append(root + path)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    func activate(_ unit: String) throws { try write("", to: "/run/systemd/units/invocation:\(unit)") }

    func unit(_ name: String) -> Observation<SystemUnit> { SystemUnits(root: root).unit(name) }

    /// The user of an active unit whose only file has this text.
    func user(_ text: String) throws -> UInt32? {
        try activate("a.service")
        try write(text, to: "/etc/systemd/system/a.service")
        guard case .found(let unit) = self.unit("a.service") else { throw TestFailure.unreadable("unit") }
        return unit.user
    }
}

@Suite("Units of the system manager")
struct SystemUnitsTests {
    private let tree: Tree

    init() throws { tree = try Tree() }

    @Test("A unit's user is read from its file, as UID or name")
    func user() throws {
        #expect(try tree.user("[Unit]\n[Service]\nUser=1000\nExecStart=/bin/true\n") == 1_000)
        #expect(try tree.user("[Service]\n User = root \r\n") == 0)
        #expect(try tree.user("[Service]\nExecStart=/bin/true \\\n--all\nUser=1000\n") == 1_000)
    }

    @Test(
        "A unit without an unambiguous user has none",
        arguments: [
            "", "[Service]\nExecStart=/bin/true\n", "[Service]\n#User=1000\n", "[Service]\n;User=1000\n",
            "[Unit]\nUser=1000\n", "User=1000\n[Service]\n", "[Service]\nUser=1000\nUser=1001\n",
            "[Service]\nUser=1000\nUser=\n", "[Service]\nUser=%i\n", "[Service]\nUser=nobody-by-that-name\n",
            "[Service]\nUser=-1\n", "[Service]\nDynamicUser=yes\n", "[Service]\nExecStart=/bin/true \\\nUser=1000\n",
            "[Service]\nUsers=1000\n", "[Service]\nUser=1000 1001\n", "[X-Service]\nUser=1000\n",
        ])
    func none(text: String) throws {
        #expect(try tree.user(text) == nil)
    }

    @Test("An inactive unit has no user, whatever its file says")
    func inactive() throws {
        try tree.write("[Service]\nUser=1000\n", to: "/etc/systemd/system/a.service")
        #expect(tree.unit("a.service") == .absent)
        try tree.activate("a.service")
        #expect(tree.unit("a.service") == .found(SystemUnit(name: "a.service", user: 1_000)))
        try tree.activate("b.service")
        #expect(tree.unit("b.service") == .found(SystemUnit(name: "b.service", user: nil)))
    }

    @Test("The administrator's file overrides the package's, and a transient unit's overrides both")
    func order() throws {
        try tree.activate("a.service")
        try tree.write("[Service]\nUser=1001\n", to: "/usr/lib/systemd/system/a.service")
        #expect(tree.unit("a.service") == .found(SystemUnit(name: "a.service", user: 1_001)))
        try tree.write("[Service]\nUser=1002\n", to: "/etc/systemd/system/a.service")
        #expect(tree.unit("a.service") == .found(SystemUnit(name: "a.service", user: 1_002)))
        try tree.write("[Service]\n", to: "/run/systemd/transient/a.service")
        #expect(tree.unit("a.service") == .found(SystemUnit(name: "a.service", user: nil)))
    }

    @Test(
        "Drop-in files count too; if they differ, the unit has no user",
        arguments: [
            "/etc/systemd/system/my-job@.service.d/x.conf", "/run/systemd/system/my-job@7.service.d/x.conf",
            "/usr/lib/systemd/system/service.d/x.conf", "/etc/systemd/system/my-.service.d/x.conf",
        ])
    func dropIns(path: String) throws {
        try tree.activate("my-job@7.service")
        try tree.write("[Service]\nUser=1000\n", to: "/usr/lib/systemd/system/my-job@.service")
        #expect(tree.unit("my-job@7.service") == .found(SystemUnit(name: "my-job@7.service", user: 1_000)))
        try tree.write("[Service]\nUser=1001\n", to: path)
        #expect(tree.unit("my-job@7.service") == .found(SystemUnit(name: "my-job@7.service", user: nil)))
    }

    @Test(
        "Only control groups below system.slice are units of the system manager",
        arguments: [
            ("/system.slice/a.service", "a.service"),
            ("/system.slice/a.service/worker/1", "a.service"),
            ("/system.slice/system-my.slice/my@1.service", "my@1.service"),
            ("/system.slice/a.scope/a.service", nil),
            ("/system.slice", nil), ("/system.slice/", nil), ("/system.slice/.service", nil),
            ("/system.slice/...service", nil), ("/system.slice/a b.service", nil),
            ("/user.slice/user-1000.slice/user@1000.service/a.service", nil),
            ("/user.slice/user-1000.slice/user@1000.service/system.slice/a.service", nil),
            ("/machine.slice/m.scope/system.slice/a.service", nil),
            ("/../system.slice/a.service", nil), ("system.slice/a.service", nil), ("/a.service", nil),
            ("/system.slice.x/a.service", nil),
        ] as [(String, String?)])
    func systemUnit(path: String, unit: String?) {
        #expect(ControlGroup.systemUnit(of: path) == unit)
    }
}
