/// Converts a UTF-16 stream to UTF-8, in chunks of any size. Any other stream is unchanged, except that a
/// byte order mark at its start is removed.
public struct StreamDecoder {
    /// The content of a file. UTF-16 is detected by its byte order mark, or by a zero byte before or after
    /// the first character, because Mac OS X wrote UTF-16 without a mark.
    public enum Content: Sendable {
        /// Cards: the first character is the `B` of BEGIN:VCARD. Concatenated files can have byte order marks
        /// in the middle.
        case cards
        /// Rows: any character can be the first.
        case rows
    }

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private enum Encoding {
        case unknown
        case bytes
        case utf16(isBigEndian: Bool)
    }

    private let content: Content
    private var encoding = Encoding.unknown
    /// Bytes that are incomplete without the next chunk.
    private var pending: [UInt8] = []
    /// Whether the stream begins with the byte order mark of UTF-8.
    public private(set) var isUTF8 = false

    public init(_ content: Content) { self.content = content }

    public mutating func decode(_ chunk: [UInt8], isLast: Bool) -> [UInt8] {
        if case .bytes = encoding { return chunk }
        var bytes = pending + chunk
        pending = []
        if case .unknown = encoding {
            // Three bytes distinguish all encodings.
            guard bytes.count >= 3 || isLast else {
                pending = bytes
                return []
            }
            encoding = encoding(of: bytes)
            isUTF8 = bytes.starts(with: Self.byteOrderMark)
            let marks = [Self.byteOrderMark, [0xFE, 0xFF], [0xFF, 0xFE]]
            if let mark = marks.first(where: { bytes.starts(with: $0) }) { bytes.removeFirst(mark.count) }
        }
        guard case .utf16(let isBigEndian) = encoding else { return bytes }
        return utf8(of: bytes, isBigEndian, isLast: isLast)
    }

    private func encoding(of bytes: [UInt8]) -> Encoding {
        guard bytes.count >= 2 else { return .bytes }
        return switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF): .utf16(isBigEndian: true)
        case (0xFF, 0xFE): .utf16(isBigEndian: false)
        case (0, let first) where isFirst(first): .utf16(isBigEndian: true)
        case (let first, 0) where isFirst(first): .utf16(isBigEndian: false)
        default: .bytes
        }
    }

    private func isFirst(_ character: UInt8) -> Bool {
        switch content {
        case .cards: character == UInt8(ascii: "B") || character == UInt8(ascii: "b")
        case .rows: character != 0
        }
    }

    /// Converts UTF-16. Unpaired surrogates become U+FFFD.
    private mutating func utf8(of bytes: [UInt8], _ isBigEndian: Bool, isLast: Bool) -> [UInt8] {
        var units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (high, low) = isBigEndian ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            return UInt16(high) << 8 | UInt16(low)
        }
        var rest = bytes.count % 2
        if let last = units.last, UTF16.isLeadSurrogate(last) {
            units.removeLast()
            rest += 2
        }
        if !isLast {
            pending = Array(bytes.suffix(rest))
        } else if rest > 0 {
            units.append(0xFFFD)
        }
        var text = String(decoding: units, as: UTF16.self)
        if content == .cards { text.unicodeScalars.removeAll { $0 == "\u{FEFF}" } }
        return Array(text.utf8)
    }
}
