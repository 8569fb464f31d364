/// A file of the administrator, or of a package that the administrator installed, parsed. Reading it is strict: a key that is not known or a value of another type is an error with
/// its line. What was meant and not understood must not be left out in silence.
public struct AdministratorFile {
    let path: String
    let lines: KeyLines
    public let document: TOMLTable

    /// - Parameter file: its name, for errors.
    public init(_ text: String, file: String) throws(PolicyError) {
        path = file
        // Names end at such a character wherever they are passed to the system.
        guard !text.utf8.contains(0), !text.contains("\\u0000"), !text.contains("\\U00000000") else {
            throw PolicyError(file: file, reason: "a NUL character")
        }
        do throws(KeyLines.Misshapen) {
            lines = try KeyLines(text)
        } catch {
            throw PolicyError(file: file, line: error.line, reason: error.reason)
        }
        do throws(TOMLDocument.Misshapen) {
            document = try TOMLDocument(text).root
        } catch {
            throw PolicyError(file: file, line: error.line, reason: error.reason)
        }
    }

    public func wrong(_ key: String, _ reason: String) -> PolicyError {
        PolicyError(file: path, line: lines.line(of: key), key: key, reason: reason)
    }

    // MARK: Values

    /// - Parameter known: in the order in which an error is to name them.
    public func allow(_ known: [String], in table: TOMLTable, _ prefix: String) throws(PolicyError) {
        guard let unknown = table.keys.first(where: { !known.contains($0) }) else { return }
        throw wrong(prefix + unknown, "no such key; known are " + known.joined(separator: ", "))
    }

    func table(_ parent: TOMLTable, _ name: String, _ path: String) throws(PolicyError) -> TOMLTable? {
        guard let value = parent[name] else { return nil }
        guard let table = value.table else { throw wrong(path, "a table: [\(name)]") }
        return table
    }

    func bool(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> Bool? {
        guard let value = table[name] else { return nil }
        guard let bool = value.bool else { throw wrong(prefix + name, "true or false") }
        return bool
    }

    func string(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> String? {
        guard let value = table[name] else { return nil }
        guard let string = value.string, !string.isEmpty else {
            throw wrong(prefix + name, "a string that is not empty")
        }
        return string
    }

    func strings(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> [String]? {
        guard let value = table[name] else { return nil }
        guard let array = value.array, array.count > 0 else {
            throw wrong(prefix + name, "an array of strings that is not empty")
        }
        var strings: [String] = []
        for index in 0..<array.count {
            guard let string = array[index].string, !string.isEmpty else {
                throw wrong(prefix + name, "an array of strings, none of them empty")
            }
            strings.append(string)
        }
        return strings
    }

    func word<Word: RawRepresentable & CaseIterable>(
        _ table: TOMLTable, _ name: String, _ prefix: String
    ) throws(PolicyError) -> Word? where Word.RawValue == String {
        guard let string = try string(table, name, prefix) else { return nil }
        guard let word = Word(rawValue: string) else { throw unknown(string, Word.self, prefix + name) }
        return word
    }

    func words<Word: RawRepresentable & CaseIterable>(
        _ table: TOMLTable, _ name: String, _ prefix: String
    ) throws(PolicyError) -> [Word]? where Word.RawValue == String {
        guard let strings = try strings(table, name, prefix) else { return nil }
        var words: [Word] = []
        for string in strings {
            guard let word = Word(rawValue: string) else { throw unknown(string, Word.self, prefix + name) }
            words.append(word)
        }
        return words
    }

    private func unknown<Word: RawRepresentable & CaseIterable>(
        _ string: String, _ type: Word.Type, _ key: String
    ) -> PolicyError where Word.RawValue == String {
        wrong(key, "\"\(string)\" is none of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
    }
}
