/// Unescapes text values (RFC 6350 §3.4, RFC 2426 §4).
extension ContentLine {
    /// The value as one text. Unescaped separators belong to it, as many writers intend.
    package var valueText: String { text(value) }

    /// The components of a compound value, each as one text.
    package var components: [String] { split(value, at: UInt8(ascii: ";")).map(text) }

    /// The values of each component of a compound value whose components are lists, such as N. vCard 2.1 has no lists.
    package var componentLists: [[String]] {
        if isVersion21 { return components.map { [$0] } }
        return split(value, at: UInt8(ascii: ";")).map(list)
    }

    /// The components of a compound value whose components are lists. A list's values are joined with spaces.
    var joinedComponents: [String] { componentLists.map { $0.joined(separator: ListBreaks.ofName) } }

    /// The values of a list, without empty ones.
    package var list: [String] {
        isVersion21 ? [valueText].filter { !$0.isEmpty } : list(value)
    }

    private func list(_ range: Range<Int>) -> [String] {
        split(range, at: UInt8(ascii: ",")).map(text).filter { !$0.isEmpty }
    }

    package var isValueEmpty: Bool { storage[value].allSatisfy(ASCII.isSpace) }

    /// Unescapes a range and trims white space.
    func text(_ range: Range<Int>) -> String {
        let bytes = ASCII.trimmed(storage[range])
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                isEscaped = false
                switch byte {
                case UInt8(ascii: "n"), UInt8(ascii: "N"): result.append(0x0A)
                case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: ","): result.append(byte)
                default:
                    // The backslash of an unknown escape is dropped. In vCard 2.1 it is plain text and is
                    // kept.
                    if isVersion21 { result.append(UInt8(ascii: "\\")) }
                    result.append(byte)
                }
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                result.append(byte)
            }
        }
        if isEscaped { result.append(UInt8(ascii: "\\")) }
        return String(decoding: ASCII.trimmed(result), as: UTF8.self)
    }

    /// Returns the ranges between unescaped separators.
    func split(_ range: Range<Int>, at separator: UInt8) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        var isEscaped = false
        for index in range {
            let byte = storage[index]
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == separator {
                parts.append(start..<index)
                start = index + 1
            }
        }
        parts.append(start..<range.upperBound)
        return parts
    }
}
