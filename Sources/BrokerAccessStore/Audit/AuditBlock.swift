import BrokerAccessControl

/// What the records of one block of the audit contain. See ``AuditSummary``.
struct AuditBlock {
    let range: ClosedRange<Int64>
    /// Whether the block was not read, so that all of it may match.
    private var isUnread = false
    private var times: ClosedRange<Int64>?
    private var events: Set<[UInt8]> = []
    private var contacts = ContactFilter()
    /// The callers, ascending, each with the end of its part of ``places``.
    fileprivate var callers: [(caller: Int64, end: Int, uses: Uses?)] = []
    /// Where the records of each caller are in the block, ascending.
    fileprivate var places: [UInt16] = []
    /// Where the records of grants, revocations, saves and purges are in the block, ascending.
    fileprivate var changes: [UInt16] = []
    /// The caller of each record, until ``complete()``.
    private var unsorted: [(caller: Int64, place: UInt16, isUse: Bool)] = []

    /// Where the first and the last disclosure to a caller are in the block.
    fileprivate struct Uses {
        let first: UInt16
        var last: UInt16
    }

    private static let changing = [AuditEvent.grant, .revocation, .save, .purge].map { Array($0.rawValue.utf8) }
    private static let disclosure = Array(AuditEvent.disclosure.rawValue.utf8)

    /// - Parameter range: at most 65,536 records.
    init(_ range: ClosedRange<Int64>) { self.range = range }

    init(unread range: ClosedRange<Int64>) {
        self.range = range
        isUnread = true
    }

    mutating func add(_ sequence: Int64, time: Int64, caller: Int64, event: [UInt8], contacts: [UInt8]?) {
        let times = times ?? time...time
        self.times = min(times.lowerBound, time)...max(times.upperBound, time)
        events.insert(event)
        if let contacts { self.contacts.add(contacts) }
        let place = UInt16(truncatingIfNeeded: sequence - range.lowerBound)
        if Self.changing.contains(event) { changes.append(place) }
        unsorted.append((caller, place, event == Self.disclosure))
    }

    /// Call this after the last record.
    mutating func complete() {
        unsorted.sort { ($0.caller, $0.place) < ($1.caller, $1.place) }
        places = unsorted.map(\.place)
        for (end, record) in unsorted.enumerated() {
            var uses = callers.last?.caller == record.caller ? callers.removeLast().uses : nil
            if record.isUse { uses = Uses(first: uses?.first ?? record.place, last: record.place) }
            callers.append((record.caller, end + 1, uses))
        }
        unsorted = []
    }

    func mayMatch(_ filter: AuditFilter, _ pseudonym: [UInt8]?) -> Bool {
        if isUnread { return true }
        guard let times else { return false }
        return filter.since.map { times.upperBound >= $0 } ?? true
            && filter.until.map { times.lowerBound < $0 } ?? true
            && filter.event.map { events.contains(Array($0.rawValue.utf8)) } ?? true
            && pseudonym.map { contacts.mayContain($0[...]) } ?? true
    }

    /// The ranges of sequence numbers that contain every record of these callers, in order.
    ///
    /// - Parameter wanted: `nil` for all callers.
    func ranges(of wanted: Set<Int64>?) -> [ClosedRange<Int64>] {
        guard let wanted, !isUnread else { return [range] }
        var found: [UInt16] = []
        var start = 0
        for (caller, end, _) in callers {
            if wanted.contains(caller) { found += places[start..<end] }
            start = end
        }
        // Reading the whole block is quicker than looking up more than an eighth of its records.
        guard found.count * 8 <= range.count else { return [range] }
        return ranges(at: found.sorted())
    }

    fileprivate func isBefore(_ time: Int64) -> Bool { times.map { $0.upperBound < time } ?? false }

    fileprivate func ranges(at places: some Sequence<UInt16>) -> [ClosedRange<Int64>] {
        places.map { (range.lowerBound + Int64($0))...(range.lowerBound + Int64($0)) }
    }
}

extension [AuditBlock] {
    /// The records to read, by the place of their block, of the blocks that lie before a time as a whole; see
    /// ``AuditFilter/withEarlier``.
    ///
    /// - Parameters:
    ///   - wanted: the callers; `nil` for all.
    ///   - all: the records that the query reads. If all blocks with them reach into the time, the result is empty.
    func earlier(than since: Int64, of wanted: Set<Int64>?, in all: ClosedRange<Int64>) -> [Int: [ClosedRange<Int64>]] {
        guard contains(where: { $0.isBefore(since) && $0.range.overlaps(all) }) else { return [:] }
        var found: [Int: Set<UInt16>] = [:]
        var begun: Set<Int64> = []
        var lastUses: [Int64: (block: Int, place: UInt16)] = [:]
        for (index, block) in enumerated() where block.isBefore(since) {
            found[index] = Set(block.changes)
            var start = 0
            for (caller, end, uses) in block.callers {
                defer { start = end }
                guard wanted?.contains(caller) ?? true else { continue }
                if begun.insert(caller).inserted { found[index]?.insert(block.places[start]) }
                guard let uses else { continue }
                if lastUses.updateValue((index, uses.last), forKey: caller) == nil { found[index]?.insert(uses.first) }
            }
        }
        for use in lastUses.values { found[use.block]?.insert(use.place) }
        return found.reduce(into: [:]) { $0[$1.key] = self[$1.key].ranges(at: $1.value.sorted()) }
    }
}

/// A Bloom filter of pseudonyms: it may contain a contact that was not added, but never misses one that was. Pseudonyms are
/// the output of a cipher, so parts of their own bytes serve as hashes.
private struct ContactFilter {
    /// 32,768 bits. With 2,500 mentions in a block, the false-positive rate is 0.5 %.
    private var bits: [UInt64] = []
    private static let words = 512

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

    /// Four numbers of 15 bits.
    private static func places(_ pseudonym: ArraySlice<UInt8>) -> [Int] {
        (0..<4).map {
            let place = pseudonym.startIndex + 2 * $0
            return Int(pseudonym[place] & 0x7F) << 8 | Int(pseudonym[place + 1])
        }
    }
}
