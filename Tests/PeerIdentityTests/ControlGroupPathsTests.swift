import CBrokerLinux
import Glibc
import Testing

@testable import BrokerPeerIdentity

/// A group of its own in the unified hierarchy, gone with the test.
private final class Group {
    let name: String
    let place: String
    private var isThere = true

    var path: String { "/" + name }

    /// The kernel's number of it.
    var number: UInt64 {
        get throws {
            var status = clinux_file()
            try #require(clinux_file_status_at(AT_FDCWD, place, 0, &status) == 0)
            return status.inode
        }
    }

    init(_ name: String) throws {
        self.name = "\(name)-\(getpid())"
        place = try #require(Machine.controlGroups) + "/" + self.name
        try #require(mkdir(place, 0o755) == 0)
    }

    deinit { remove() }

    func remove() {
        if isThere { rmdir(place) }
        isThere = false
    }
}

@Suite(
    "Paths of control groups, by their numbers", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.controlGroups != nil, "needs root and control groups that no service manager keeps"))
struct ControlGroupPathsTests {
    @Test("The number that a process's descriptor tells is that of its group")
    func told() throws {
        let group = try Group("told")
        let caller = try TestCaller()
        let file = open(group.place + "/cgroup.procs", O_WRONLY | O_CLOEXEC)
        let text = Array("\(caller.started)".utf8)
        try #require(write(file, text, text.count) == text.count)
        close(file)
        let peer = try EvidenceCollector().begin(socket: caller.socket)
        var process = clinux_process()
        let result = clinux_pidfd_process(peer.pidfd, &process)
        // Linux 6.13.
        if result != -ENOTTY {
            #expect(result == 0)
            #expect(process.pid == caller.started)
            #expect(try process.control_group == group.number)
        }
        caller.end()
    }

    @Test("Where a process says it is counts for nothing: only the path at which the folder has the number is kept")
    func believed() throws {
        let (one, other) = (try Group("one"), try Group("other"))
        let paths = ControlGroupPaths()
        // As of a process that was in one when its number was asked, and in the other when its file was read.
        paths.learn(.found(other.path), of: try one.number)
        #expect(paths.path(of: try one.number) == nil)
        let wrong = ["", "/", one.name, "//../\(one.name)", "/../\(one.name)", "/nowhere", one.path + "/cgroup.procs"]
        for path in wrong {
            paths.learn(.found(path), of: try one.number)
            #expect(paths.path(of: try one.number) == nil, "\(path)")
        }
        paths.learn(.absent, of: try one.number)
        paths.learn(.unreadable(errno: EACCES), of: try one.number)
        paths.learn(.found(one.path), of: 0)
        #expect(paths.path(of: 0) == nil)
        #expect(paths.path(of: try one.number) == nil)
        paths.learn(.found(one.path), of: try one.number)
        #expect(paths.path(of: try one.number) == one.path)
        #expect(paths.path(of: try other.number) == nil)
    }

    @Test("No group can be renamed, and one that is made anew in the same place has another number")
    func forLife() throws {
        let group = try Group("life")
        let before = try group.number
        #expect(rename(group.place, group.place + "-renamed") != 0)
        #expect(errno == EPERM)
        group.remove()
        let again = try Group("life")
        #expect(again.path == group.path)
        #expect(try again.number != before)
    }

    @Test("What is longer than a path should be is not kept, nor is more than there is room for")
    func bounded() throws {
        let paths = ControlGroupPaths()
        let group = try Group("bounded")
        var folder = group.place
        var made: [String] = []
        defer { for folder in made.reversed() { rmdir(folder) } }
        for _ in 0..<3 {
            folder += "/" + String(repeating: "x", count: 200)
            try #require(mkdir(folder, 0o755) == 0)
            made.append(folder)
        }
        var status = clinux_file()
        try #require(clinux_file_status_at(AT_FDCWD, folder, 0, &status) == 0)
        let long = String(folder.dropFirst(group.place.count - group.path.count))
        #expect(long.utf8.count > ControlGroupPaths.longest)
        paths.learn(.found(long), of: status.inode)
        #expect(paths.path(of: status.inode) == nil)

        let many = try (0...ControlGroupPaths.capacity).map { try Group("bounded-\($0)") }
        for group in many { paths.learn(.found(group.path), of: try group.number) }
        #expect(try many.count { paths.path(of: try $0.number) != nil } == 1)
    }
}
