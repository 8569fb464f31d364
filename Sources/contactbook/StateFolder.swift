import BrokerCommandOutput
import Glibc

/// The folder of what contactbook itself remembers about the user's address book: `$XDG_STATE_HOME/contactbook`.
enum StateFolder {
    /// `nil` if neither XDG_STATE_HOME nor a home folder is known.
    static var path: String? {
        if let variable = environmentVariable("XDG_STATE_HOME"), variable.hasPrefix("/") {
            return variable + "/contactbook"
        }
        let home = environmentVariable("HOME") ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
        return home.map { $0 + "/.local/state/contactbook" }
    }

    /// Creates a folder in which only the user can read, and the folders above it.
    static func make(_ folder: String, to task: String) throws {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw OutputFile.failure(task, path, errno) }
        }
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid() else {
            throw CommandFailure(
                "could not \(task): \(Speech.clean(folder)) is not a folder of yours", try: "move it away", .notTried)
        }
        // The files contain contact data, so only the owner may access the folder.
        if status.st_mode & 0o077 != 0 { chmod(folder, 0o700) }
    }

    /// Appends bytes to a file, and syncs it.
    static func append(_ bytes: [UInt8], to path: String, creating: Bool = false, task: String) throws {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (creating ? O_CREAT : 0)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw OutputFile.failure(task, path, errno) }
        defer { close(descriptor) }
        guard OutputFile.write(bytes, to: descriptor), fdatasync(descriptor) == 0 else {
            throw OutputFile.failure(task, path, errno)
        }
    }

    /// Makes the names of the files in a folder durable. On failure, this returns `false` and errno contains the reason.
    static func sync(_ folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
