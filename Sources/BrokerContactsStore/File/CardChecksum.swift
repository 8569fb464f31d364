import BrokerJSON
@_spi(StoredBytes) import BrokerModel
import BrokerSQLite
import CBrokerXXHash
import Synchronization

/// Detects cards that are not as they were saved. SQLite checks the structure of its pages and not what is in them, and what is
/// in a card goes onto the wire as it is: one wrong byte would make the client refuse the whole reply.
enum CardChecksum {
    /// XXH3, 64 bits, with the record number as the seed: a card in another card's row is damaged too.
    static func of(_ stored: [UInt8], record: Int64) -> Int64 {
        stored.withUnsafeBufferPointer {
            // The pointer and the count are of one buffer, which outlives the call.
            Int64(bitPattern: cxxhash_xxh3($0.baseAddress, $0.count, UInt64(bitPattern: record)))
        }
    }

    /// The card of a row; `nil` where its bytes are not those that were saved.
    ///
    /// - Parameters:
    ///   - column: of `stored`.
    ///   - checksum: the column of `checksum`. NULL, which reads as 0, is a card that was damaged before books had checksums.
    static func card(
        _ statement: PreparedStatement, _ column: Int32, checksum: Int32, record: Int64
    ) -> StoredContact? {
        let bytes = statement.bytes(column)
        guard of(bytes, record: record) == statement.integer(checksum) else { return nil }
        return StoredContact(bytes: bytes)
    }

    /// Gives every card of a book that has no checksums yet its own; a card that cannot be read gets none.
    static func addToAll(_ db: Database) throws(StoreError) {
        let next = try PreparedStatement(
            "SELECT record, stored FROM contact WHERE record > ? ORDER BY record LIMIT 1", on: db)
        let update = try PreparedStatement("UPDATE contact SET checksum = ? WHERE record = ?", on: db)
        // By number, so that no cursor is open on what is being written.
        var last = Int64.min
        while true {
            next.bind(1, last)
            defer { next.reset() }
            guard try next.step() else { return }
            last = next.integer(0)
            let bytes = next.bytes(1)
            guard let stored = StoredContact(bytes: bytes), isReadable(stored) else { continue }
            try update.bind(1, of(bytes, record: last)).bind(2, last).run()
        }
    }

    /// Whether a card that has no checksum yet is one that a client can read: the members that its header names, each with a value
    /// that its key may have.
    private static func isReadable(_ stored: StoredContact) -> Bool {
        var text: [UInt8] = []
        // Neighbours are joined, so that all members are one range, which begins with a comma.
        stored.ranges(of: .all) { text += stored.bytes[$0] }
        let object = [UInt8(ascii: "{")] + text.dropFirst() + [UInt8(ascii: "}")]
        guard let members = (try? JSONDocument(parsing: object))?.root.members else { return false }
        let names = members.map { $0.name.string }
        return names == stored.present.keys.map(\.rawValue) && Contact(stored) != nil
    }

    /// Whether a photo is what a reply may have as it is: base64 (RFC 4648, section 4). Photos have no checksum.
    static func isBase64(_ bytes: [UInt8]) -> Bool {
        guard bytes.count % 4 == 0 else { return false }
        return bytes.allSatisfy { byte in
            let letter = byte | 0x20
            return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
                || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
        }
    }
}

/// The damaged cards of a book that reads have come across. The first one is reported, and then the latest once a minute, as long as
/// reads come across any.
final class DamagedCards: Sendable {
    private struct State {
        var records: Set<Int64> = []
        var reported: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let report: @Sendable (DamagedCard) -> Void

    init(report: @escaping @Sendable (DamagedCard) -> Void) { self.report = report }

    func found(_ record: Int64) {
        let now = ContinuousClock.now
        let count = state.withLock { state -> Int? in
            state.records.insert(record)
            if let last = state.reported, now - last < .seconds(60) { return nil }
            state.reported = now
            return state.records.count
        }
        if let count { report(DamagedCard(record: RecordNumber(record), count: count)) }
    }
}

/// A card that is not as it was saved, and is left out of every answer.
public struct DamagedCard: Hashable, Sendable {
    public let record: RecordNumber
    /// How many such cards reads have come across since the book was opened.
    public let count: Int
}
