/// One content line, `[group.]name[;parameters]:value` (RFC 6350 §3.3), as ranges of its bytes.
package struct ContentLine {
    /// The line of the file, counted from 1.
    let number: Int
    let property: Property
    package let parameters: [Parameter]
    /// The values of TYPE, as written: from `TYPE=a,b`, `TYPE=a;TYPE=b`, `TYPE="a,b"` or bare (vCard 2.1).
    package let types: [String]
    /// The preference; 1 is the most preferred (RFC 6350 §5.3; `TYPE=pref` in RFC 2426 §3.2.1). A line
    /// without a preference has ``noPreference``.
    package let preference: Int
    /// Whether the characters are certain: UTF-8, or decoded with the character set that the line names.
    let isCertain: Bool
    /// The bytes to which the ranges refer: UTF-8 without control characters. They are the whole card's bytes
    /// if the line is plain ASCII.
    package let storage: [UInt8]
    /// The value, as written. How to unescape it depends on the property.
    package let value: Range<Int>
    /// The index at which the line begins (`start`), and the range of its property name (`name`).
    private let start: Int
    private let name: Range<Int>
    /// Whether the card is vCard 2.1, which escapes only semicolons and has no lists.
    let isVersion21: Bool

    /// Parses and decodes a line; `nil` if it is not a content line.
    package init?(_ line: CardSplitter.Line, of card: CardSplitter.Card) {
        let bytes = card.bytes[line.range]
        if line.isPlain {
            self.init(card.bytes, line.range, number: line.number, isCertain: true, isVersion21: card.isVersion21)
        } else {
            let (text, isCertain) = TextDecoder.decode(Array(bytes), isUTF8: card.isUTF8)
            let storage = Array(text.utf8)
            self.init(
                storage, storage.indices, number: line.number, isCertain: isCertain, isVersion21: card.isVersion21)
        }
        if parameters.isEmpty { return }
        if !isCertain && self["CHARSET"] != nil || parameters.contains(where: Self.saysQuotedPrintable) {
            decodeValue(of: bytes, isUTF8: card.isUTF8)
        }
    }

    /// Parses a line outside a card, such as a contact's extra property.
    init?(_ text: String, number: Int = 0) {
        guard !text.unicodeScalars.contains(where: TextDecoder.isControl) else { return nil }
        let storage = Array(text.utf8)
        self.init(storage, storage.indices, number: number, isCertain: true, isVersion21: false)
    }

    private init?(_ storage: [UInt8], _ line: Range<Int>, number: Int, isCertain: Bool, isVersion21: Bool) {
        guard let colon = Self.colon(in: storage[line]) else { return nil }
        var head = line.lowerBound
        var dot: Int?
        while head < colon, storage[head] != UInt8(ascii: ";") {
            if storage[head] == UInt8(ascii: ".") { dot = head }
            head += 1
        }
        let name = ASCII.trimmed(storage[(dot.map { $0 + 1 } ?? line.lowerBound)..<head])
        guard Property.isName(name) else { return nil }
        self.number = number
        self.isCertain = isCertain
        self.isVersion21 = isVersion21
        self.storage = storage
        start = storage[line].firstIndex { !ASCII.isSpace($0) } ?? line.lowerBound
        self.name = name.indices
        property = Property.named(name)
        var parameters = head == colon ? [] : Parameter.all(in: storage[(head + 1)..<colon])
        var value = colon + 1..<line.upperBound
        // Some writers have a semicolon before the URI, so its scheme looks like a parameter: `TEL;VALUE=uri;tel:+47…`.
        let isURI = parameters.contains { $0.name == "VALUE" && ASCII.equal($0.values.first ?? "", "uri") }
        if let last = parameters.last, last.isScheme(of: storage[value], isURI: isURI),
            let semicolon = storage[head..<colon].lastIndex(of: UInt8(ascii: ";"))
        {
            value = semicolon + 1..<line.upperBound
            parameters.removeLast()
        }
        (self.parameters, self.value) = (parameters, value)
        types = Self.types(parameters)
        preference = parameters.isEmpty ? Self.noPreference : Self.preference(parameters, types)
    }

    /// Decodes the value according to CHARSET and a quoted-printable ENCODING, and removes both parameters.
    /// vCard 3.0 has neither (RFC 2426 §5), but some writers of vCard 3.0 use them. The whole value is
    /// decoded before it is split, because bytes of other character sets can look like separators.
    private mutating func decodeValue(of line: ArraySlice<UInt8>, isUTF8: Bool) {
        guard let colon = Self.colon(in: line) else { return }
        var value = Array(line[(colon + 1)...])
        if parameters.contains(where: Self.saysQuotedPrintable) { value = QuotedPrintable.decoded(value) }
        let (text, isCertain) = TextDecoder.decode(value, charset: self["CHARSET"], isUTF8: isUTF8)
        let kept = parameters.filter { $0.name != "CHARSET" && !Self.saysQuotedPrintable($0) }
        let plain = Array((head(kept) + ":" + text).utf8)
        if let decoded = ContentLine(
            plain, plain.indices, number: number, isCertain: isCertain, isVersion21: isVersion21)
        {
            self = decoded
        }
    }

    private static func saysQuotedPrintable(_ parameter: Parameter) -> Bool {
        parameter.name == "ENCODING" && parameter.values.contains { ASCII.equal($0, QuotedPrintable.name) }
    }

    // MARK: Parts of the line

    /// The group's name in lower case, because group names ignore case (RFC 6350 §3.3).
    package var group: String? {
        guard start < name.lowerBound else { return nil }
        let text = ASCII.trimmed(storage[start..<(name.lowerBound)])
        guard let dot = text.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return ASCII.lowercased(String(decoding: ASCII.trimmed(text[..<dot]), as: UTF8.self))
    }

    /// The group as written, with its dot.
    package var groupText: String? {
        group == nil ? nil : String(decoding: storage[start..<name.lowerBound], as: UTF8.self)
    }

    /// The property's name in upper case.
    package var nameText: String { ASCII.uppercased(writtenName) }

    var writtenName: String { String(decoding: storage[name], as: UTF8.self) }

    /// The whole line, unfolded, with every parameter named.
    package var text: String {
        guard parameters.contains(where: \.isBare) else {
            return String(decoding: storage[start..<value.upperBound], as: UTF8.self)
        }
        return head(parameters) + ":" + String(decoding: storage[value], as: UTF8.self)
    }

    /// The size of ``text`` in bytes, or slightly less.
    var size: Int { value.upperBound - start }

    /// The line up to its colon, with these parameters.
    func head(_ parameters: [Parameter]) -> String {
        let name = String(decoding: storage[start..<name.upperBound], as: UTF8.self)
        return name + parameters.map(\.text).joined()
    }

    /// The first value of a parameter.
    package subscript(parameter: String) -> String? {
        for each in parameters where each.name == parameter { return each.values.first }
        return nil
    }

    private static func types(_ parameters: [Parameter]) -> [String] {
        var types: [String] = []
        for parameter in parameters where parameter.name == "TYPE" {
            if parameter.isLabel {
                types += parameter.values
                continue
            }
            for value in parameter.values {
                for part in value.split(separator: ",").map({ ASCII.trimmed($0) }) {
                    // Some writers use `TYPE=a,TYPE=b`.
                    let type = ASCII.hasPrefix(part, "TYPE=") ? String(part.dropFirst(5)) : part
                    if !type.isEmpty { types.append(type) }
                }
            }
        }
        return types
    }

    private static func preference(_ parameters: [Parameter], _ types: [String]) -> Int {
        for parameter in parameters where parameter.name == "PREF" {
            if let number = parameter.values.first.flatMap({ Int($0) }), (1...100).contains(number) { return number }
        }
        return types.contains { ASCII.equal($0, "pref") } ? 1 : noPreference
    }

    package static let noPreference = 101

    /// The VALUE parameter, in lower case.
    var valueType: String? { self["VALUE"].map { ASCII.lowercased($0) } }

    // MARK: Finding the parts

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch ASCII.upper(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns the index of the colon before the value. If a quote is never closed, it is not treated as a quote.
    static func colon(in bytes: ArraySlice<UInt8>) -> Int? {
        var isQuoted = false
        var first: Int?
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: ":") {
                if !isQuoted { return index }
                if first == nil { first = index }
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
        }
        return first
    }
}
