/// One parameter of a property (RFC 6350 §5).
package struct Parameter: Hashable {
    /// The name in upper case. A bare value (vCard 2.1) is a TYPE or an ENCODING.
    package let name: String
    package var values: [String]
    /// Whether the parameter was written without a name.
    var isBare = false
    /// Whether the value is a whole label, which can contain commas.
    private(set) var isLabel = false

    /// Parses the parameters after the property name, separated by semicolons. Some writers have a comma there.
    static func all(in bytes: ArraySlice<UInt8>) -> [Parameter] {
        var parameters: [Parameter] = []
        var start = bytes.startIndex
        var isLabel = isAndroidLabel(bytes)
        var isQuoted = false
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ";") where !isQuoted,
                UInt8(ascii: ",")
            where !isQuoted && !isLabel && beginsParameter(bytes[(index + 1)...]):
                if let parameter = Parameter(bytes[start..<index]) { parameters.append(parameter) }
                start = index + 1
                isLabel = isAndroidLabel(bytes[start...])
            default: break
            }
        }
        if let parameter = Parameter(bytes[start...]) { parameters.append(parameter) }
        return parameters
    }

    /// Whether the text after a comma is a parameter, not another value.
    private static func beginsParameter(_ bytes: ArraySlice<UInt8>) -> Bool {
        let name = ASCII.trimmed(bytes.prefix { $0 == 0x20 || ContentLine.isNameByte($0) })
        guard name.endIndex < bytes.endIndex, !name.isEmpty,
            bytes[name.endIndex...].first(where: { !ASCII.isSpace($0) }) == UInt8(ascii: "=")
        else { return false }
        return knownNames.contains(ASCII.uppercased(String(decoding: name, as: UTF8.self)))
            || ASCII.equal(name.prefix(2), "X-")
    }

    /// The parameters of RFC 6350, RFC 2426, RFC 8605 and RFC 9554.
    private static let knownNames: Set<String> = [
        "ALTID", "CALSCALE", "CC", "CHARSET", "CONTEXT", "CREATED", "DERIVED", "ENCODING", "GEO", "INDEX", "LABEL",
        "LANGUAGE", "LEVEL", "MEDIATYPE", "PHONETIC", "PID", "PREF", "PROP-ID", "SCRIPT", "SERVICE-TYPE", "SORT-AS",
        "TYPE", "TZ", "USERNAME", "VALUE",
    ]

    /// Whether the last parameter of a line is the scheme of the URI that is its value.
    func isScheme(of value: ArraySlice<UInt8>, isURI: Bool) -> Bool {
        guard isBare, name == "TYPE", !isLabel, let word = values.first.map({ ASCII.lowercased($0) }) else {
            return false
        }
        let schemes = ["tel", "sms", "sip", "sips", "mailto", "http", "https"]
        return schemes.contains(word) || value.starts(with: "//".utf8)
            || isURI && (InstantMessageValue.schemes[word] != nil || ["data", "geo", "urn"].contains(word))
    }

    private static func isAndroidLabel(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes.drop(while: ASCII.isSpace)
        if ASCII.equal(rest.prefix(5), "TYPE=") { rest = rest.dropFirst(5) }
        return ASCII.equal(rest.prefix(9), "X-CUSTOM(")
    }

    private init?(_ bytes: ArraySlice<UInt8>) {
        if let label = Self.androidLabel(bytes) {
            guard !label.isEmpty else { return nil }
            (name, values, isBare, isLabel) = ("TYPE", [label], true, true)
            return
        }
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            ASCII.trimmed(bytes[..<equals]).allSatisfy(ContentLine.isNameByte)
        else {
            let value = Self.unquoted(bytes)
            guard !value.isEmpty else { return nil }
            name = Self.encodings.contains { ASCII.equal(value, $0) } ? "ENCODING" : "TYPE"
            values = [value]
            isBare = true
            return
        }
        name = ASCII.uppercased(String(decoding: ASCII.trimmed(bytes[..<equals]), as: UTF8.self))
        guard !name.isEmpty else { return nil }
        values = []
        var start = equals + 1
        var isQuoted = false
        for index in start..<bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                values.append(Self.unquoted(bytes[start..<index]))
                start = index + 1
            default: break
            }
        }
        values.append(Self.unquoted(bytes[start...]))
    }

    init(_ name: String, _ values: [String]) {
        self.name = name
        self.values = values
    }

    /// Returns the label in a type of Android's: `X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=85)`, with or
    /// without `TYPE=`, or `X-CUSTOM(Boat)`. Returns `nil` for any other parameter.
    private static func androidLabel(_ bytes: ArraySlice<UInt8>) -> String? {
        var rest = ASCII.trimmed(bytes)
        if ASCII.equal(rest.prefix(5), "TYPE=") { rest = rest.dropFirst(5) }
        guard ASCII.equal(rest.prefix(9), "X-CUSTOM("), rest.last == UInt8(ascii: ")") else { return nil }
        rest = rest.dropFirst(9).dropLast()
        var charset: String?
        var isQuotedPrintable = false
        while let comma = rest.firstIndex(of: UInt8(ascii: ",")) {
            let part = String(decoding: rest[..<comma], as: UTF8.self)
            if ASCII.hasPrefix(part, "CHARSET=") {
                charset = String(part.dropFirst(8))
            } else if ASCII.hasPrefix(part, "ENCODING=") {
                isQuotedPrintable = ASCII.equal(part.dropFirst(9), QuotedPrintable.name)
            } else {
                break
            }
            rest = rest[(comma + 1)...]
        }
        let label = isQuotedPrintable ? QuotedPrintable.decoded(rest) : Array(rest)
        return ASCII.trimmed(TextDecoder.decode(label, charset: charset).text)
    }

    private static let encodings = ["QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT"]

    /// Removes quotes and undoes RFC 6868's escapes.
    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var isEscaped = false
        for byte in ASCII.trimmed(bytes) where byte != UInt8(ascii: "\"") {
            if isEscaped {
                isEscaped = false
                switch byte {
                case UInt8(ascii: "n"): result.append(0x0A)
                case UInt8(ascii: "'"): result.append(UInt8(ascii: "\""))
                case UInt8(ascii: "^"): result.append(byte)
                default: result += [UInt8(ascii: "^"), byte]
                }
            } else if byte == UInt8(ascii: "^") {
                isEscaped = true
            } else {
                result.append(byte)
            }
        }
        if isEscaped { result.append(UInt8(ascii: "^")) }
        return String(decoding: ASCII.trimmed(result), as: UTF8.self)
    }

    /// The parameter as written in a content line, with the leading semicolon.
    var text: String { ";\(name)=" + values.map(Self.quoted).joined(separator: ",") }

    /// Applies RFC 6868's escapes, and adds quotes if needed (RFC 6350 §3.3).
    private static func quoted(_ value: String) -> String {
        var result: [UInt8] = []
        var needsQuotes = false
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "^"): result += "^^".utf8
            case UInt8(ascii: "\""): result += "^'".utf8
            case 0x0A: result += "^n".utf8
            // An equals sign after a comma would begin another parameter.
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "="):
                needsQuotes = true
                result.append(byte)
            case 0x09: result.append(byte)
            case 0..<0x20, 0x7F: break
            default: result.append(byte)
            }
        }
        let text = String(decoding: result, as: UTF8.self)
        return needsQuotes ? "\"\(text)\"" : text
    }
}
