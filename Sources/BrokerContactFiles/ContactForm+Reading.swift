import BrokerJSON
import BrokerModel

extension ContactForm {
    /// The maximum size of a form's text, in bytes.
    public static let longest = 16 * 1_048_576

    /// Parses an edited form. Keys that are missing from the form are empty in the contact.
    ///
    /// - Parameter keys: the keys that the form may contain.
    /// - Throws: ``Problem`` for the first line that cannot be parsed, or the first invalid value.
    public init(reading text: String, keys: ContactKeySet = Self.keys) throws(Problem) {
        guard text.utf8.count <= Self.longest else {
            throw Problem(line: 1, reason: "more than \(Self.longest) bytes")
        }
        var reader = FormReader(text, keys)
        self = try reader.read()
        do throws(ContactError) {
            try contact.validate(writing: keys.intersection(Self.keys))
        } catch {
            switch error {
            case .invalidContact(let key, let reason):
                throw Problem(line: ContactKey(rawValue: key).flatMap { lines[$0] } ?? 1, reason: reason)
            case .limitExceeded(let limit, let maximum):
                throw Problem(line: firstLine(exceeding: limit) ?? 1, reason: "more than \(maximum) for \(limit)")
            case .invalidParameter(let name): throw Problem(line: 1, reason: "\(name) is not accepted")
            }
        }
    }

    /// Returns the line of the first key that fails validation by itself; `nil` if there is none.
    private func firstLine(exceeding limit: String) -> Int? {
        for key in Self.keys.keys {
            do throws(ContactError) {
                try contact.validate(writing: ContactKeySet(key))
            } catch {
                return lines[key]
            }
        }
        return nil
    }

    /// Whether the text has only comments and blank lines. The person cancels by emptying the form.
    public static func isEmpty(_ text: String) -> Bool {
        text.split(whereSeparator: \.isNewline).allSatisfy {
            $0.utf8.first == UInt8(ascii: "#") || $0.allSatisfy(\.isWhitespace)
        }
    }

    /// Returns this form's contact with the value identifiers of the former contact. A value takes the
    /// identifier of an equal former value or, if there is none, of a former value with the same label.
    public func identified(from former: Contact) -> Contact {
        var result = contact
        Self.identify(&result.phoneNumbers, former.phoneNumbers)
        Self.identify(&result.emailAddresses, former.emailAddresses)
        Self.identify(&result.postalAddresses, former.postalAddresses)
        Self.identify(&result.dates, former.dates)
        Self.identify(&result.urlAddresses, former.urlAddresses)
        Self.identify(&result.contactRelations, former.contactRelations)
        Self.identify(&result.socialProfiles, former.socialProfiles)
        Self.identify(&result.instantMessageAddresses, former.instantMessageAddresses)
        return result
    }

    private static func identify<Value: ContactValue>(_ values: inout [Value], _ former: [Value]) {
        var free: [(Value, identifier: Int)] = former.compactMap { value in
            guard let identifier = value.identifier else { return nil }
            var bare = value
            bare.identifier = nil
            return (bare, identifier)
        }
        func take(_ isIt: (Value) -> Bool) -> Int? {
            guard let place = free.firstIndex(where: { isIt($0.0) }) else { return nil }
            return free.remove(at: place).identifier
        }
        for index in values.indices { values[index].identifier = take { $0 == values[index] } }
        for index in values.indices where values[index].identifier == nil {
            values[index].identifier = take { $0.label == values[index].label }
        }
    }
}

/// Parses the lines of a form.
private struct FormReader {
    private struct Line {
        let number: Int
        let indent: Int
        /// The line without its indentation.
        let text: Substring

        var isComment: Bool { text.utf8.first == UInt8(ascii: "#") }
        var isBlank: Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
    }

    private let keys: ContactKeySet
    private var lines: [Line] = []
    private var next = 0
    private var contact = Contact()
    private var places: [ContactKey: Int] = [:]

    init(_ text: String, _ keys: ContactKeySet) {
        self.keys = keys
        // Splits by bytes, because Swift treats CR LF as one character.
        let parts = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            var line = Substring(part)
            if line.utf8.last == UInt8(ascii: "\r") { line = Substring(line.utf8.dropLast()) }
            let indent = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            lines.append(Line(number: index + 1, indent: indent, text: Substring(line.utf8.dropFirst(indent))))
        }
    }

    mutating func read() throws(ContactForm.Problem) -> ContactForm {
        while let line = nextLine() {
            guard line.indent == 0 else {
                throw problem(line, "indented without a field above")
            }
            let (name, value) = try entry(line)
            let known = ContactForm.names.first { $0.name.lowercased() == name.lowercased() && keys.contains($0.key) }
            guard let known else { throw problem(line, "there is no field called \(name.prefix(40)) here") }
            guard places[known.key] == nil else { throw problem(line, "this field appears twice") }
            places[known.key] = line.number
            try read(known.key, line, value)
        }
        return ContactForm(contact: contact, lines: places)
    }

    private mutating func read(
        _ key: ContactKey, _ line: Line, _ value: Substring
    ) throws(ContactForm.Problem) {
        switch key {
        case .contactType:
            let word = try text(line, value)
            guard let type = word.isEmpty ? .person : ContactType(rawValue: word.lowercased()) else {
                throw problem(line, "a contact must be a person or an organization")
            }
            contact.contactType = type
        case .phoneNumbers: contact.phoneNumbers = try strings(line, value)
        case .emailAddresses: contact.emailAddresses = try strings(line, value)
        case .urlAddresses: contact.urlAddresses = try strings(line, value)
        case .contactRelations: contact.contactRelations = try strings(line, value)
        case .dates:
            contact.dates = try strings(line, value).map { LabeledDate(label: $0.label, value: $0.value) }
        case .postalAddresses: contact.postalAddresses = try values(line, value, ContactForm.addressFields)
        case .instantMessageAddresses:
            contact.instantMessageAddresses = try values(line, value, ContactForm.messageFields)
        case .socialProfiles: contact.socialProfiles = try values(line, value, ContactForm.profileFields)
        default: contact.setText(try text(line, value), of: key)
        }
    }

    /// Reads labelled values, each of which is one text.
    private mutating func strings(_ line: Line, _ value: Substring) throws(ContactForm.Problem) -> [LabeledString] {
        // A single value can follow the colon directly.
        if !value.isEmpty { return [LabeledString(value: try text(line, value))] }
        var values: [LabeledString] = []
        while let inner = nextLine(deeperThan: line.indent) {
            let (label, value) = try labelEntry(inner)
            let text = try text(inner, value)
            if !text.isEmpty { values.append(LabeledString(label: label, value: text)) }
        }
        return values
    }

    /// Reads labelled values, each of which has several fields.
    private mutating func values<Value: ContactValue>(
        _ line: Line, _ value: Substring, _ names: [(name: String, field: String)]
    ) throws(ContactForm.Problem) -> [Value] {
        guard value.isEmpty else {
            throw problem(line, "the label must be on its own line below, followed by its fields")
        }
        var values: [Value] = []
        while let labelLine = nextLine(deeperThan: line.indent) {
            let (label, rest) = try labelEntry(labelLine)
            guard rest.isEmpty else {
                throw problem(
                    labelLine, "the fields must be on lines below: \(names.map(\.name).joined(separator: ", "))")
            }
            var value = Value()
            value.label = label
            var seen: Set<String> = []
            var isEmpty = true
            while let inner = nextLine(deeperThan: labelLine.indent) {
                let (name, rest) = try entry(inner)
                guard let known = names.first(where: { $0.name.lowercased() == name.lowercased() }),
                    let field = Value.fields.first(where: { $0.name == known.field })
                else {
                    throw problem(
                        inner, "there is no such field here; use one of \(names.map(\.name).joined(separator: ", "))")
                }
                guard seen.insert(known.field).inserted else { throw problem(inner, "this field appears twice") }
                let text = try text(inner, rest)
                field.set(&value, text)
                if !text.isEmpty { isEmpty = false }
            }
            if !isEmpty { values.append(value) }
        }
        return values
    }

    // MARK: Lines

    /// Returns the next line that is neither blank nor a comment; `nil` if there is none, or if it is not
    /// indented deeper than `indent`.
    private mutating func nextLine(deeperThan indent: Int = -1) -> Line? {
        guard let place = place(deeperThan: indent) else { return nil }
        next = place + 1
        return lines[place]
    }

    private func place(deeperThan indent: Int) -> Int? {
        let place = lines[next...].firstIndex { !$0.isBlank && !$0.isComment }
        return place.flatMap { lines[$0].indent > indent ? $0 : nil }
    }

    private func problem(_ line: Line, _ reason: String) -> ContactForm.Problem {
        ContactForm.Problem(line: line.number, reason: reason)
    }

    /// Splits a line of the form `Name: value`.
    private func entry(_ line: Line) throws(ContactForm.Problem) -> (name: Substring, value: Substring) {
        guard line.text.utf8.first != UInt8(ascii: "\t") else {
            throw problem(line, "indent with spaces, not with tabs")
        }
        guard let colon = line.text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw problem(line, "a line must be a name, a colon and a value")
        }
        let value = line.text[line.text.utf8.index(after: colon)...]
        return (line.text[..<colon].trimmed, value.trimmed)
    }

    /// Splits a line of the form `label: value`. The label may be in quotes.
    private func labelEntry(_ line: Line) throws(ContactForm.Problem) -> (label: String?, value: Substring) {
        guard line.text.utf8.first == UInt8(ascii: "\"") else {
            let (word, value) = try entry(line)
            return (LabelWord.stored(String(word)), value)
        }
        var isEscaped = false
        for index in line.text.utf8.indices.dropFirst() {
            switch line.text.utf8[index] {
            case UInt8(ascii: "\\") where !isEscaped: isEscaped = true
            case UInt8(ascii: "\"") where !isEscaped:
                let after = line.text.utf8.index(after: index)
                let label = try unquoted(line.text[..<after], line)
                let rest = line.text[after...].trimmed
                guard rest.utf8.first == UInt8(ascii: ":") else {
                    throw problem(line, "a colon is missing after the label")
                }
                return (label.isEmpty ? nil : label, Substring(rest.utf8.dropFirst()).trimmed)
            default: isEscaped = false
            }
        }
        throw problem(line, "a quote is never closed")
    }

    private func unquoted(_ text: Substring, _ line: Line) throws(ContactForm.Problem) -> String {
        guard let string = try? JSONDocument(parsing: Array(text.utf8)).root.string else {
            throw problem(line, "text in quotes must be written as in JSON: \\\" and \\\\ and \\n")
        }
        return string
    }

    /// Reads the text after a colon or, after `|`, the indented lines below it.
    private mutating func text(_ line: Line, _ value: Substring) throws(ContactForm.Problem) -> String {
        if value.utf8.first == UInt8(ascii: "\"") { return try unquoted(value, line) }
        guard value == "|" else {
            if let deeper = place(deeperThan: line.indent) {
                throw problem(lines[deeper], "a text of several lines must have | after the colon")
            }
            return String(value)
        }
        var parts: [Substring] = []
        var indent: Int?
        while next < lines.count {
            let inner = lines[next]
            if inner.text.isEmpty, inner.indent <= indent ?? .max {
                parts.append("")
            } else {
                guard inner.indent > line.indent else { break }
                let first = indent ?? inner.indent
                indent = first
                guard inner.indent >= first else { throw problem(inner, "less indented than the text's first line") }
                parts.append(String(repeating: " ", count: inner.indent - first)[...] + inner.text)
            }
            next += 1
        }
        while parts.last?.isEmpty == true { parts.removeLast() }
        while parts.first?.isEmpty == true { parts.removeFirst() }
        return parts.joined(separator: "\n")
    }
}
