/// Quoted-printable (RFC 2045 §6.7). vCard 3.0 does not allow it, but older phones write it there.
package enum QuotedPrintable {
    static let name = "QUOTED-PRINTABLE"

    /// Whether a content line that ends in `=` is quoted-printable. Base64 can end in `=` too, so the parameters
    /// decide.
    package static func isSaid(by line: ArraySlice<UInt8>) -> Bool {
        // Only this prefix is searched for parameters.
        let head = line.prefix(256)
        guard let colon = ContentLine.colon(in: head),
            let semicolon = head[..<colon].firstIndex(of: UInt8(ascii: ";"))
        else { return false }
        return Parameter.all(in: head[(semicolon + 1)..<colon]).contains {
            $0.name == "ENCODING" && $0.values.contains { ASCII.equal($0, name) }
        }
    }

    /// Whether a soft line break, with a space after it, is within a character of UTF-8. Samsung's phones write both.
    ///
    /// - Parameter index: the index of the `=` that ends the first line. The space is at the next index.
    static func isWithinCharacter(_ bytes: [UInt8], at index: Int) -> Bool {
        func byte(_ start: Int) -> UInt8? {
            guard start >= 0, start + 2 < bytes.count, bytes[start] == UInt8(ascii: "="),
                let high = ASCII.hexadecimal(bytes[start + 1]), let low = ASCII.hexadecimal(bytes[start + 2])
            else { return nil }
            return high << 4 | low
        }
        guard let next = byte(index + 2), next & 0xC0 == 0x80 else { return false }
        for count in 1...3 {
            guard let before = byte(index - 3 * count) else { return false }
            // The lead byte says how many bytes the character has.
            if before & 0xC0 != 0x80 { return before >= 0xC2 && (~before).leadingZeroBitCount > count }
        }
        return false
    }

    /// Returns the decoded bytes. Newlines become vCard's escape `\n`, so the value stays one line.
    static func decoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "=") {
                // A final `=` is a soft line break.
                if index == bytes.count { break }
                if index + 1 < bytes.count, let high = ASCII.hexadecimal(bytes[index]),
                    let low = ASCII.hexadecimal(bytes[index + 1])
                {
                    byte = high << 4 | low
                    index += 2
                }
            }
            switch byte {
            case 0x0D where bytes[index...].starts(with: "=0A".utf8) || bytes[index...].starts(with: "=0a".utf8):
                continue
            case 0x0A, 0x0D: result += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: result.append(byte)
            }
        }
        return result
    }
}
