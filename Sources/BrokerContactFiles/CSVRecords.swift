/// The field delimiters of CSV files. Outlook uses the list separator of the system's region.
enum CSVDelimiters {
    static let all = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]

    /// Returns the delimiter that is most frequent outside quotes in the first record.
    static func of(_ record: [UInt8]) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in record {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted { counts[byte, default: 0] += 1 }
        }
        return all.max { counts[$0, default: 0] < counts[$1, default: 0] } ?? all[0]
    }
}

/// Splits a stream of bytes into the records of a CSV file (RFC 4180 §2). The stream may arrive in chunks of
/// any size. LF, CRLF and CR end a record outside quotes.
struct CSVRecords {
    enum Item: Hashable {
        case record([UInt8], line: Int)
        /// A record that exceeds the limit, or whose quote is never closed. The start of the next record is then
        /// unknown.
        case endless(line: Int)
    }

    /// The maximum size of a record, in bytes.
    let limit: Int
    private var record: [UInt8] = []
    private var items: ArraySlice<Item> = []
    private var line = 1
    private var firstLine = 1
    private var isQuoted = false
    /// Whether the last byte was a quote inside a quoted field. That quote closes the field or is the first
    /// of an escaped pair.
    private var quoteIsOpenEnded = false
    private var isAtFieldStart = true
    private var endedInCR = false
    private var isOver = false

    init(limit: Int) { self.limit = limit }

    mutating func append(_ bytes: [UInt8]) {
        for byte in bytes {
            guard !isOver else { return }
            take(byte)
        }
    }

    mutating func finish() {
        guard !isOver else { return }
        if isQuoted, !quoteIsOpenEnded { return giveUp() }
        endRecord()
        isOver = true
    }

    mutating func next() -> Item? {
        // An array slice keeps its removed elements alive, so an empty slice is replaced.
        if items.isEmpty { items = [] }
        return items.popFirst()
    }

    private mutating func take(_ byte: UInt8) {
        let isLineFeedOfCR = byte == 0x0A && endedInCR
        endedInCR = byte == 0x0D
        if byte == 0x0D || byte == 0x0A && !isLineFeedOfCR { line += 1 }
        if isQuoted {
            if quoteIsOpenEnded {
                quoteIsOpenEnded = false
                // Two quotes are an escaped quote. A quote before any other byte closes the field.
                if byte != UInt8(ascii: "\"") { isQuoted = false }
            } else {
                quoteIsOpenEnded = byte == UInt8(ascii: "\"")
            }
            if isQuoted { return keep(byte) }
        }
        switch byte {
        case 0x0A where isLineFeedOfCR && record.isEmpty: firstLine = line
        case 0x0A, 0x0D: endRecord()
        case UInt8(ascii: "\"") where isAtFieldStart:
            isQuoted = true
            isAtFieldStart = false
            keep(byte)
        default:
            if CSVDelimiters.all.contains(byte) {
                isAtFieldStart = true
            } else if byte != 0x20 {
                isAtFieldStart = false
            }
            keep(byte)
        }
    }

    private mutating func keep(_ byte: UInt8) {
        record.append(byte)
        if record.count > limit { giveUp() }
    }

    private mutating func endRecord() {
        if record.contains(where: { $0 != 0x20 && $0 != 0x09 }) { items.append(.record(record, line: firstLine)) }
        record.removeAll(keepingCapacity: true)
        firstLine = line
        isQuoted = false
        quoteIsOpenEnded = false
        isAtFieldStart = true
    }

    private mutating func giveUp() {
        items.append(.endless(line: firstLine))
        record = []
        isOver = true
    }
}
