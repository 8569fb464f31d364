/// A table of a TOML file. Reading is strict: an unknown key or a value of the wrong type is an error that
/// names the line. Nothing in the file is silently ignored.
public struct TOMLTable {
    private let value: TOMLValue
    /// The table's name in errors, such as `rule[2]`; empty for the whole file.
    private let path: String

    private init(_ value: TOMLValue, path: String) {
        self.value = value
        self.path = path
    }

    /// Parses a whole file. The result is its top-level table.
    ///
    /// - Parameter file: the file's name, for errors.
    public init(_ text: String, file: String) throws(TrustedFileError) {
        self.init(try TOMLDocument(text, file: file).root, path: "")
    }

    private func path(of name: String) -> String { path.isEmpty ? name : path + "." + name }

    /// The line of the table's header; `nil` for the whole file.
    private var line: Int? { path.isEmpty ? nil : value.line }

    /// The file and line where the table begins, such as `/…/policy.d/10-office.toml:12`.
    public var place: String { value.document.file + (line.map { ":\($0)" } ?? "") }

    /// Returns an error about one key.
    ///
    /// - Parameter name: the key. If the table does not have it, the error has the table's line.
    public func wrong(_ name: String, _ reason: String) -> TrustedFileError {
        TrustedFileError(
            file: value.document.file, line: value[name]?.line ?? line, key: path(of: name), reason: reason)
    }

    /// Returns an error about the table itself.
    public func wrong(_ reason: String) -> TrustedFileError {
        TrustedFileError(file: value.document.file, line: line, key: path, reason: reason)
    }

    /// Throws if the table has a key that is not permitted.
    ///
    /// - Parameter known: the permitted keys, in the order in which an error names them.
    public func allow(_ known: [String]) throws(TrustedFileError) {
        guard let unknown = value.keys.first(where: { !known.contains($0) }) else { return }
        let advice = Self.closest(to: unknown, among: known).map { "did you mean \($0)?" }
        throw wrong(unknown, "no such key; " + (advice ?? "known keys are " + known.joined(separator: ", ")))
    }

    /// The word that has the most characters in common with another one, at its beginning and its end; `nil` if that is less
    /// than two thirds.
    private static func closest(to word: String, among words: [String]) -> String? {
        func common(_ other: String) -> Int {
            let beginning = zip(word, other).prefix { $0 == $1 }.count
            let end = zip(word.reversed(), other.reversed()).prefix { $0 == $1 }.count
            return min(beginning + end, other.count)
        }
        return words.max { common($0) < common($1) }.flatMap { common($0) * 3 >= $0.count * 2 ? $0 : nil }
    }

    // MARK: Values; `nil` if there is no such key

    public subscript(name: String) -> TOMLValue? { value[name] }

    /// Reads and converts one value; throws if `convert` returns `nil`.
    ///
    /// - Parameter wanted: the expected value, for the error message.
    public func read<Value>(
        _ name: String, _ wanted: String, _ convert: (TOMLValue) -> Value?
    ) throws(TrustedFileError) -> Value? {
        guard let value = value[name] else { return nil }
        guard let converted = convert(value) else { throw wrong(name, wanted) }
        return converted
    }

    /// - Parameter known: the permitted keys.
    public func table(_ name: String, _ known: [String]) throws(TrustedFileError) -> TOMLTable? {
        let table = try read(name, "must be a table: [\(name)]") {
            $0.isTable ? TOMLTable($0, path: path(of: name)) : nil
        }
        try table?.allow(known)
        return table
    }

    /// Reads the tables written as `[[name]]`.
    ///
    /// - Parameter most: the maximum number of tables.
    public func tables(_ name: String, most: Int) throws(TrustedFileError) -> [TOMLTable] {
        let wanted = "must be written as [[\(name)]]"
        let values = try read(name, wanted, \.array) ?? []
        guard values.count <= most else { throw wrong(name, "more than \(most) \(name)s") }
        var tables: [TOMLTable] = []
        for (index, value) in values.enumerated() {
            let table = TOMLTable(value, path: path(of: "\(name)[\(index)]"))
            guard value.isTable else { throw table.wrong(wanted) }
            tables.append(table)
        }
        return tables
    }

    public func bool(_ name: String) throws(TrustedFileError) -> Bool? {
        try read(name, "must be true or false", \.bool)
    }

    public func string(_ name: String) throws(TrustedFileError) -> String? {
        try read(name, "must be a string that is not empty", Self.text)
    }

    public func strings(_ name: String) throws(TrustedFileError) -> [String]? {
        guard let array = try read(name, "must be an array of strings that is not empty", Self.elements) else {
            return nil
        }
        let strings = array.compactMap(Self.text)
        guard strings.count == array.count else { throw wrong(name, "must be an array of strings, none of them empty") }
        return strings
    }

    /// The elements of a non-empty array; `nil` for any other value.
    public static func elements(_ value: TOMLValue) -> [TOMLValue]? { value.array.flatMap { $0.isEmpty ? nil : $0 } }

    private static func text(_ value: TOMLValue) -> String? { value.string.flatMap { $0.isEmpty ? nil : $0 } }

    public func word<Word: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(TrustedFileError) -> Word? where Word.RawValue == String {
        guard let string = try string(name) else { return nil }
        return try word(string, name)
    }

    public func words<Word: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(TrustedFileError) -> [Word]? where Word.RawValue == String {
        guard let strings = try strings(name) else { return nil }
        var words: [Word] = []
        for string in strings { words.append(try word(string, name)) }
        return words
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ string: String, _ name: String
    ) throws(TrustedFileError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: string) else {
            throw wrong(name, "\"\(string)\" is not one of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }
}
