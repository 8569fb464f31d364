/// Undoing the escapes of text values (RFC 6350 §3.4, RFC 2426 §4).
enum TextValue {
    /// One text: separators without a backslash are part of it, as many writers mean them.
    static func unescaped(_ value: some StringProtocol) -> String {
        let bytes = value.utf8
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(value) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var escaped = false
        for byte in bytes {
            if escaped {
                escaped = false
                // Of an escape that the RFCs do not know, only the backslash is dropped.
                result.append(byte == UInt8(ascii: "n") || byte == UInt8(ascii: "N") ? 0x0A : byte)
            } else if byte == UInt8(ascii: "\\") {
                escaped = true
            } else {
                result.append(byte)
            }
        }
        if escaped { result.append(UInt8(ascii: "\\")) }
        return String(decoding: result, as: UTF8.self)
    }

    /// The parts between separators that are not escaped, still escaped themselves.
    static func split(_ value: some StringProtocol, at separator: Unicode.Scalar) -> [String] {
        var parts: [String] = []
        var part: [UInt8] = []
        var escaped = false
        for byte in value.utf8 {
            if byte == UInt8(ascii: separator), !escaped {
                parts.append(String(decoding: part, as: UTF8.self))
                part.removeAll(keepingCapacity: true)
            } else {
                part.append(byte)
                escaped = !escaped && byte == UInt8(ascii: "\\")
            }
        }
        parts.append(String(decoding: part, as: UTF8.self))
        return parts
    }

    /// The components of a compound value, each one text.
    static func components(_ value: some StringProtocol) -> [String] {
        split(value, at: ";").map { ASCII.trimmed(unescaped($0)) }
    }

    /// The components of a compound value whose components are lists, as N's are.
    static func listComponents(_ value: some StringProtocol) -> [[String]] {
        split(value, at: ";").map(list)
    }

    /// The values of a list, without empty ones.
    static func list(_ value: some StringProtocol) -> [String] {
        split(value, at: ",").map { ASCII.trimmed(unescaped($0)) }.filter { !$0.isEmpty }
    }
}
