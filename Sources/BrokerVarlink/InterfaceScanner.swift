/// Cuts an interface's text into words and signs, and keeps the comments on the way.
struct InterfaceScanner {
    private let text: [UInt8]
    private var position = 0
    /// Comment lines since something else stood in the text; an empty line takes those before it away.
    private var comments: [String] = []

    init(text: String) {
        self.text = Array(text.utf8)
        skip()
    }

    var isAtEnd: Bool { position == text.count }

    /// Counted from 1.
    var line: Int { 1 + text[..<position].count { $0 == UInt8(ascii: "\n") } }

    /// The comments before the word that was read last.
    mutating func takeComments() -> [String] {
        defer { pending = [] }
        return pending
    }

    private var pending: [String] = []

    func isNext(_ sign: String) -> Bool { text[position...].starts(with: sign.utf8) }

    mutating func take(_ sign: String) -> Bool {
        guard isNext(sign) else { return false }
        position += sign.utf8.count
        skip()
        return true
    }

    mutating func expect(_ sign: String) throws(InterfaceError) {
        guard take(sign) else { throw .expected("'\(sign)'", line: line) }
    }

    mutating func expectKeyword(_ keyword: String) throws(InterfaceError) {
        _ = try self.keyword([keyword])
    }

    mutating func keyword(_ allowed: [String]) throws(InterfaceError) -> String {
        let what = allowed.map { "'\($0)'" }.joined(separator: " or ")
        let start = self
        let word = try word(what)
        guard allowed.contains(word) else { throw .expected(what, line: start.line) }
        return word
    }

    mutating func memberName() throws(InterfaceError) -> String {
        let start = self
        let name = try rawWord("a name with a capital letter")
        guard Self.isMemberName(name) else { throw .expected("a name with a capital letter", line: start.line) }
        return name
    }

    static func isMemberName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }

    mutating func fieldName() throws(InterfaceError) -> String {
        let start = self
        let name = try word("a field's name")
        let bytes = Array(name.utf8)
        let underscore = UInt8(ascii: "_")
        guard isLetter(bytes[0]), bytes.last != underscore,
            !zip(bytes, bytes.dropFirst()).contains(where: { $0 == underscore && $1 == underscore })
        else {
            throw .expected("a field's name", line: start.line)
        }
        return name
    }

    mutating func interfaceName() throws(InterfaceError) -> String {
        let start = position
        while position < text.count,
            isWordByte(text[position]) || [UInt8(ascii: "."), UInt8(ascii: "-")].contains(text[position])
        {
            position += 1
        }
        let name = String(decoding: text[start..<position], as: UTF8.self)
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName =
            parts.count > 1 && name.utf8.count <= 255 && !name.utf8.contains(UInt8(ascii: "_"))
            && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix("-") && !$0.hasSuffix("-") }
            && isLetter(text[start])
        guard isName else { throw .expected("an interface's name", line: line) }
        skip()
        return name
    }

    /// A word, and the comments before it set aside for ``takeComments()``.
    mutating func word(_ what: String) throws(InterfaceError) -> String {
        pending = comments
        return try rawWord(what)
    }

    private mutating func rawWord(_ what: String) throws(InterfaceError) -> String {
        let start = position
        while position < text.count, isWordByte(text[position]) { position += 1 }
        guard position > start else { throw .expected(what, line: line) }
        let word = String(decoding: text[start..<position], as: UTF8.self)
        skip()
        return word
    }

    /// Goes on to the next word or sign.
    private mutating func skip() {
        comments = []
        var newlines = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\n"):
                newlines += 1
                if newlines > 1 { comments = [] }
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                position += 1
            case UInt8(ascii: "#"):
                let end = text[position...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
                var line = text[(position + 1)..<end]
                if line.first == UInt8(ascii: " ") { line = line.dropFirst() }
                if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
                comments.append(String(decoding: line, as: UTF8.self))
                position = end
                newlines = 0
            default:
                return
            }
        }
    }
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}

private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

private func isWordByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_")
}
