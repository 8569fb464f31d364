import BrokerAccessControl
import BrokerSQLite
import Synchronization

/// What each thousand records of the audit contain, so that a query reads only those that may match. It is in memory
/// only and is read from the records themselves, at the first query and for new records at each later one. Records never
/// change, so nothing in it becomes wrong.
///
/// The alternative, indexes in the file, would add pages to every commit that a reply waits for.
final class AuditSummary: Sendable {
    /// Records in a block.
    private let size: Int64
    /// A shorter audit is read as a whole.
    private let fewest: Int64
    private let blocks = Mutex<[Block]>([])

    init(size: Int64 = 1_000, fewest: Int64 = 20_000) {
        self.size = size
        self.fewest = fewest
    }

    private struct Block {
        var times: ClosedRange<Int64>?
        var callers: Set<Int64> = []
        var events: Set<[UInt8]> = []
        var contacts = ContactFilter()

        func mayMatch(_ filter: AuditFilter, callers: Set<Int64>?, _ pseudonym: [UInt8]?) -> Bool {
            guard let times else { return false }
            return filter.since.map { times.upperBound >= $0 } ?? true
                && filter.until.map { times.lowerBound < $0 } ?? true
                && filter.event.map { events.contains(Array($0.rawValue.utf8)) } ?? true
                && callers.map { !$0.isDisjoint(with: self.callers) } ?? true
                && pseudonym.map { contacts.mayContain($0[...]) } ?? true
        }
    }

    /// Returns the ranges of sequence numbers whose records may match, in order; `nil` if the audit is short.
    ///
    /// - Parameters:
    ///   - callers: the callers that match the filter; `nil` for all.
    ///   - pseudonym: the contact that the filter names.
    ///   - last: the audit's last record.
    func ranges(
        matching filter: AuditFilter, callers: Set<Int64>?, _ pseudonym: [UInt8]?, upTo last: Int64,
        reading connection: Database
    ) throws(AccessStoreError) -> [ClosedRange<Int64>]? {
        guard last >= fewest else { return nil }
        // The lock is free between reading and keeping, so two queries may read the same records, with the same result.
        let known = blocks.withLock { $0.count }
        let new = try read(from: known, to: Int(last / size), connection)
        return blocks.withLock { blocks in
            if blocks.count == known { blocks += new }
            var ranges = blocks.indices.filter { blocks[$0].mayMatch(filter, callers: callers, pseudonym) }
                .map { Int64($0) * size + 1...Int64($0 + 1) * size }
            // The records after the last complete block.
            let rest = Int64(blocks.count) * size + 1
            if rest <= last { ranges.append(rest...last) }
            return ranges
        }
    }

    /// Summarizes the complete blocks from `first` until before `end`.
    private func read(from first: Int, to end: Int, _ connection: Database) throws(AccessStoreError) -> [Block] {
        guard first < end else { return [] }
        var new = [Block](repeating: Block(), count: end - first)
        let statement = try connection.statement(
            "SELECT sequence, time, caller, event, contacts FROM audit WHERE sequence BETWEEN ?1 AND ?2")
        defer { statement.reset() }
        statement.bind(1, Int64(first) * size + 1).bind(2, Int64(end) * size)
        while try statement.step() {
            let place = Int(((statement.integerOrNil(0) ?? 1) - 1) / size) - first
            guard new.indices.contains(place) else { continue }
            let time = statement.integerOrNil(1) ?? 0
            let times = new[place].times ?? time...time
            new[place].times = min(times.lowerBound, time)...max(times.upperBound, time)
            new[place].callers.insert(statement.integerOrNil(2) ?? 0)
            new[place].events.insert(statement.bytesOrNil(3) ?? [])
            if let contacts = statement.bytesOrNil(4) { new[place].contacts.add(contacts) }
        }
        return new
    }
}

/// A Bloom filter of pseudonyms: it may contain a contact that was not added, but never misses one that was. Pseudonyms are
/// the output of a cipher, so parts of their own bytes serve as hashes.
private struct ContactFilter {
    /// 65,536 bits: with 5,000 mentions in a block, one contact in 200 that is not there seems to be there.
    private var bits: [UInt64] = []
    private static let words = 1_024

    /// - Parameter pseudonyms: concatenated.
    mutating func add(_ pseudonyms: [UInt8]) {
        if bits.isEmpty { bits = [UInt64](repeating: 0, count: Self.words) }
        for start in stride(from: 0, through: pseudonyms.count - Pseudonyms.size, by: Pseudonyms.size) {
            for place in Self.places(pseudonyms[start..<(start + Pseudonyms.size)]) {
                bits[place / 64] |= 1 << UInt64(place % 64)
            }
        }
    }

    func mayContain(_ pseudonym: ArraySlice<UInt8>) -> Bool {
        !bits.isEmpty && Self.places(pseudonym).allSatisfy { bits[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
    }

    /// Four numbers of 16 bits.
    private static func places(_ pseudonym: ArraySlice<UInt8>) -> [Int] {
        (0..<4).map {
            let place = pseudonym.startIndex + 2 * $0
            return Int(pseudonym[place]) << 8 | Int(pseudonym[place + 1])
        }
    }
}
