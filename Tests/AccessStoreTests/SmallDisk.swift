import Glibc
import Testing

/// A small file system in memory. Needs root.
final class SmallDisk {
    let path: String

    /// `nil` if mounting is not permitted.
    init?(kilobytes: Int) throws {
        var template = Array("/tmp/access-store-disk.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            rmdir(path)
            return nil
        }
    }

    deinit {
        // Detach it, in case a store still has a file open.
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }

    func grow(kilobytes: Int) throws {
        try #require(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0)
    }

    func closeToWriting() throws {
        try #require(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
    }
}
