/// The field delimiters of CSV files. Outlook uses the list separator of the system's region.
enum CSVDelimiters {
    static let all = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]

    /// Returns the delimiter that a line such as `sep=;` says; `nil` for any other line.
    static func said(by record: [UInt8]) -> UInt8? {
        let line = record.filter { ![UInt8(ascii: "\""), 0x20, 0x0A, 0x0D].contains($0) }
        guard line.count == 5, String(decoding: line[..<4], as: UTF8.self).lowercased() == "sep=" else { return nil }
        return all.first { $0 == line[4] }
    }

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

/// The fields of one record, without the quotes around them and with each doubled quote as one.
struct CSVFields: Hashable {
    /// The fields. A line feed follows each, so that no character goes across the end of a field.
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var start = 0
    /// Whether there are quotes that RFC 4180 does not allow, or too many fields.
    fileprivate(set) var isInvalid = false

    /// The texts of the fields. An empty last field is left out.
    func texts(_ decode: ([UInt8]) -> String) -> [String] {
        var start = 0
        return ends.map { end in
            defer { start = end + 1 }
            return decode(Array(bytes[start..<end]))
        }
    }

    fileprivate mutating func append(_ byte: UInt8) { bytes.append(byte) }

    fileprivate mutating func endField() {
        guard ends.count < CSVReader.columns else { return isInvalid = true }
        ends.append(bytes.count)
        bytes.append(0x0A)
        start = bytes.count
    }

    fileprivate mutating func endRecord() {
        if bytes.count > start { endField() }
    }
}

/// Reads the records of a CSV file (RFC 4180 §2) from a stream of bytes, which may arrive in chunks of any size. LF,
/// CRLF and CR end a record outside quotes. Blank lines, and Excel's line with the delimiter, are no records.
struct CSVRecords {
    enum Item: Hashable {
        case record(CSVFields, line: Int)
        /// A record that exceeds the limit, or whose quote is never closed. The start of the next record is then
        /// unknown.
        case endless(line: Int)
    }

    private enum State {
        /// Before a field. White space here is no part of it.
        case start
        case unquoted, quoted
        /// After a quote in such a field. It is the first of two, or, in a quoted field, the end.
        case quoteInUnquoted, quoteInQuoted
        /// After a quoted field and white space.
        case ended
    }

    /// The maximum size of a record, in bytes.
    let limit: Int
    private var items: ArraySlice<Item> = []
    /// The first line, until it is complete and shows the delimiter.
    private var head: [UInt8]? = []
    private var delimiter = CSVDelimiters.all[0]
    private var fields = CSVFields()
    private var state = State.start
    /// The size of the record so far, in bytes.
    private var size = 0
    private var isBlank = true
    private var line = 1
    private var firstLine = 1
    private var endedInCR = false
    private var isOver = false

    init(limit: Int) { self.limit = limit }

    mutating func append(_ bytes: [UInt8]) {
        guard var start = head else { return take(bytes) }
        // Quotes toggle, as in CSVDelimiters.of.
        var isQuoted = start.count { $0 == UInt8(ascii: "\"") } % 2 == 1
        for (index, byte) in bytes.enumerated() {
            start.append(byte)
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted && [0x0A, 0x0D].contains(byte) || start.count > limit else { continue }
            if start.contains(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
                readHead(start)
                return take(Array(bytes[(index + 1)...]))
            }
            take(start)
            start = []
        }
        head = start
    }

    mutating func finish() {
        if let head { readHead(head) }
        guard !isOver else { return }
        if state == .quoted { return giveUp() }
        endRecord()
        isOver = true
    }

    mutating func next() -> Item? {
        // An array slice keeps its removed elements alive, so an empty slice is replaced.
        if items.isEmpty { items = [] }
        return items.popFirst()
    }

    private mutating func readHead(_ bytes: [UInt8]) {
        let said = CSVDelimiters.said(by: bytes)
        delimiter = said ?? CSVDelimiters.of(bytes)
        head = nil
        take(bytes)
        if said != nil { items = [] }
    }

    private mutating func take(_ bytes: [UInt8]) {
        for byte in bytes where !isOver { take(byte) }
    }

    private mutating func take(_ byte: UInt8) {
        let isLineFeedOfCR = byte == 0x0A && endedInCR
        endedInCR = byte == 0x0D
        if byte == 0x0D || byte == 0x0A && !isLineFeedOfCR { line += 1 }
        let isQuote = byte == UInt8(ascii: "\"")
        let isSpace = byte == 0x20 || byte == 0x09
        switch state {
        case .quoted:
            if isQuote { state = .quoteInQuoted } else { fields.append(byte) }
        case .quoteInQuoted where isQuote, .quoteInUnquoted where isQuote:
            state = state == .quoteInQuoted ? .quoted : .unquoted
            fields.append(byte)
        case _ where byte == 0x0A || byte == 0x0D:
            if !isLineFeedOfCR { endRecord() }
            return
        case _ where byte == delimiter:
            if state == .quoteInUnquoted { fields.isInvalid = true }
            state = .start
            fields.endField()
        case .start where isSpace: break
        case .quoteInQuoted where isSpace, .ended where isSpace: state = .ended
        case .start where isQuote: state = .quoted
        case .unquoted where isQuote: state = .quoteInUnquoted
        default:
            if state != .start && state != .unquoted { fields.isInvalid = true }
            state = .unquoted
            fields.append(byte)
        }
        size += 1
        if !isSpace { isBlank = false }
        if size > limit { giveUp() }
    }

    private mutating func endRecord() {
        fields.endRecord()
        if !isBlank { items.append(.record(fields, line: firstLine)) }
        startRecord()
    }

    private mutating func startRecord() {
        fields = CSVFields()
        firstLine = line
        state = .start
        size = 0
        isBlank = true
    }

    private mutating func giveUp() {
        items.append(.endless(line: firstLine))
        startRecord()
        isOver = true
    }
}
