import BrokerSQLite
import CBrokerSQLite
import Glibc

/// Why the access database cannot be used. If opening the database fails, the broker does not start. If a
/// later commit fails, the broker refuses the app's request.
public enum AccessStoreError: Error, Hashable, Sendable {
    /// The database cannot be read or written. The reason is for the journal.
    case unavailable(reason: String)
    /// The file was removed or replaced while the broker ran. Data written from then on would be lost.
    case removed(path: String)
    /// The file is not an access database, or SQLite or the broker found it damaged. The broker does not change
    /// the file; the administrator has to restore it from a backup.
    case damaged(reason: String)
    /// A later version of contactbrokerd wrote the file. The broker does not change it.
    case newerSchema
    /// Another broker serves this folder.
    case inUse
}

extension AccessStoreError {
    /// The error for a failed system call, described by `errno`.
    static func failed(_ verb: String, _ path: String) -> AccessStoreError {
        .unavailable(reason: "could not \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}

extension AccessStoreError: CustomStringConvertible {
    /// For the journal.
    public var description: String {
        switch self {
        case .unavailable(let reason): reason
        case .removed(let path): "\(path) was removed or replaced while the broker ran"
        case .damaged(let reason): "the access database is damaged (\(reason))"
        case .newerSchema: "the access database was written by a later contactbrokerd"
        case .inUse: "another broker serves the folder"
        }
    }
}

extension AccessStoreError: SQLiteFailure {
    /// Converts SQLite's result code.
    public init(code: Int32, message: String) {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(reason: message)
        // The message is the same for dozens of I/O errors; the extended code distinguishes them.
        case SQLITE_IOERR: self = .unavailable(reason: "\(message) (SQLite code \(code))")
        default: self = .unavailable(reason: message)
        }
    }
}
