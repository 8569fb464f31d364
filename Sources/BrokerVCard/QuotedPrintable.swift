/// Quoted-printable (RFC 2045 §6.7), which vCard 3.0 took away and older telephones still write in it.
enum QuotedPrintable {
    static let name = "QUOTED-PRINTABLE"

    /// Whether a content line, whose last physical line ends in `=`, is quoted-printable: base64 may end like this too,
    /// so the parameters decide.
    static func isSaid(by line: ArraySlice<UInt8>) -> Bool {
        // There are not more parameters than this.
        let head = line.prefix(256)
        guard let colon = ContentLine.colon(in: head),
            let semicolon = head[..<colon].firstIndex(of: UInt8(ascii: ";"))
        else { return false }
        return Parameter.all(in: head[(semicolon + 1)..<colon]).contains {
            $0.name == "ENCODING" && $0.values.contains { ASCII.equal($0, name) }
        }
    }

    /// The bytes that are meant. Newlines come as the escape that vCard has for them: the value stays one line.
    static func decoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "=") {
                // A soft line break after which nothing came.
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
