import BrokerModel

/// Splits a stream of bytes into the records of an LDIF file, and the records into unfolded lines (RFC 2849). The
/// stream may arrive in chunks of any size.
struct LDIFRecords {
    struct Record: Hashable {
        /// The line of the file on which the record begins, counted from 1.
        let line: Int
        var lines: [[UInt8]] = []
        /// Whether the record exceeds ``limit``. Its lines are then dropped.
        var isTooLong = false
    }

    /// The maximum size of a record, in bytes. A photo of 8 MiB in base64 fits.
    static let limit = 16 * 1_048_576

    private var record: Record?
    private var size = 0
    private var line: [UInt8] = []
    private var isBlank = true
    private var lineNumber = 1
    /// Whether the last line was a comment, which can be folded, too.
    private var isComment = false
    private var items: ArraySlice<Record> = []

    mutating func append(_ bytes: [UInt8]) {
        var start = 0
        for index in bytes.indices where bytes[index] == 0x0A {
            take(bytes[start..<index])
            endLine()
            start = index + 1
        }
        take(bytes[start...])
    }

    mutating func finish() {
        endLine()
        endRecord()
    }

    mutating func next() -> Record? {
        // An array slice keeps its removed elements alive, so an empty slice is replaced.
        if items.isEmpty { items = [] }
        return items.popFirst()
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        isBlank = isBlank && bytes.allSatisfy { $0 == 0x0D }
        size += bytes.count
        guard size <= Self.limit else {
            record = Record(line: record?.line ?? lineNumber, isTooLong: true)
            line = []
            return
        }
        line += bytes
    }

    private mutating func endLine() {
        defer {
            line = []
            isBlank = true
            lineNumber += 1
        }
        guard !isBlank else { return endRecord() }
        guard record?.isTooLong != true else { return }
        if line.last == 0x0D { line.removeLast() }
        if line.first == 0x20 {
            if !isComment, let last = record?.lines.indices.last { record?.lines[last] += line.dropFirst() }
            return
        }
        isComment = line.first == UInt8(ascii: "#")
        guard !isComment else { return }
        if record == nil { record = Record(line: lineNumber) }
        record?.lines.append(line)
    }

    private mutating func endRecord() {
        if let record { items.append(record) }
        record = nil
        size = 0
        isComment = false
    }
}

/// Base64 with padding (RFC 4648 §4).
enum Base64Text {
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = (group + [0, 0]).prefix(3).reduce(0) { $0 << 8 | Int($1) }
            for place in 0..<4 {
                text.append(place <= group.count ? Base64.digits[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes; `nil` if the text is not base64. White space is ignored.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count, padding) = (0, 0, 0)
        for byte in text where byte != 0x20 && byte != 0x09 {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            let value = Int(Base64.values[Int(byte)])
            guard value < 64, padding == 0 else { return nil }
            bits = (bits << 6 | value) & 0xFFFFFF
            count += 1
            if count % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * ((count - 1) % 4)))) }
        }
        return count % 4 == 1 || padding > 2 ? nil : bytes
    }
}
