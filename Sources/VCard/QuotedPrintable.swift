/// Quoted-printable (RFC 2045 §6.7), which vCard 3.0 took away and older telephones still write in it.
enum QuotedPrintable {
    static let name = "QUOTED-PRINTABLE"

    /// Whether a content line is quoted-printable and its last physical line ends in a soft line break.
    static func goesOn(_ line: [UInt8]) -> Bool {
        guard line.last == UInt8(ascii: "=") else { return false }
        // Base64 may end like this too, so the parameters decide; there are not more of them than this.
        let head = line.prefix(256).prefix { $0 != UInt8(ascii: ":") }
        return head.count < min(line.count, 256)
            && head.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }.contains { ASCII.equal($0, name) }
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
