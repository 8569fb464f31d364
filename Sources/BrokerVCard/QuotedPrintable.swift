/// Quoted-printable (RFC 2045 §6.7). vCard 3.0 does not allow it, but older phones write it there.
enum QuotedPrintable {
    static let name = "QUOTED-PRINTABLE"

    /// Whether a content line that ends in `=` is quoted-printable. Base64 can end in `=` too, so the parameters
    /// decide.
    static func isSaid(by line: ArraySlice<UInt8>) -> Bool {
        // Only this prefix is searched for parameters.
        let head = line.prefix(256)
        guard let colon = ContentLine.colon(in: head),
            let semicolon = head[..<colon].firstIndex(of: UInt8(ascii: ";"))
        else { return false }
        return Parameter.all(in: head[(semicolon + 1)..<colon]).contains {
            $0.name == "ENCODING" && $0.values.contains { ASCII.equal($0, name) }
        }
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
