import BrokerSQLite
import GRDBSQLite

/// Why the book cannot be read or written. None of these has changed the file.
public enum StoreError: Error, Hashable, Sendable {
    /// The file cannot be opened, read or written just now: no room, no right, another program holds it.
    case unavailable(reason: String)
    /// The file is no book, or SQLite found it damaged. It is left as it was; restore from a backup.
    case damaged(reason: String)
    /// One card is not as it was saved. It is left as it was.
    case damagedCard(record: Int64)
    /// Written by a later version of contactbrokerd. It is left as it was.
    case newerSchema
    /// The book of another user, or of an earlier one with the same number. It is left as it was.
    case wrongOwner
    /// A read was not made, because it would be too long where it was begun: see ``ReadingManner/bounded``.
    case takesLong
}

/// Why a change was not made. Nothing of the whole list was.
public enum ChangeError: Error, Hashable, Sendable {
    /// The change at this place in the list is about a record that is not there.
    case recordDoesNotExist(index: Int)
    /// The group that something was to join or leave is not there.
    case parentRecordDoesNotExist(index: Int)
    /// The group would be within itself.
    case containmentCycle(index: Int)
    /// More cards would be linked than ``ContactLinks/mostMembers``.
    case tooManyLinked(index: Int)
    /// The container at this place in the list is not empty.
    case containerInUse(index: Int)
    /// There would be more containers than ``StoredContainer/most``.
    case tooManyContainers(index: Int)
    case store(StoreError)
}

extension StoreError: CustomStringConvertible {
    /// For the journal: what is wrong, and what to do about it where that is sure.
    public var description: String {
        switch self {
        case .unavailable(let reason): reason
        case .takesLong: "a read took longer than it may where it was made"
        case .damaged(let reason):
            """
            it is damaged and was left as it is (\(reason)); restore contacts.sqlite from a backup, or move it away to begin \
            without contacts
            """
        case .damagedCard(let record):
            """
            card \(record) is damaged: it is not as it was saved; restore contacts.sqlite from a backup, or delete the card and \
            add it again
            """
        case .newerSchema: "it was written by a later contactbrokerd and was left as it is; install that version again"
        case .wrongOwner: "it is another person's and was left as it is; contactctl purge-user removes it"
        }
    }
}

extension StoreError: SQLiteFailure {
    init(_ error: any Error) { self = error as? StoreError ?? .unavailable(reason: "\(error)") }

    /// What SQLite's code means to callers. Its texts name tables, never what is in them.
    public init(code: Int32, message: String) {
        let reason = "SQLite \(code): \(message)"
        switch code & 0xFF {
        // Nobody interrupts a statement but the bound of its read.
        case SQLITE_INTERRUPT: self = .takesLong
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(reason: reason)
        default: self = .unavailable(reason: reason)
        }
    }
}
