/// Turns the bytes of a file into UTF-8 where a mark, or zeros between ASCII, say that it is UTF-16 (RFC 2781), and takes
/// the mark away. Everything else comes out as it went in.
struct TextStream {
    private enum Encoding { case unknown, asItIs, littleEndian, bigEndian }

    private var encoding = Encoding.unknown
    private var pending: [UInt8] = []
    /// The first half of a character outside the basic plane.
    private var highSurrogate: UInt16?

    mutating func append(_ bytes: [UInt8]) -> [UInt8] {
        switch encoding {
        case .asItIs: return bytes
        case .unknown:
            pending += bytes
            guard pending.count >= 3 else { return [] }
            decide()
        case .littleEndian, .bigEndian: pending += bytes
        }
        return take()
    }

    /// There are no more bytes.
    mutating func finish() -> [UInt8] {
        if encoding == .unknown { decide() }
        var text = take()
        // Half a character.
        if highSurrogate != nil || !pending.isEmpty { text += [0xEF, 0xBF, 0xBD] }
        pending = []
        highSurrogate = nil
        return text
    }

    private mutating func decide() {
        if pending.starts(with: [0xEF, 0xBB, 0xBF]) {
            pending.removeFirst(3)
            encoding = .asItIs
        } else if pending.starts(with: [0xFF, 0xFE]) {
            pending.removeFirst(2)
            encoding = .littleEndian
        } else if pending.starts(with: [0xFE, 0xFF]) {
            pending.removeFirst(2)
            encoding = .bigEndian
        } else if pending.count >= 2, pending[1] == 0, pending[0] != 0 {
            encoding = .littleEndian
        } else if pending.count >= 2, pending[0] == 0, pending[1] != 0 {
            encoding = .bigEndian
        } else {
            encoding = .asItIs
        }
    }

    private mutating func take() -> [UInt8] {
        guard encoding == .littleEndian || encoding == .bigEndian else {
            defer { pending = [] }
            return pending
        }
        var text = String.UnicodeScalarView()
        let whole = pending.count & ~1
        for index in stride(from: 0, to: whole, by: 2) {
            let (one, other) = (UInt16(pending[index]), UInt16(pending[index + 1]))
            append(encoding == .littleEndian ? other << 8 | one : one << 8 | other, to: &text)
        }
        pending.removeFirst(whole)
        return Array(String(text).utf8)
    }

    private mutating func append(_ unit: UInt16, to text: inout String.UnicodeScalarView) {
        if let high = highSurrogate {
            highSurrogate = nil
            if (0xDC00...0xDFFF).contains(unit) {
                let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
                text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
                return
            }
            text.append("\u{FFFD}")
        }
        if (0xD800...0xDBFF).contains(unit) {
            highSurrogate = unit
        } else {
            text.append(Unicode.Scalar(unit) ?? "\u{FFFD}")
        }
    }
}

/// Text that is not UTF-8.
enum Windows1252 {
    /// The bytes from 0x80 to 0x9F (encoding.spec.whatwg.org, index windows-1252); the others are Latin-1.
    private static let upper: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    static func decode(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            let value = (0x80...0x9F).contains(byte) ? upper[Int(byte) - 0x80] : UInt16(byte)
            text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
        }
        return String(text)
    }
}
