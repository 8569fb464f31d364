import BrokerModel
import Foundation

/// Gives `NSPredicate` its format initializer, which Foundation on Linux lacks. This is a protocol because
/// only an initializer in a protocol extension may assign an object of a subclass to `self`.
public protocol PredicateFormat {}

extension NSPredicate: PredicateFormat {}

extension PredicateFormat where Self: NSPredicate {
    /// Creates a predicate for the contact picker from a format. `AND` or `&&` joins several of these
    /// clauses:
    ///
    /// - `emailAddresses.@count > 0`, and other counts with `>`, `>=`, `<`, `<=` or `==`; `!=` only with 0
    /// - `nickname != nil`, `nickname != ''` or `nickname.length > 0`: the property has a value
    /// - `key == 'phoneNumbers'`
    /// - `familyName == 'Lovelace'` or `familyName IN {'Lovelace', 'Byron'}`
    /// - `identifier != %@` or `NOT (identifier IN %@)`
    /// - `TRUEPREDICATE`
    ///
    /// A predicate with any other format matches nothing, and using it throws
    /// ``CNError/Code/predicateInvalid``.
    public init(format: String, _ arguments: Any...) { self.init(format: format, argumentArray: arguments) }

    /// Creates the same predicate as `init(format:_:)`, from an array of arguments.
    public init(format: String, argumentArray arguments: [Any]?) {
        let predicate =
            PickerPredicate.parse(format, arguments ?? []).map { PickerPredicate($0) } ?? UnreadPredicate(format)
        // Self is NSPredicate, because no subclass in this module uses this initializer. PickerPredicate and
        // UnreadPredicate are subclasses of NSPredicate.
        guard let predicate = predicate as? Self else {
            preconditionFailure("a format makes an NSPredicate and no other class")
        }
        self = predicate
    }
}

/// A predicate with an unsupported format.
final class UnreadPredicate: NSPredicate {
    let format: String

    init(_ format: String) {
        self.format = format
        super.init(value: false)
    }

    required init?(coder: NSCoder) { nil }

    override func isEqual(_ object: Any?) -> Bool { (object as? UnreadPredicate)?.format == format }

    override var hash: Int { format.hashValue }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension PickerPredicate {
    /// Parses a format; returns `nil` if it is not supported.
    static func parse(_ format: String, _ arguments: [Any]) -> Rule? {
        var scanner = FormatScanner(format, arguments)
        guard let words = scanner.words() else { return nil }
        var rule = Rule()
        for clause in words.split(whereSeparator: { $0.isAnd }) {
            guard let part = self.rule(Self.unwrapped(clause)), let both = both(rule, part) else { return nil }
            rule = both
        }
        return rule
    }

    private static func unwrapped(_ clause: ArraySlice<FormatScanner.Word>) -> ArraySlice<FormatScanner.Word> {
        var clause = clause
        while clause.first?.says("(") == true, clause.last?.says(")") == true { clause = clause.dropFirst().dropLast() }
        return clause
    }

    private static func rule(_ clause: ArraySlice<FormatScanner.Word>) -> Rule? {
        if clause.count == 1, clause.first?.says("TRUEPREDICATE") == true { return Rule() }
        if let first = clause.first, first.says("NOT") || first.says("!") {
            let inner = unwrapped(clause.dropFirst())
            guard inner.count == 3, case .name("identifier")? = inner.first, inner[inner.startIndex + 1].says("IN"),
                case .texts(let identifiers)? = inner.last
            else { return nil }
            return Rule(excludedIdentifiers: identifiers)
        }
        guard clause.count == 3, case .name(let path)? = clause.first, let value = clause.last else { return nil }
        let comparison = clause[clause.startIndex + 1]
        switch (path, value) {
        case ("key", .texts(let texts)) where comparison.isEqual && texts.count == 1: return Rule(key: texts[0])
        case ("familyName", .texts(let names)) where comparison.isEqual || comparison.says("IN"):
            return Rule(familyNames: names)
        case ("identifier", .texts(let texts)) where comparison.says("!="): return Rule(excludedIdentifiers: texts)
        case (_, .number(let number)): return counted(path, comparison, number)
        case (_, .nothing) where comparison.says("!=") && ContactKey(rawValue: path) != nil:
            return Rule(hasKeys: [path])
        case (_, .texts([""])) where comparison.says("!=") && ContactKey(rawValue: path) != nil:
            return Rule(hasKeys: [path])
        default: return nil
        }
    }

    private static func counted(_ path: String, _ comparison: FormatScanner.Word, _ number: Int) -> Rule? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, ["@count", "length"].contains(parts[1]), let key = ContactKey(rawValue: parts[0]) else {
            return nil
        }
        let name = key.rawValue
        if parts[1] == "length" {
            let isPresence = comparison.says(">") && number == 0 || comparison.says(">=") && number == 1
            return isPresence || comparison.says("!=") && number == 0 ? Rule(hasKeys: [name]) : nil
        }
        if comparison.says(">") { return Rule(minimumCount: [name: number + 1]) }
        if comparison.says(">=") { return Rule(minimumCount: [name: number]) }
        if comparison.says("<"), number > 0 { return Rule(maximumCount: [name: number - 1]) }
        if comparison.says("<=") { return Rule(maximumCount: [name: number]) }
        if comparison.isEqual { return Rule(minimumCount: [name: number], maximumCount: [name: number]) }
        return comparison.says("!=") && number == 0 ? Rule(minimumCount: [name: 1]) : nil
    }
}

/// Splits a format into words.
private struct FormatScanner {
    enum Word: Hashable {
        case name(String)
        case symbol(String)
        case texts([String])
        case number(Int)
        case nothing

        func says(_ other: String) -> Bool {
            switch self {
            case .name(let text), .symbol(let text): text.uppercased() == other
            case .texts, .number, .nothing: false
            }
        }

        var isAnd: Bool { says("AND") || says("&&") }
        var isEqual: Bool { says("==") || says("=") }
    }

    private var rest: Substring
    private var arguments: ArraySlice<Any>

    init(_ format: String, _ arguments: [Any]) {
        rest = Substring(format)
        self.arguments = arguments[...]
    }

    /// Returns the words of the format; `nil` if a word is unknown, or if an argument is missing or left
    /// over.
    mutating func words() -> [Word]? {
        var words: [Word] = []
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard !rest.isEmpty else { return arguments.isEmpty ? words : nil }
            guard let word = word() else { return nil }
            words.append(word)
        }
    }

    private mutating func word() -> Word? {
        guard let first = rest.first else { return nil }
        if first == "'" || first == "\"" { return text().map { .texts([$0]) } }
        if first == "{" { return list() }
        if rest.hasPrefix("%@") || rest.hasPrefix("%K") || rest.hasPrefix("%d") { return argument() }
        for symbol in [">=", "<=", "==", "!=", "<>", "&&", "(", ")", ">", "<", "=", "!"] where rest.hasPrefix(symbol) {
            rest = rest.dropFirst(symbol.count)
            return .symbol(symbol == "<>" ? "!=" : symbol)
        }
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "@" || $0 == "_" }
        guard !name.isEmpty else { return nil }
        rest = rest[name.endIndex...]
        if let number = Int(name) { return .number(number) }
        return ["nil", "NIL", "NULL"].contains(name) ? .nothing : .name(String(name))
    }

    private mutating func text() -> String? {
        guard let quote = rest.popFirst(), let end = rest.firstIndex(of: quote) else { return nil }
        defer { rest = rest[rest.index(after: end)...] }
        return String(rest[..<end])
    }

    private mutating func list() -> Word? {
        _ = rest.popFirst()
        var texts: [String] = []
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "," }
            guard let first = rest.first else { return nil }
            if first == "}" {
                _ = rest.popFirst()
                return .texts(texts)
            }
            guard first == "'" || first == "\"", let text = text() else { return nil }
            texts.append(text)
        }
    }

    private mutating func argument() -> Word? {
        let isKey = rest.hasPrefix("%K")
        rest = rest.dropFirst(2)
        guard let argument = arguments.popFirst() else { return nil }
        switch argument {
        case let text as String: return isKey ? .name(text) : .texts([text])
        case let texts as [String]: return .texts(texts)
        case let texts as Set<String>: return .texts(texts.sorted())
        case let number as Int: return .number(number)
        default: return nil
        }
    }
}
