import BrokerBounds
import BrokerSQLite
import CBrokerSQLite

/// The reason why the book cannot be read or written. The failed operation leaves the file unchanged.
public enum StoreError: Error, Hashable, Sendable {
    /// The file cannot be opened, read or written now, for example because the disk is full or another
    /// program locks it.
    case unavailable(reason: String)
    /// The file is not a book, or SQLite found it damaged. Restore it from a backup.
    case damaged(reason: String)
    /// One card is damaged.
    case damagedCard(record: Int64)
    /// A later version of contactbrokerd wrote the file.
    case newerSchema
    /// The book belongs to another user, or to an earlier user with the same UID.
    case wrongOwner
    /// A read was not completed because it would block the event loop for too long. See
    /// ``ReadingManner/bounded``.
    case takesLong
    /// The cursor belongs to an order that the book does not have any more, because the owner's language has changed.
    case otherOrder
}

/// The reason why a save failed. None of its changes was applied.
public enum ChangeError: Error, Hashable, Sendable {
    /// The change at this index concerns a record that does not exist.
    case recordDoesNotExist(index: Int)
    /// The group to join or leave does not exist.
    case parentRecordDoesNotExist(index: Int)
    /// The group would contain itself.
    case containmentCycle(index: Int)
    /// One set would have more than `StoreLimits.linkedCards` cards.
    case tooManyLinked(index: Int)
    /// The change at this index deletes a container that is not empty.
    case containerInUse(index: Int)
    /// The change at this index takes the names, or all numbers and addresses, from a contact that the author may not
    /// delete.
    case emptiesContact(index: Int)
    /// The contact of this step of the author's save is not as its author saw it.
    case recordChanged(step: Int)
    /// A record of the save has changed since the person saw it.
    case changedMeanwhile
    /// There would be more than ``StoredContainer/most`` containers.
    case tooManyContainers(index: Int)
    /// The book would use more space than ``SpaceBounds/book``.
    ///
    /// - Parameter size: the bytes that the book would use; `nil` if the author must not learn it.
    case bookFull(size: Int64?, most: Int64)
    /// The app has used up its own allowance, ``SpaceBounds/app``.
    case allowanceUsed(most: Int64)
    /// The bin would lose what somebody else's contact was before. It has at most so many bytes for saves of such apps.
    case binFull(most: Int64)
    /// The book has contacts, which a restore would replace.
    case hasContacts(Int)
    case store(StoreError)
}

extension StoreError {
    /// The error of a read or write after the book was closed.
    public static let closed = StoreError.unavailable(reason: "the book was closed")
}

extension StoreError: CustomStringConvertible {
    /// The text for the journal, including a remedy if there is a reliable one.
    public var description: String {
        switch self {
        case .unavailable(let reason): reason
        case .otherOrder: "the cursor belongs to the order of another language"
        case .takesLong: "a read took longer than the event loop allows"
        case .damaged(let reason):
            """
            it is damaged and was left as it is (\(reason)); restore contacts.sqlite from a backup, or move it away to start \
            without contacts
            """
        case .damagedCard(let record):
            """
            card \(record) is damaged and cannot be read; restore contacts.sqlite from a backup, or delete the card and \
            add it again
            """
        case .newerSchema: "it was written by a later contactbrokerd and was left as it is; install that version again"
        case .wrongOwner: "it belongs to another person and was left as it is; contactctl purge-user deletes it"
        }
    }
}

extension StoreError: SQLiteFailure {
    init(_ error: any Error) { self = error as? StoreError ?? .unavailable(reason: "\(error)") }

    /// Converts SQLite's result code. SQLite's messages may name tables but never contain stored values.
    public init(code: Int32, message: String) {
        let reason = "SQLite \(code): \(message)"
        switch code & 0xFF {
        // Only a ``ReadBound`` interrupts a statement.
        case SQLITE_INTERRUPT: self = .takesLong
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(reason: reason)
        default: self = .unavailable(reason: reason)
        }
    }
}
