/// One language's texts: lines of `key = "text"`, comments after `#`, and empty lines.
///
/// `\"` and `\\` stand for a quotation mark and a backslash; there are no other escapes and no line breaks. A name in
/// braces is a placeholder that is filled when the text is shown: `{app}`.
struct TranslationFile: Hashable, Sendable {
    var texts: [String: String] = [:]

    struct Problem: Error, Hashable {
        /// The line's number, counted from 1.
        let line: Int
        let reason: String
    }

    init() {}

    /// - Throws: ``Problem`` for any other content, and for a key that appears twice.
    init(_ bytes: [UInt8]) throws(Problem) {
        guard let whole = String(validating: bytes, as: UTF8.self) else {
            throw Problem(line: 1, reason: "not UTF-8")
        }
        for (index, line) in whole.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty || line.first == "#" { continue }
            try add(line, index + 1)
        }
    }

    private mutating func add(_ line: Substring, _ number: Int) throws(Problem) {
        func problem(_ reason: String) -> Problem { Problem(line: number, reason: reason) }
        let key = line.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") }
        guard !key.isEmpty else { throw problem("a line must begin with a key or #") }
        let rest = line[key.endIndex...]
        guard rest.hasPrefix(" = \"") else { throw problem("\(key) must be followed by = \"") }
        var text = ""
        var isEscaped = false
        var characters = rest.dropFirst(4).unicodeScalars[...]
        while let scalar = characters.popFirst() {
            if isEscaped {
                guard scalar == "\"" || scalar == "\\" else { throw problem("unknown escape \\\(scalar)") }
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
                continue
            } else if scalar == "\"" {
                guard characters.isEmpty else { throw problem("text after the closing quotation mark") }
                guard Self.placeholders(text) != nil else { throw problem("unpaired { or }") }
                guard Self.isShowable(text) else { throw problem("no text, or invisible characters") }
                guard texts.updateValue(text, forKey: String(key)) == nil else { throw problem("\(key) appears twice") }
                return
            }
            text.unicodeScalars.append(scalar)
        }
        throw problem("no closing quotation mark")
    }

    /// Whether ``DisplayText`` leaves the text unchanged. Any other text could control the terminal.
    private static func isShowable(_ text: String) -> Bool { !text.isEmpty && DisplayText.line(text) == text }

    /// Returns the placeholder names, in order; `nil` if a brace has no partner or a name is not ASCII
    /// letters.
    static func placeholders(_ text: String) -> [String]? {
        var names: [String] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else { return nil }
            let name = rest[rest.index(after: open)..<close]
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
            names.append(String(name))
            rest = rest[rest.index(after: close)...]
        }
        return names
    }
}
