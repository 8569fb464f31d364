import BrokerSQLite
import GRDBSQLite
import Glibc

/// Why the access database cannot be used. Whatever it is, the caller's answer to an app is no.
public enum AccessStoreError: Error, Hashable, Sendable {
    /// It cannot be read or written just now; the reason is for the journal.
    case unavailable(reason: String)
    /// The file was removed or replaced while the broker ran: what is written now is not found again.
    case removed(path: String)
    /// Not an access database, or one that SQLite found damaged. It was left as it is: restore it from a backup.
    case damaged(reason: String)
    /// Written by a later version of contactbrokerd, and left as it is.
    case newerSchema
    /// Another broker serves this folder.
    case inUse
}

extension AccessStoreError {
    /// What the system refused, by `errno`.
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
    /// What SQLite says, in our words.
    public init(code: Int32, message: String) {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(reason: message)
        // Of these there are dozens, and the words for them are the same.
        case SQLITE_IOERR: self = .unavailable(reason: "\(message), SQLite's code \(code)")
        default: self = .unavailable(reason: message)
        }
    }
}
