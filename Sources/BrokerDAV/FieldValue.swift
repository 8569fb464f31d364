/// Why the value of a header field is refused. Answer with 400.
public enum FieldError: Error, Hashable, Sendable {
    case malformed
    /// Longer than ``DAVBounds/field``, or with more items than ``DAVBounds/fieldItems``.
    case tooLong
}

/// The syntax that header fields share (RFC 9110 §5.6).
enum FieldValue {
    /// Splits a list at the separators outside of quotes. Removes white space around the items, and empty items.
    static func split(_ text: String, at separator: UInt8) throws(FieldError) -> [String] {
        guard text.utf8.count <= DAVBounds.field else { throw .tooLong }
        var items: [String] = []
        var item: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in Array(text.utf8) + [separator] {
            guard byte == separator, !isQuoted else {
                if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
                isEscaped = byte == UInt8(ascii: "\\") && isQuoted && !isEscaped
                item.append(byte)
                continue
            }
            let trimmed = trimmed(item)
            item = []
            guard !trimmed.isEmpty else { continue }
            guard items.count < DAVBounds.fieldItems else { throw .tooLong }
            items.append(trimmed)
        }
        guard !isQuoted else { throw .malformed }
        return items
    }

    /// Splits `name=value` or `name`. Returns the name in lower case and the value without quotes.
    static func parameter(_ text: String) throws(FieldError) -> (name: String, value: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let name = trimmed(text.utf8.prefix { $0 != UInt8(ascii: "=") }).lowercased()
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { throw .malformed }
        guard parts.count == 2 else { return (name, "") }
        let value = trimmed(parts[1])
        guard value.utf8.first == UInt8(ascii: "\"") else {
            guard value.utf8.allSatisfy(isTokenByte) else { throw .malformed }
            return (name, value)
        }
        return (name, try unquoted(Array(value.utf8)))
    }

    private static func unquoted(_ text: [UInt8]) throws(FieldError) -> String {
        var bytes: [UInt8] = []
        var isEscaped = false
        var isOpen = true
        for byte in text.dropFirst() {
            guard isOpen else { throw .malformed }
            switch byte {
            case UInt8(ascii: "\\") where !isEscaped: isEscaped = true
            case UInt8(ascii: "\"") where !isEscaped: isOpen = false
            default:
                bytes.append(byte)
                isEscaped = false
            }
        }
        guard !isOpen else { throw .malformed }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes spaces and tabs at both ends.
    static func trimmed(_ bytes: some Collection<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let reversed = bytes.drop(while: isSpace).reversed().drop(while: isSpace)
        return String(decoding: reversed.reversed(), as: UTF8.self)
    }

    static func trimmed(_ text: String) -> String { trimmed(text.utf8) }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
