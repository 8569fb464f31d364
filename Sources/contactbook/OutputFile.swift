import BrokerCommandOutput
import Glibc

/// A file that is written completely or not at all. Bytes go to a temporary file, which is renamed into place
/// at the end (rename(2)). Only the owner can read the file.
final class OutputFile {
    private let path: String
    private let temporary: String
    private let task: String
    private var descriptor: CInt

    /// - Parameter task: the verb phrase that follows `could not` in an error.
    init(at path: String, to task: String) throws {
        self.task = task
        // If the path is a symbolic link, the link stays, and its target is replaced.
        var resolved = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let target = realpath(path, &resolved).map { String(cString: $0) } ?? path
        self.path = target
        var status = stat()
        if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw CommandFailure("could not \(task): \(Speech.clean(path)): not a file", .notTried)
        }
        var template = Array("\(target).XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        // No process is started between the two calls, so no process inherits the descriptor.
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        temporary = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        guard descriptor >= 0 else { throw OutputFile.failure(task, path, errno) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporary)
    }

    func write(_ bytes: [UInt8]) throws {
        guard OutputFile.write(bytes, to: descriptor) else { throw OutputFile.failure(task, path, errno) }
    }

    /// Syncs the file to disk and renames it into place.
    func finish() throws { try finish(isSynced: true) }

    /// - Parameter isSynced: whether to sync the file before the rename.
    func finish(isSynced: Bool) throws {
        guard !isSynced || fsync(descriptor) == 0, rename(temporary, path) == 0 else {
            throw OutputFile.failure(task, path, errno)
        }
        close(descriptor)
        descriptor = -1
    }

    static func failure(_ task: String, _ path: String, _ code: CInt) -> CommandFailure {
        CommandFailure(
            "could not \(task): \(Speech.clean(path)): \(String(cString: strerror(code)).lowercased())", .notTried)
    }

    /// Writes all bytes. On failure, this returns `false` and errno contains the reason.
    static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var done = 0
        while done < bytes.count {
            // Sound: the pointer does not leave the closure.
            let count = unsafe bytes[done...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                return false
            }
            done += count
        }
        return true
    }
}

/// Reads regular files of limited size, and lists folders.
enum PlainFile {
    enum Failure: Error {
        case notRegular
        case tooLarge
        case system(CInt)
    }

    /// Returns all bytes of a regular file. This does not follow a symbolic link at the end of the path, and
    /// does not block on other file types.
    static func read(_ name: String, in folder: CInt = AT_FDCWD, atMost limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw errno == ELOOP ? .notRegular : .system(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        let size = Int(status.st_size)
        guard size <= limit else { throw .tooLarge }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            // The file may have grown while it was read.
            guard bytes.count <= limit else { throw .tooLarge }
        }
    }

    /// The names in a folder, sorted, without those that begin with a dot.
    static func names(in folder: CInt) throws(Failure) -> [String] {
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let directory = fdopendir(copy) else { throw .system(errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

extension PlainFile.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .notRegular: "not a file, or a link to one; left out"
        case .tooLarge: "too large for one card; left out"
        case .system(let code): String(cString: strerror(code)).lowercased()
        }
    }
}
