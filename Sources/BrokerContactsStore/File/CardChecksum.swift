import BrokerBounds
import BrokerJSON
@_spi(StoredBytes) import BrokerModel
import BrokerSQLite
import CBrokerXXHash
import Synchronization

/// Detects damaged cards. SQLite checks the structure of its pages, but not their content. The broker sends
/// stored bytes unchanged, so one wrong byte could make the client reject the whole reply.
enum CardChecksum {
    /// Returns the 64-bit XXH3 of a card. The seed is the record number, so a card in another card's row
    /// counts as damaged.
    static func of(_ stored: [UInt8], record: Int64) -> Int64 {
        stored.withUnsafeBufferPointer {
            // The pointer and the count belong to one buffer, which outlives the call.
            Int64(bitPattern: cxxhash_xxh3($0.baseAddress, $0.count, UInt64(bitPattern: record)))
        }
    }

    /// Returns the card of a row; `nil` if its bytes are malformed or do not match the checksum.
    ///
    /// - Parameters:
    ///   - column: the column of `stored`.
    ///   - checksum: the column of `checksum`. NULL, which reads as 0, marks a card that was damaged before
    ///     books had checksums.
    static func card(
        _ statement: PreparedStatement, _ column: Int32, checksum: Int32, record: Int64
    ) -> StoredContact? {
        let bytes = statement.bytes(column)
        guard of(bytes, record: record) == statement.integer(checksum) else { return nil }
        return StoredContact(bytes: bytes)
    }

    /// Passes every card that is not damaged to `body`, which may change it. The cards are those of the table
    /// `contact`, without what is stored apart.
    static func forEachCard(
        _ db: Database, _ body: (Int64, StoredContact) throws(StoreError) -> Void
    ) throws(StoreError) {
        let next = try PreparedStatement(
            "SELECT record, stored, checksum FROM contact WHERE record > ? ORDER BY record LIMIT 1", on: db)
        // Looks up one record at a time, so no statement reads the table while it is written.
        var last = Int64.min
        while let (record, stored) = try next.bind(1, last).first({
            ($0.integer(0), card($0, 1, checksum: 2, record: $0.integer(0)))
        }) {
            last = record
            if let stored { try body(record, stored) }
        }
    }

    /// Adds a checksum to every card, for books without checksums. A card that cannot be read gets none.
    static func addToAll(_ db: Database) throws(StoreError) {
        let next = try PreparedStatement(
            "SELECT record, stored FROM contact WHERE record > ? ORDER BY record LIMIT 1", on: db)
        let update = try PreparedStatement("UPDATE contact SET checksum = ? WHERE record = ?", on: db)
        // Looks up one record at a time, so no statement reads the table while it is written.
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

    /// Whether a client can read a card that has no checksum yet. Such a card must have exactly the members
    /// that its header names, each with a valid value.
    private static func isReadable(_ stored: StoredContact) -> Bool {
        var text: [UInt8] = []
        // Adjacent ranges are joined, so all members are one range, which begins with a comma.
        stored.ranges(of: .all) { text += stored.bytes[$0] }
        let object = [UInt8(ascii: "{")] + text.dropFirst() + [UInt8(ascii: "}")]
        guard let members = (try? JSONDocument(parsing: object))?.root.members else { return false }
        let names = members.map { $0.name.string }
        return names == stored.present.keys.map(\.rawValue) && Contact(stored) != nil
    }

    /// Whether an image has a valid length and consists of base64 characters (RFC 4648, section 4). A reply
    /// may then contain it unchanged. Images have no checksum.
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

/// The damaged cards that reads of a book have found. Reports at most one a minute.
final class DamagedCards: Sendable {
    private struct State {
        var records: Set<Int64> = []
        var reports = SlidingWindow()
    }

    private let state = Mutex(State())
    private let opened = ContinuousClock.now
    private let report: @Sendable (DamagedCard) -> Void

    init(report: @escaping @Sendable (DamagedCard) -> Void) { self.report = report }

    func found(_ record: Int64) {
        let now = (ContinuousClock.now - opened).microseconds
        let count = state.withLock { state -> Int? in
            state.records.insert(record)
            return state.reports.take(1, within: LogLimits.window, now: now) == nil ? state.records.count : nil
        }
        if let count { report(DamagedCard(record: RecordNumber(record), count: count)) }
    }
}

/// A card that is damaged or has a damaged image. Replies leave out the damaged card or image.
public struct DamagedCard: Hashable, Sendable {
    public let record: RecordNumber
    /// The number of damaged cards that reads have found since the book was opened.
    public let count: Int
}
