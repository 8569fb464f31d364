import CLinux

/// The file systems that one process sees, as far as it must be told whether the kernel itself answers for a file.
final class FileSystems {
    private let read: () -> [UInt8]
    private let isOwnNamespace: Bool
    private lazy var mounts = read()

    init(of directory: ProcessDirectory, isOwnNamespace: Bool) {
        self.isOwnNamespace = isOwnNamespace
        read = {
            if case .found(let contents) = directory.contents(of: "mountinfo", limit: 4_194_304) { return contents }
            return []
        }
    }

    /// From the text of a `mountinfo`.
    init(mounts: [UInt8], isOwnNamespace: Bool) {
        self.isOwnNamespace = isOwnNamespace
        read = { mounts }
    }

    /// A disk's, the memory's, or one that is made of these.
    ///
    /// A file server in user space can make a read last for ever and answer each one differently: a hash of what it
    /// answers says nothing about what runs. What is not known to be local is not.
    func isLocal(_ file: clinux_file) -> Bool {
        // A block device has a major number; mounting one is a matter for the administrator.
        if file.device_major != 0 { return true }
        guard let type = type(of: file) else { return false }
        // Whoever made a mount namespace may have laid an overlay over a server's files.
        return type == "overlay" ? isOwnNamespace : Self.local.contains(type)
    }

    private static let local: Set<String> = ["tmpfs", "ramfs", "rootfs", "btrfs", "zfs", "bcachefs", "erofs"]

    /// proc_pid_mountinfo(5): number, parent, device, …, a dash, type. A mount that cannot be found, such as the
    /// kernel's own behind memfd_create(2), has no type.
    private func type(of file: clinux_file) -> String? {
        let device = Array("\(file.device_major):\(file.device_minor)".utf8)
        let mount = Array("\(file.mount)".utf8)
        for line in mounts.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 8,
                file.has_mount == 1 ? fields[0].elementsEqual(mount) : fields[2].elementsEqual(device),
                let dash = fields[6...].firstIndex(where: { $0.elementsEqual([UInt8(ascii: "-")]) }),
                dash + 1 < fields.count
            else { continue }
            return String(decoding: fields[dash + 1], as: UTF8.self)
        }
        return nil
    }
}
