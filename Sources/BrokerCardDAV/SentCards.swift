import BrokerCardText
import BrokerSQLite
import CBrokerCrypto
import Glibc
import Synchronization

/// What the service remembers of connections: the names and UIDs that clients gave to cards that they made, keyed hashes of
/// what each client was last sent, and the cards whose copy a client must read again. It has no text of a card besides
/// those names and UIDs.
public final class SentCards: Sendable {
    /// What is known of one card of a connection.
    struct Card: Hashable, Sendable {
        /// The last part of the path that the client gave the card, and its UID; `nil` if the client did not make it.
        var name: String?
        var uid: String?
        /// A number that rises with each refused change of any card; 0 if none of this one was refused.
        var refusal: Int64 = 0
        /// The properties that the client was last sent; `nil` if that is not known.
        var sent: [BaseProperty<[UInt8]>]?
    }

    private typealias Database = Connection<BrokerFailure>
    private let database: Mutex<Database>

    /// Opens the database in a folder, and makes it if there is none.
    public init(folder: String) throws {
        let path = folder + "/carddav.sqlite"
        var status = stat()
        if lstat(path, &status) != 0 { try Database.create(path) { try $0.execute(Self.schema) } }
        let opened = try Database(path: path, .readWrite, patience: 5_000, settings: "PRAGMA synchronous = NORMAL")
        guard try opened.integer("PRAGMA user_version") == Self.version else {
            throw BrokerFailure.unavailable("\(path) was written by another version")
        }
        // Nobody else has it.
        database = Mutex(opened)
    }

    private static let version: Int64 = 1
    private static let schema = """
        CREATE TABLE card (
            connection  TEXT NOT NULL,
            identifier  TEXT NOT NULL,
            name        TEXT,
            uid         TEXT,
            sent        BLOB,
            refusal     INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (connection, identifier)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX cardByName ON card (connection, name) WHERE name IS NOT NULL;
        CREATE UNIQUE INDEX cardByUID ON card (connection, uid) WHERE uid IS NOT NULL;
        CREATE INDEX cardByRefusal ON card (connection, refusal) WHERE refusal > 0;
        PRAGMA user_version = \(version);
        """

    private func using<Result: Sendable>(
        _ body: @Sendable (Database) throws -> Result
    ) throws(BrokerFailure) -> Result {
        do {
            return try database.withLock { try body($0) }
        } catch {
            throw error as? BrokerFailure ?? .unavailable("\(error)")
        }
    }

    // MARK: Cards

    func card(_ identifier: String, of connection: String) throws(BrokerFailure) -> Card {
        try using {
            try $0.statement("SELECT name, uid, refusal, sent FROM card WHERE connection = ? AND identifier = ?")
                .bind(1, connection).bind(2, identifier)
                .first { row in
                    Card(
                        name: row.textOrNil(0), uid: row.textOrNil(1), refusal: row.integer(2),
                        sent: row.bytesOrNil(3).flatMap(Self.properties))
                }
        } ?? Card()
    }

    /// Returns the card that the client made under a name.
    func identifier(named name: String, of connection: String) throws(BrokerFailure) -> String? {
        try using {
            try $0.statement("SELECT identifier FROM card WHERE connection = ? AND name = ?")
                .bind(1, connection).bind(2, name).first { $0.text(0) }
        }
    }

    /// Returns the card that the client made with a UID.
    func identifier(uid: String, of connection: String) throws(BrokerFailure) -> String? {
        try using {
            try $0.statement("SELECT identifier FROM card WHERE connection = ? AND uid = ?")
                .bind(1, connection).bind(2, uid).first { $0.text(0) }
        }
    }

    /// Notes a card that the client made, in place of a former one with its name or its UID.
    func made(_ identifier: String, name: String, uid: String?, of connection: String) throws(BrokerFailure) {
        try using {
            try $0.write { database in
                try database.statement(
                    "UPDATE card SET name = NULL, uid = NULL WHERE connection = ?1 AND (name = ?2 OR uid = ?3)"
                )
                .bind(1, connection).bind(2, name).bind(3, uid).run()
                try database.statement(
                    """
                    INSERT INTO card (connection, identifier, name, uid) VALUES (?, ?, ?, ?)
                    ON CONFLICT (connection, identifier) DO UPDATE SET name = excluded.name, uid = excluded.uid
                    """
                )
                .bind(1, connection).bind(2, identifier).bind(3, name).bind(4, uid).run()
            }
        }
    }

    // MARK: What was sent

    /// Replaces what a client was last sent. Call this once it has the whole response.
    ///
    /// - Parameter sent: see ``bytes(_:)``.
    func keep(_ sent: [(identifier: String, properties: [UInt8])], of connection: String) throws(BrokerFailure) {
        guard !sent.isEmpty else { return }
        try using {
            try $0.write { database in
                let statement = try database.statement(
                    """
                    INSERT INTO card (connection, identifier, sent) VALUES (?, ?, ?)
                    ON CONFLICT (connection, identifier) DO UPDATE SET sent = excluded.sent
                    """)
                for card in sent {
                    try statement.bind(1, connection).bind(2, card.identifier).bind(3, card.properties).run()
                }
            }
        }
    }

    /// The length of a property's name, the name, and its token, one after the other.
    static func bytes(_ properties: [BaseProperty<[UInt8]>]) -> [UInt8] {
        properties.reduce(into: []) { bytes, property in
            let name = Array(property.name.utf8.prefix(255))
            bytes.append(UInt8(name.count))
            bytes += name
            bytes += property.token
        }
    }

    private static func properties(_ bytes: [UInt8]) -> [BaseProperty<[UInt8]>]? {
        var rest = bytes[...]
        var properties: [BaseProperty<[UInt8]>] = []
        while let count = rest.popFirst() {
            let size = Int(count) + CardHash.size
            guard rest.count >= size else { return nil }
            properties.append(
                BaseProperty(
                    name: String(decoding: rest.prefix(Int(count)), as: UTF8.self),
                    token: Array(rest.prefix(size).dropFirst(Int(count)))))
            rest = rest.dropFirst(size)
        }
        return properties
    }

    // MARK: Refused changes

    /// Notes that the client's copy of a card differs, because a change of it was refused. The card gets another tag, and
    /// is in the client's next list of changes.
    func refused(_ identifier: String, of connection: String) throws(BrokerFailure) {
        try using {
            try $0.statement(
                """
                INSERT INTO card (connection, identifier, refusal)
                SELECT ?1, ?2, coalesce(max(refusal), 0) + 1 FROM card WHERE connection = ?1
                ON CONFLICT (connection, identifier) DO UPDATE SET refusal = excluded.refusal
                """
            )
            .bind(1, connection).bind(2, identifier).run()
        }
    }

    func lastRefusal(of connection: String) throws(BrokerFailure) -> Int64 {
        try using {
            try $0.statement("SELECT max(refusal) FROM card WHERE connection = ?").bind(1, connection)
                .first { $0.integer(0) }
        } ?? 0
    }

    /// Returns the cards of which a change was refused after this number, and the last number.
    func refused(after number: Int64, of connection: String) throws(BrokerFailure) -> (cards: [String], last: Int64) {
        let found = try using {
            try $0.statement("SELECT identifier, refusal FROM card WHERE connection = ? AND refusal > ?")
                .bind(1, connection).bind(2, number).all { ($0.text(0), $0.integer(1)) }
        }
        return (found.map(\.0), found.map(\.1).max() ?? number)
    }
}

/// Hashes what a property means, under the key of one connection.
struct CardHash {
    /// Bytes in a hash. Two meanings have one hash by chance once in 2^64 pairs.
    static let size = 8
    let key: [UInt8]

    /// The properties of the text of a card; `nil` if it cannot be read.
    func properties(ofCard bytes: [UInt8]) -> [BaseProperty<[UInt8]>]? {
        (try? CardText(bytes)).flatMap(properties)
    }

    /// Returns `nil` if libcrypto fails.
    func properties(of card: CardText) -> [BaseProperty<[UInt8]>]? {
        var properties: [BaseProperty<[UInt8]>] = []
        for unit in card.units {
            guard let token = token(of: unit) else { return nil }
            properties.append(BaseProperty(name: unit.name, token: token))
        }
        return properties
    }

    func token(of unit: PropertyUnit) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        let content = unit.canonical
        guard ccrypto_hmac(key, key.count, content, content.count, &hash) == 1 else { return nil }
        return Array(hash[..<Self.size])
    }
}
