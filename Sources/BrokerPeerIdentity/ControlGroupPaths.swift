import CBrokerLinux
import Glibc
import Synchronization

/// Which control group of the unified hierarchy has which path.
///
/// A group there keeps its path for as long as it is, since none can be renamed, and its number, that of its folder, is
/// never given to another one. A pidfd tells the number, so that the path of a group that was seen before need not be read
/// of each process in it.
///
/// What stands here is nobody's word but the kernel's: a path is kept only after the folder at that path was seen to have
/// that number. A process that is moved to and fro while it is looked at puts nothing in.
///
/// Safe to use from several threads.
final class ControlGroupPaths: Sendable {
    /// Where the hierarchy is mounted, alone or beside those of version 1.
    private static let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
    /// Groups remembered; beyond it all are read anew.
    static let capacity = 256
    /// Bytes of a path that is remembered: users name groups of their own.
    static let longest = 512

    /// Below 0 where there is none: then nothing is remembered.
    private let hierarchy: CInt
    /// Of its files, so that nothing counts that somebody has mounted in it.
    private let device: [UInt32]
    private let paths = Mutex<[UInt64: String]>([:])

    init() {
        var opened: CInt = -1
        for place in Self.places where opened < 0 { opened = clinux_open_control_groups(place) }
        hierarchy = opened
        var status = clinux_file()
        let result = opened < 0 ? -1 : clinux_file_status(opened, &status)
        device = result == 0 ? [status.device_major, status.device_minor] : []
    }

    deinit { if hierarchy >= 0 { close(hierarchy) } }

    /// - Parameter number: as `clinux_pidfd_process` tells it; nothing has the number 0.
    func path(of number: UInt64) -> String? {
        number == 0 ? nil : paths.withLock { $0[number] }
    }

    /// Remembers what was read, if it is so.
    func learn(_ path: Reading<String>, of number: UInt64) {
        guard number != 0, case .found(let path) = path, isPath(path, of: number) else { return }
        paths.withLock { paths in
            if paths.count >= Self.capacity { paths = [:] }
            paths[number] = path
        }
    }

    private func isPath(_ path: String, of number: UInt64) -> Bool {
        guard hierarchy >= 0, path.utf8.count <= Self.longest, path.utf8.first == UInt8(ascii: "/"),
            // Outside of our own control group namespace the kernel writes such a path, and it leads elsewhere.
            !path.split(separator: "/").contains("..")
        else { return false }
        var status = clinux_file()
        let name = path == "/" ? "." : String(path.dropFirst())
        return clinux_file_status_at(hierarchy, name, 0, &status) == 0 && status.is_folder == 1
            && [status.device_major, status.device_minor] == device && status.inode == number
    }
}
