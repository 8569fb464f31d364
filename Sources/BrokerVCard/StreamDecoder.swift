/// Makes UTF-8 of a stream that is UTF-16, in whatever pieces it arrives; any other passes as it is, without its byte
/// order mark.
///
/// UTF-16 is known by its mark, or by the `B` of BEGIN:VCARD beside a zero: Mac OS X wrote it without a mark.
struct StreamDecoder {
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private enum Encoding {
        case unknown
        case bytes
        case utf16(isBigEndian: Bool)
    }

    private var encoding = Encoding.unknown
    /// Bytes that mean something only with those after them.
    private var pending: [UInt8] = []
    private var highSurrogate: UInt16?

    mutating func decode(_ chunk: [UInt8], isLast: Bool) -> [UInt8] {
        if case .bytes = encoding { return chunk }
        var bytes = pending + chunk
        pending = []
        if case .unknown = encoding {
            // Three bytes tell them all apart.
            guard bytes.count >= 3 || isLast else {
                pending = bytes
                return []
            }
            encoding = Self.encoding(of: bytes)
            guard case .utf16 = encoding else {
                if bytes.starts(with: Self.byteOrderMark) { bytes.removeFirst(3) }
                return bytes
            }
        }
        guard case .utf16(let isBigEndian) = encoding else { return bytes }
        if !bytes.count.isMultiple(of: 2), !isLast { pending = [bytes.removeLast()] }
        return utf8(of: bytes, isBigEndian, isLast: isLast)
    }

    private static func encoding(of bytes: [UInt8]) -> Encoding {
        guard bytes.count >= 2 else { return .bytes }
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF), (0x00, UInt8(ascii: "B")), (0x00, UInt8(ascii: "b")): return .utf16(isBigEndian: true)
        case (0xFF, 0xFE), (UInt8(ascii: "B"), 0x00), (UInt8(ascii: "b"), 0x00): return .utf16(isBigEndian: false)
        default: return .bytes
        }
    }

    /// Halves of characters, alone, become U+FFFD.
    private mutating func utf8(of bytes: [UInt8], _ isBigEndian: Bool, isLast: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index + 1 < bytes.count {
            let (high, low) = isBigEndian ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            index += 2
            let unit = UInt16(high) << 8 | UInt16(low)
            if let first = highSurrogate {
                highSurrogate = nil
                if (0xDC00...0xDFFF).contains(unit) {
                    Self.append(0x1_0000 + (UInt32(first - 0xD800) << 10 | UInt32(unit - 0xDC00)), to: &result)
                    continue
                }
                Self.append(0xFFFD, to: &result)
            }
            switch unit {
            case 0xD800...0xDBFF: highSurrogate = unit
            case 0xDC00...0xDFFF: Self.append(0xFFFD, to: &result)
            // The mark is no text.
            case 0xFEFF: break
            default: Self.append(UInt32(unit), to: &result)
            }
        }
        if isLast, highSurrogate != nil || index < bytes.count { Self.append(0xFFFD, to: &result) }
        return result
    }

    private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
        guard value >= 0x80 else { return bytes.append(UInt8(truncatingIfNeeded: value)) }
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}
