import BrokerAccessControl
import BrokerSQLite

/// The user whose data is stored under a UID.
struct Owner: Hashable {
    /// The user's name when data was first stored.
    let name: String
    /// Whether a purge has begun: the grants are deleted, and the book is being removed.
    var isPurged = false
}

/// The users for whom something is stored.
public final class Owners {
    /// Keyed by UID.
    private var owners: [UInt32: Owner]
    /// The known user names, by UID. The broker looks them up and sets them, because a look-up can block.
    public var userNames: [UInt32: String] = [:]
    private var unwritten: Set<UInt32> = []
    /// Users whose rows the next commit deletes before it writes new ones for them.
    private var purges: Set<UInt32> = []

    init(_ owners: [UInt32: Owner]) { self.owners = owners }

    /// The name of the user whose data is stored under this UID; `nil` if no data is stored or the name is
    /// unknown.
    public func name(of uid: UInt32) -> String? { owners[uid]?.name }

    /// The users for whom something is stored.
    public var users: [UInt32] { owners.filter { !$0.value.isPurged }.keys.sorted() }

    /// Whether nothing was ever stored for a user, or all of it was purged.
    public func knowsNothing(of uid: UInt32) -> Bool { owners[uid] == nil }

    /// Records the owner of a UID when the first data is stored for it.
    func note(_ uid: UInt32) {
        // If the name is not known yet, a later call records it.
        guard owners[uid] == nil, let name = userNames[uid] else { return }
        owners[uid] = Owner(name: name)
        unwritten.insert(uid)
    }

    // MARK: Purges

    /// Whether a purge of the user has begun and not ended.
    func isPurged(_ uid: UInt32) -> Bool { owners[uid]?.isPurged == true }

    /// Users whose purge has begun and not ended, for example because a crash interrupted it.
    public var openPurges: [UInt32] { owners.filter(\.value.isPurged).keys.sorted() }

    /// Marks a user as purged. The next commit deletes all rows of the user, except those of the audit.
    func beginPurge(of uid: UInt32) {
        owners[uid] = Owner(name: owners[uid]?.name ?? userNames[uid] ?? "\(uid)", isPurged: true)
        unwritten.insert(uid)
        purges.insert(uid)
    }

    func endPurge(of uid: UInt32) {
        owners[uid] = nil
        unwritten.insert(uid)
    }

    // MARK: Rows

    var hasUnwritten: Bool { !unwritten.isEmpty || !purges.isEmpty }

    func write(_ connection: Database) throws(AccessStoreError) {
        for uid in purges {
            for table in [
                "principal", "saveIntent", "auditKey", "silence", "unconfirmed", "changedContact", "outboxMark",
                "declaredFolder", "cardDAVConnection",
            ] {
                try connection.statement("DELETE FROM \(table) WHERE uid = ?").bind(1, Int64(uid)).run()
            }
        }
        for uid in unwritten {
            guard let owner = owners[uid] else {
                try connection.statement("DELETE FROM owner WHERE uid = ?").bind(1, Int64(uid)).run()
                continue
            }
            try connection.statement(
                """
                INSERT INTO owner (uid, name, purged) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET name = excluded.name, purged = excluded.purged
                """
            )
            .bind(1, Int64(uid)).bind(2, owner.name).bind(3, Int64(owner.isPurged ? 1 : 0)).run()
        }
    }

    func committed() {
        unwritten.removeAll()
        purges.removeAll()
    }
}
