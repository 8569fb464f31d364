/// On which line of a TOML file a key stands. The parser keeps that to itself.
///
/// Reads the text before the parser does, and refuses what a policy does not need and what is no TOML: over some of that the
/// parser stops the program (assertions of toml++ 3.3 in `parse_key` and `parse_value`).
public struct KeyLines {
    /// Where something is that is not understood.
    public struct Misshapen: Error, Hashable {
        public let line: Int
        public let reason: String
    }

    /// Arrays within arrays.
    static let deepest = 4

    /// From 1, by the key with its table: `agent.without_authentication`, `rule[0]`, `rule[0].force`.
    private var lines: [String: Int] = [:]

    /// The line of a key, or of what it is in.
    public func line(of key: String) -> Int? {
        var key = key[...]
        while true {
            // What is written as [[key]] begins with its first.
            if let line = lines[String(key)] ?? lines[String(key) + "[0]"] { return line }
            guard let end = key.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            key = key[..<end]
        }
    }

    public init(_ text: String) throws(Misshapen) {
        var scanner = Scanner(bytes: Array(text.utf8))
        var table = ""
        var counts: [String: Int] = [:]
        while let byte = scanner.startOfStatement() {
            let line = scanner.line
            guard byte == UInt8(ascii: "[") else {
                guard let key = scanner.key(), scanner.skip(UInt8(ascii: "=")) else { throw Self.noStatement(line) }
                lines[table.isEmpty ? key : table + "." + key] = line
                guard scanner.value(depth: 0) else {
                    throw Misshapen(
                        line: scanner.line,
                        reason:
                            "a value is a string, true, false, a whole number or an array, and stands behind = on one line"
                    )
                }
                guard scanner.endOfLine() else {
                    throw Misshapen(line: scanner.line, reason: "more than one value on a line")
                }
                continue
            }
            scanner.skip(UInt8(ascii: "["))
            let isElement = scanner.skip(UInt8(ascii: "["))
            guard let header = scanner.key(), scanner.skip(UInt8(ascii: "]")),
                !isElement || scanner.skip(UInt8(ascii: "]"))
            else { throw Self.noStatement(line) }
            guard scanner.endOfLine() else { throw Self.noStatement(line) }
            table = header
            if isElement {
                let count = counts[table, default: 0]
                counts[table] = count + 1
                table += "[\(count)]"
            }
            lines[table] = lines[table] ?? line
        }
    }

    private static func noStatement(_ line: Int) -> Misshapen {
        Misshapen(line: line, reason: "neither [table], [[table]], key = value nor # comment")
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0
        var line = 1

        private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

        private mutating func step() {
            if byte == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }

        @discardableResult
        mutating func skip(_ expected: UInt8) -> Bool {
            guard byte == expected else { return false }
            step()
            return true
        }

        /// The first byte of the next table or key.
        mutating func startOfStatement() -> UInt8? {
            while let byte {
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): step()
                case UInt8(ascii: "#"): skipLine()
                default: return byte
                }
            }
            return nil
        }

        private mutating func skipLine() {
            while let byte, byte != UInt8(ascii: "\n") { step() }
        }

        /// A key with its dots, without quotes and blanks; `nil` if it is none.
        mutating func key() -> String? {
            var key: [UInt8] = []
            repeat {
                if !key.isEmpty { key.append(UInt8(ascii: ".")) }
                skipBlanks()
                guard let byte else { return nil }
                let start = position
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    guard !isLong(byte), string(byte) else { return nil }
                    key += bytes[(start + 1)..<(position - 1)]
                } else {
                    while let byte = self.byte, Self.isBare(byte) { step() }
                    guard position > start else { return nil }
                    key += bytes[start..<position]
                }
                skipBlanks()
            } while skip(UInt8(ascii: "."))
            return String(decoding: key, as: UTF8.self)
        }

        /// TOML 1.0, Keys.
        private static func isBare(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }

        private mutating func skipBlanks() {
            while byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { step() }
        }

        /// Nothing but a comment is left of the line, which is skipped.
        mutating func endOfLine() -> Bool {
            skipBlanks()
            if byte == UInt8(ascii: "#") { skipLine() }
            skip(UInt8(ascii: "\r"))
            return byte == nil || byte == UInt8(ascii: "\n")
        }

        /// Skips a value of a kind that policies have; `false` where there is none.
        mutating func value(depth: Int) -> Bool {
            skipBlanks()
            guard let byte else { return false }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): return string(byte)
            case UInt8(ascii: "["): return depth < KeyLines.deepest && array(depth: depth + 1)
            default:
                let start = position
                if byte == UInt8(ascii: "-") { step() }
                while let byte = self.byte, Self.isBare(byte) { step() }
                let word = bytes[start..<position]
                return word.elementsEqual("true".utf8) || word.elementsEqual("false".utf8) || Self.isNumber(word)
            }
        }

        /// A decimal one of at most 18 digits, without zeros in front.
        private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
            let digits = word.first == UInt8(ascii: "-") ? word.dropFirst() : word
            return (1...18).contains(digits.count) && digits.allSatisfy { (48...57).contains($0) }
                && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
        }

        private mutating func array(depth: Int) -> Bool {
            step()
            while let next = startOfStatement() {
                if next == UInt8(ascii: "]") {
                    step()
                    return true
                }
                guard value(depth: depth), let after = startOfStatement() else { return false }
                guard after == UInt8(ascii: ",") || after == UInt8(ascii: "]") else { return false }
                skip(UInt8(ascii: ","))
            }
            return false
        }

        private func isLong(_ quote: UInt8) -> Bool {
            bytes[position...].prefix(3).elementsEqual([quote, quote, quote])
        }

        /// Skips a string of any of the four kinds; `false` where it has no end.
        private mutating func string(_ quote: UInt8) -> Bool {
            let escapes = quote == UInt8(ascii: "\"")
            let isLong = isLong(quote)
            for _ in 0..<(isLong ? 3 : 1) { step() }
            while let byte {
                if escapes, byte == UInt8(ascii: "\\") {
                    step()
                    guard isLong || self.byte != UInt8(ascii: "\n") else { return false }
                    step()
                } else if byte == quote, !isLong {
                    step()
                    return true
                } else if byte == quote, self.isLong(quote) {
                    // Up to two quotes may stand before the closing three.
                    for _ in 0..<5 where skip(quote) {}
                    return true
                } else if byte == UInt8(ascii: "\n"), !isLong {
                    return false
                } else {
                    step()
                }
            }
            return false
        }
    }
}
