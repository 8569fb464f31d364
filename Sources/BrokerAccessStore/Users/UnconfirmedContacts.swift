import BrokerBounds
import BrokerModel
import BrokerSQLite

/// Unconfirmed contacts: apps got them at a prompt, or changed them, without the person's password, although other programs of
/// the user can impersonate these apps. The store counts the contacts of all such apps together, because one
/// program can impersonate many apps.
public final class UnconfirmedContacts {
    private let table: String
    /// Keyed by UID. Each contact maps to the time of the disclosure or change, in seconds since 1970.
    private var unconfirmed: [UInt32: [RecordNumber: Int64]]
    /// Users whose contacts changed.
    private var unwritten: Set<UInt32> = []
    private let owners: Owners

    init(_ table: String, _ unconfirmed: [UInt32: [RecordNumber: Int64]], owners: Owners) {
        self.table = table
        self.unconfirmed = unconfirmed
        self.owners = owners
    }

    /// Returns the user's unconfirmed contacts of this time or later, in seconds since 1970.
    public func records(of uid: UInt32, since time: Int64) -> Set<RecordNumber> {
        Set((unconfirmed[uid] ?? [:]).lazy.filter { $0.value >= time }.map(\.key))
    }

    /// Whether the user would have more than `most` unconfirmed contacts with these.
    ///
    /// - Parameter time: seconds since 1970; only contacts of this time or later count.
    public func pass(_ most: Int, with new: Set<RecordNumber>, of uid: UInt32, since time: Int64) -> Bool {
        let recent = records(of: uid, since: time)
        return !new.isSubset(of: recent) && recent.union(new).count > most
    }

    /// Records unconfirmed contacts that an app gets or changes. The next commit writes the change. A failed commit does
    /// not undo it.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - time: seconds since 1970; older entries are deleted.
    public func note(_ records: Set<RecordNumber>, of uid: UInt32, now: Int64, keepingSince time: Int64) {
        guard !records.isEmpty else { return }
        owners.note(uid)
        var entries = (unconfirmed[uid] ?? [:]).filter { $0.value >= time }
        for record in records { entries[record] = now }
        if entries.count > StoreLimits.unconfirmedContacts {
            let latest = entries.sorted { $0.value > $1.value }.prefix(StoreLimits.unconfirmedContacts)
            entries = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
        }
        unconfirmed[uid] = entries
        unwritten.insert(uid)
    }

    func purge(_ uid: UInt32) {
        unconfirmed[uid] = nil
        unwritten.remove(uid)
    }

    // MARK: Rows

    var hasUnwritten: Bool { !unwritten.isEmpty }

    func write(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten {
            try connection.statement("DELETE FROM \(table) WHERE uid = ?").bind(1, Int64(uid)).run()
            for (record, time) in unconfirmed[uid] ?? [:] {
                try connection.statement("INSERT INTO \(table) (uid, contact, time) VALUES (?, ?, ?)")
                    .bind(1, Int64(uid)).bind(2, record.rawValue).bind(3, time).run()
            }
        }
    }

    func committed() { unwritten.removeAll() }
}
