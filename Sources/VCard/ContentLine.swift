/// One content line: `[group.]name[;parameters]:value` (RFC 6350 §3.3).
struct ContentLine: Hashable {
    /// Line of the file, from 1.
    let number: Int
    /// In lower case.
    let group: String?
    /// In upper case.
    let name: String
    let parameters: [Parameter]
    /// As written: its escapes are for whoever knows the property to undo.
    let value: Substring
    /// The whole line, unfolded.
    let text: String
    /// The characters are certain: UTF-8, or in the character set that the line names.
    let isCertain: Bool

    struct Parameter: Hashable {
        /// In upper case; empty for a bare value such as `HOME`.
        let name: String
        let values: [String]
    }

    /// Takes a line apart, and its encoding away; `nil` where it is no content line.
    init?(_ line: CardSplitter.Line) {
        let (text, isUTF8) = TextDecoder.decode(line.bytes)
        self.init(text: text, number: line.number, isCertain: isUTF8)
        if !isUTF8 && self["CHARSET"] != nil || parameters.contains(where: Self.saysQuotedPrintable) {
            decodeValue(of: line)
        }
    }

    private init?(text: String, number: Int, isCertain: Bool) {
        guard let colon = Self.colon(in: text.utf8) else { return nil }
        var pieces = Self.split(text[..<colon], at: ";")
        let fullName = ASCII.trimmed(pieces.removeFirst())
        let dot = fullName.lastIndex(of: ".")
        let name = dot.map { fullName[fullName.utf8.index(after: $0)...] } ?? fullName[...]
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        self.number = number
        group = dot.map { ASCII.lowercased(fullName[..<$0]) }
        self.name = ASCII.uppercased(name)
        parameters = pieces.compactMap(Self.parameter)
        value = text[text.utf8.index(after: colon)...]
        self.text = text
        self.isCertain = isCertain
    }

    /// Reads the value as the parameters CHARSET and ENCODING say, and takes those away. vCard 3.0 has neither of the
    /// two (RFC 2426 §5), but its writers do. The whole value, for bytes of other character sets may be separators too.
    private mutating func decodeValue(of line: CardSplitter.Line) {
        guard let colon = Self.colon(in: line.bytes) else { return }
        var value = Array(line.bytes[(colon + 1)...])
        if parameters.contains(where: Self.saysQuotedPrintable) { value = QuotedPrintable.decoded(value) }
        let (text, isCertain) = TextDecoder.decode(value, charset: self["CHARSET"])
        let (head, _) = TextDecoder.decode(Array(line.bytes[..<colon]))
        let pieces = Self.split(head[...], at: ";").enumerated().filter { place, piece in
            guard place > 0, let parameter = Self.parameter(piece) else { return true }
            return parameter.name != "CHARSET" && !Self.saysQuotedPrintable(parameter)
        }
        let plain = pieces.map(\.element).joined(separator: ";") + ":" + text
        if let decoded = ContentLine(text: plain, number: number, isCertain: isCertain) { self = decoded }
    }

    private static func saysQuotedPrintable(_ parameter: Parameter) -> Bool {
        (parameter.name == "ENCODING" || parameter.name.isEmpty)
            && parameter.values.contains { ASCII.equal($0, QuotedPrintable.name) }
    }

    /// Where the value begins. Where a quote is never closed, it is no quote.
    private static func colon<Bytes: Collection<UInt8>>(in bytes: Bytes) -> Bytes.Index? {
        firstIndex(of: ":", in: bytes) ?? bytes.firstIndex(of: UInt8(ascii: ":"))
    }

    /// The first value of a parameter.
    subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter }?.values.first
    }

    /// What TYPE says, whether `TYPE=a,b`, `TYPE=a;TYPE=b`, `TYPE="a,b"` or bare (vCard 2.1); as written.
    var types: [String] {
        parameters.filter { $0.name == "TYPE" || $0.name.isEmpty }.flatMap(\.values)
            .flatMap { $0.split(separator: ",") }.map { ASCII.trimmed($0) }.filter { !$0.isEmpty }
    }

    /// Whether TYPE has this value, in any case.
    func hasType(_ type: String) -> Bool { types.contains { ASCII.equal($0, type) } }

    /// 1 for the most preferred (RFC 6350 §5.3; `TYPE=pref` in RFC 2426 §3.2.1), 101 for what says nothing.
    var preference: Int {
        if let preference = self["PREF"].flatMap({ Int($0) }), (1...100).contains(preference) { return preference }
        return hasType("pref") ? 1 : 101
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch ASCII.upper(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func parameter(_ text: Substring) -> Parameter? {
        guard let equals = firstIndex(of: "=", in: text.utf8) else {
            let value = ASCII.trimmed(text)
            return value.isEmpty ? nil : Parameter(name: "", values: [value])
        }
        let name = ASCII.uppercased(ASCII.trimmed(text[..<equals]))
        let values = split(text[text.utf8.index(after: equals)...], at: ",").map(unquoted)
        return Parameter(name: name, values: values)
    }

    /// Without its quotes, and with RFC 6868's escapes undone.
    private static func unquoted(_ text: Substring) -> String {
        let inner = text.utf8.filter { $0 != UInt8(ascii: "\"") }
        guard inner.contains(UInt8(ascii: "^")) else { return ASCII.trimmed(String(decoding: inner, as: UTF8.self)) }
        var result: [UInt8] = []
        var escaped = false
        for byte in inner {
            if escaped {
                escaped = false
                switch byte {
                case UInt8(ascii: "n"): result.append(0x0A)
                case UInt8(ascii: "'"): result.append(UInt8(ascii: "\""))
                case UInt8(ascii: "^"): result.append(byte)
                default: result += [UInt8(ascii: "^"), byte]
                }
            } else if byte == UInt8(ascii: "^") {
                escaped = true
            } else {
                result.append(byte)
            }
        }
        if escaped { result.append(UInt8(ascii: "^")) }
        return ASCII.trimmed(String(decoding: result, as: UTF8.self))
    }

    private static func firstIndex<Bytes: Collection<UInt8>>(
        of byte: Unicode.Scalar, in bytes: Bytes
    ) -> Bytes.Index? {
        var isQuoted = false
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: byte) where !isQuoted: return index
            default: break
            }
        }
        return nil
    }

    /// Cuts at a separator that stands outside of quotes.
    private static func split(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
        var parts: [Substring] = []
        var rest = text
        while let index = firstIndex(of: separator, in: rest.utf8) {
            parts.append(rest[..<index])
            rest = rest[rest.utf8.index(after: index)...]
        }
        parts.append(rest)
        return parts
    }
}
