import BrokerAccessControl
import BrokerSQLite

/// The connections of all users; see ``CardDAVConnection``.
public final class CardDAVConnections {
    /// Keyed by UID and name.
    private var made: [UInt32: [String: CardDAVConnection]]
    /// Users whose connections changed.
    private var unwritten: Set<UInt32> = []
    private let owners: Owners

    init(_ connections: [CardDAVConnection], owners: Owners) {
        made = Dictionary(grouping: connections, by: \.uid).mapValues { connections in
            Dictionary(uniqueKeysWithValues: connections.map { ($0.name, $0) })
        }
        self.owners = owners
    }

    /// The connections of a user, by name.
    public func connections(of uid: UInt32) -> [CardDAVConnection] {
        (made[uid] ?? [:]).values.sorted { $0.name < $1.name }
    }

    public func connection(named name: String, of uid: UInt32) -> CardDAVConnection? { made[uid]?[name] }

    /// Stores a connection, in place of an earlier one with its name. The next successful commit writes it; a failed commit
    /// does not undo it.
    public func store(_ connection: CardDAVConnection) {
        owners.note(connection.uid)
        made[connection.uid, default: [:]][connection.name] = connection
        unwritten.insert(connection.uid)
    }

    /// Removes a connection. It is removed at once, even if commits fail.
    public func remove(_ connection: CardDAVConnection) {
        made[connection.uid]?[connection.name] = nil
        unwritten.insert(connection.uid)
    }

    func purge(_ uid: UInt32) {
        made[uid] = nil
        unwritten.remove(uid)
    }

    // MARK: Rows

    var hasUnwritten: Bool { !unwritten.isEmpty }

    func write(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten {
            try connection.statement("DELETE FROM cardDAVConnection WHERE uid = ?").bind(1, Int64(uid)).run()
            for made in connections(of: uid) {
                try connection.statement(
                    """
                    INSERT INTO cardDAVConnection (uid, name, identifier, passwordHash, madeAt, lapsedAt)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """
                )
                .bind(1, Int64(uid)).bind(2, made.name).bind(3, made.identifier).bind(4, made.passwordHash)
                .bind(5, made.madeAt).bind(6, made.lapsedAt).run()
            }
        }
    }

    func committed() { unwritten.removeAll() }

    static func read(_ connection: Database) throws(AccessStoreError) -> [CardDAVConnection] {
        var found: [CardDAVConnection] = []
        let rows = try PreparedStatement(
            "SELECT uid, name, identifier, passwordHash, madeAt, lapsedAt FROM cardDAVConnection", on: connection)
        while try rows.step() {
            guard let uid = rows.numberOrNil(0), let name = rows.textOrNil(1), let identifier = rows.textOrNil(2),
                let hash = rows.bytesOrNil(3), let madeAt = rows.integerOrNil(4)
            else { throw .damaged(reason: "cardDAVConnection: a row cannot be read") }
            found.append(
                CardDAVConnection(
                    uid: uid, name: name, identifier: identifier, passwordHash: hash, madeAt: madeAt,
                    lapsedAt: rows.integerOrNil(5)))
        }
        return found
    }
}
