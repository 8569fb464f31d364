import BrokerDisclosure
import Glibc

/// The key that authenticates backups: a file of 32 bytes in the state folder, made at the first backup.
///
/// Root can copy the file to another machine, whose broker then accepts the backups of this one.
public enum BackupKey {
    /// Reads the key.
    ///
    /// - Parameters:
    ///   - folder: the state folder.
    ///   - creating: whether to make the key if there is none.
    /// - Returns: `nil` if there is no key.
    public static func read(in folder: String, creating: Bool) throws(AccessStoreError) -> [UInt8]? {
        let path = folder + "/backup.key"
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            guard errno == ENOENT else { throw .failed("open", path) }
            return creating ? try make(path, folder) : nil
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .failed("inspect", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw .unavailable(
                reason: "\(path) must be a regular file of the contact broker's user that nobody else can read")
        }
        // One byte more, to notice a file that is too long.
        var bytes = [UInt8](repeating: 0, count: BackupSeal.keySize + 1)
        guard Glibc.read(file, &bytes, bytes.count) == BackupSeal.keySize else {
            throw .unavailable(reason: "\(path) does not have \(BackupSeal.keySize) bytes, so it is no key for backups")
        }
        return Array(bytes.dropLast())
    }

    private static func make(_ path: String, _ folder: String) throws(AccessStoreError) -> [UInt8] {
        guard let key = BackupSeal.randomKey() else { throw .unavailable(reason: "the system has no randomness") }
        let making = path + ".new"
        unlink(making)
        let file = open(making, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .failed("create", making) }
        defer {
            close(file)
            unlink(making)
        }
        guard fchmod(file, 0o600) == 0, write(file, key, key.count) == key.count, fsync(file) == 0 else {
            throw .failed("write", making)
        }
        // `link` fails if the file exists, so a key that backups depend on is never replaced.
        guard link(making, path) == 0 else { throw .failed("create", path) }
        try StateFolder.syncNames(in: folder)
        return key
    }
}
