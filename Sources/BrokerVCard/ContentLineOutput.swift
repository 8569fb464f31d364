/// The content lines of a file. They are UTF-8, end in CRLF, and are folded at 75 octets but never within a
/// character (RFC 6350 §3.2, RFC 2426 §2.6).
package struct ContentLineOutput {
    package private(set) var bytes: [UInt8] = []
    /// The index at which the unfinished line begins.
    private var start = 0

    /// The maximum length of a physical line in octets, without its line end (RFC 6350 §3.2).
    static let width = 75

    package init() {}

    /// Adds text unchanged. It must not contain a line break.
    package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func raw(_ byte: UInt8) { bytes.append(byte) }

    mutating func removeLastByte() { bytes.removeLast() }

    /// Adds a text value with its escapes (RFC 6350 §3.4).
    mutating func text(_ text: String) { escaped(text, isURI: false) }

    /// Adds a URI. Commas and semicolons stay unescaped; backslashes are escaped, because readers unescape
    /// them.
    mutating func address(_ text: String) { escaped(text, isURI: true) }

    private mutating func escaped(_ text: String, isURI: Bool) {
        for byte in text.utf8 {
            switch byte {
            case 0x0A: raw("\\n")
            case UInt8(ascii: "\\"): raw("\\\\")
            case UInt8(ascii: ",") where !isURI, UInt8(ascii: ";") where !isURI:
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x09: bytes.append(byte)
            // Control characters are dropped, because readers do not expect them and a line break would end
            // the line.
            case 0..<0x20, 0x7F: break
            default: bytes.append(byte)
            }
        }
    }

    package mutating func endLine() {
        if bytes.count - start > Self.width { fold() }
        bytes.append(0x0D)
        bytes.append(0x0A)
        start = bytes.count
    }

    private mutating func fold() {
        let line = Array(bytes[start...])
        bytes.removeLast(line.count)
        // Only white space follows the byte at this index. A physical line of white space alone would look
        // empty.
        let lastInk = line.lastIndex { !Self.isBlank($0) } ?? 0
        var position = 0
        while position < line.count {
            var end = position + Self.width - (position == 0 ? 0 : 1)
            if end > lastInk {
                end = line.count
            } else {
                while end > position + 1, line[end] & 0xC0 == 0x80 { end -= 1 }
                if line[position..<end].allSatisfy(Self.isBlank) {
                    while Self.isBlank(line[end]) { end += 1 }
                    end += 1
                    while end < line.count, line[end] & 0xC0 == 0x80 { end += 1 }
                    if end > lastInk { end = line.count }
                }
            }
            if position > 0 {
                bytes.append(0x0D)
                bytes.append(0x0A)
                bytes.append(0x20)
            }
            bytes.append(contentsOf: line[position..<end])
            position = end
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
