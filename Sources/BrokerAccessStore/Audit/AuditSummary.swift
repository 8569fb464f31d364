import BrokerAccessControl
import BrokerSQLite
import Synchronization

/// What each 500 records of the audit contain, so that a query reads only those that may match. It is in memory
/// only and is read from the records themselves, at the first query and for new records at each later one. Records never
/// change, so nothing in it becomes wrong.
///
/// The alternative, indexes in the file, would add pages to every commit that a reply waits for.
final class AuditSummary: Sendable {
    /// Records in a block.
    private let size: Int64
    /// A shorter audit is read as a whole.
    private let fewest: Int64
    /// Blocks that are read at once. A read that nobody wants any more stops after them.
    private static let blocksAtOnce = 100
    private let complete = Mutex<[AuditBlock]>([])

    init(size: Int64 = 500, fewest: Int64 = 20_000) {
        self.size = size
        self.fewest = fewest
    }

    /// Returns what the blocks contain, in order; `nil` if the audit is short.
    ///
    /// - Parameters:
    ///   - last: the audit's last record.
    ///   - progress: if it is over, the result lacks blocks.
    func blocks(
        upTo last: Int64, reading connection: Database, _ progress: AuditProgress? = nil
    ) throws(AccessStoreError) -> [AuditBlock]? {
        guard last >= fewest else { return nil }
        var known = complete.withLock { $0.count }
        let end = Int(last / size)
        while known < end {
            if progress?.isOver == true { return [] }
            // The lock is free between reading and keeping, so two queries may read the same records, with the same result.
            let new = try read(from: known, to: min(end, known + Self.blocksAtOnce), connection)
            known = complete.withLock { blocks in
                if blocks.count == known { blocks += new }
                return blocks.count
            }
        }
        var blocks = complete.withLock { $0 }
        // The records after the last complete block.
        let rest = Int64(blocks.count) * size + 1
        if rest <= last { blocks.append(AuditBlock(unread: rest...last)) }
        return blocks
    }

    /// Summarizes the complete blocks from `first` until before `end`.
    private func read(from first: Int, to end: Int, _ connection: Database) throws(AccessStoreError) -> [AuditBlock] {
        guard first < end else { return [] }
        var new = (first..<end).map { AuditBlock(Int64($0) * size + 1...Int64($0 + 1) * size) }
        let statement = try connection.statement(
            "SELECT sequence, time, caller, event, contacts FROM audit WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence"
        )
        defer { statement.reset() }
        var current = 0
        statement.bind(1, Int64(first) * size + 1).bind(2, Int64(end) * size)
        while try statement.step() {
            let sequence = statement.integerOrNil(0) ?? 1
            let place = Int((sequence - 1) / size) - first
            guard new.indices.contains(place) else { continue }
            if place != current { new[current].complete() }
            current = place
            new[place].add(
                sequence, time: statement.integerOrNil(1) ?? 0, caller: statement.integerOrNil(2) ?? 0,
                event: statement.bytesOrNil(3) ?? [], contacts: statement.bytesOrNil(4))
        }
        new[current].complete()
        return new
    }
}
