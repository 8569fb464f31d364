import BrokerModel
import CBrokerICU

/// What people read, in their language: the names of keys and labels, and the words of prompts.
///
/// A language is one file below `Languages`. English is complete; what another language does not have is said in English.
public struct LocalizedNames: Hashable, Sendable {
    /// The language that was chosen, as its file is named: `de`, `zh-Hans`.
    public let language: String
    /// Written from right to left.
    public let isRightToLeft: Bool
    private let file: TranslationFile

    /// - Parameter languages: BCP 47 tags, the one that is wanted most first. The first one that there is a file for is
    ///   taken; English where there is none. Whoever reads one script of a language is not given another.
    public init(languages: [String]) {
        let chosen = languages.lazy.compactMap(Self.available(for:)).first ?? Self.english
        language = chosen
        isRightToLeft = cicu_is_right_to_left(chosen) == 1
        file = chosen == Self.english ? Self.englishFile : Self.file(chosen)
    }

    public static let english = "en"
    public static let inEnglish = LocalizedNames(languages: [])
    /// The languages that there are files for.
    public static var available: [String] { sources.map(\.language) }

    // MARK: - Names

    /// A label as a person says it; one of their own stays as it is.
    public func label(_ stored: String) -> String {
        guard let name = PredefinedLabel.name(of: stored) else { return stored }
        let key = "label." + name
        // Of a later version: its name is better than nothing.
        return text(forKey: key) ?? text(forKey: "relation." + name) ?? name.lowercased()
    }

    /// The stored form of a predefined label by what a person calls it, in their language or in English; `nil` for a
    /// label of their own.
    public func stored(label word: String) -> String? {
        let word = word.lowercased()
        let all = PredefinedLabel.general + PredefinedLabel.relationNames.map(PredefinedLabel.relation)
        let names = language == Self.english ? [self] : [self, .inEnglish]
        return names.lazy.compactMap { names in all.first { names.label($0).lowercased() == word } }.first
    }

    /// A key's name: `given name`.
    public func key(_ key: ContactKey) -> String { text(forKey: "key." + key.rawValue) ?? key.rawValue }

    /// The name of a field of an address or an account: `postal code`; `nil` for what is none.
    public func field(_ name: String) -> String? { text(forKey: "field." + name) }

    /// A social network or messenger by the name that it has for people; one that nobody here knows stays as it is.
    public func service(_ stored: String) -> String { text(forKey: "service." + stored) ?? stored }

    // MARK: - Words

    /// The words, with the values in their places. A value is text of others: it has been made harmless, and is set apart
    /// where its direction could be another than that of the words around it (Unicode Standard Annex #9, isolates).
    public func text(_ phrase: Phrase, _ values: [Placeholder: String] = [:]) -> String {
        filled(text(forKey: phrase.rawValue) ?? phrase.rawValue, values)
    }

    /// The same of so many, in the form in which the language counts.
    public func text(_ phrase: Phrase, count: Int, _ values: [Placeholder: String] = [:]) -> String {
        var values = values
        values[.count] = String(count)
        let form = phrase.rawValue + "." + pluralCategory(count)
        let text = file.texts[form] ?? file.texts[phrase.rawValue + ".other"] ?? english(phrase, count)
        return filled(text, values)
    }

    /// Several things in a row.
    public func list(_ items: [String]) -> String {
        guard let first = items.first else { return "" }
        guard items.count > 1 else { return first }
        let pattern = text(forKey: Phrase.andMore.rawValue) ?? "{first}, {rest}"
        let row = items.dropFirst().reduce(isolated(first)) { row, item in
            Self.filled(pattern) { $0 == .first ? row : $0 == .rest ? isolated(item) : nil }
        }
        return directed(row)
    }

    /// Which part of a list is shown.
    public func place(_ first: Int, _ last: Int, of total: Int) -> String {
        text(.place, [.first: String(first), .last: String(last), .total: String(total)])
    }

    func pluralCategory(_ count: Int) -> String {
        CText.read { cicu_plural_category(language, Int64(count), $0, $1) } ?? "other"
    }

    private func english(_ phrase: Phrase, _ count: Int) -> String {
        let texts = Self.englishFile.texts
        return texts[phrase.rawValue + (count == 1 ? ".one" : ".other")] ?? phrase.rawValue
    }

    private func text(forKey key: String) -> String? { file.texts[key] ?? Self.englishFile.texts[key] }

    private func filled(_ text: String, _ values: [Placeholder: String]) -> String {
        directed(Self.filled(text) { values[$0].map(isolated) })
    }

    /// Anything in braces that is no name of a value stays as it is. Values are not looked into.
    private static func filled(_ text: String, _ value: (Placeholder) -> String?) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            result += Placeholder(rawValue: name).flatMap(value) ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    /// Words that are written from right to left are so wherever they stand in a line.
    private func directed(_ text: String) -> String { isRightToLeft ? "\u{2067}\(text)\u{2069}" : text }

    /// Set apart, where that makes a difference.
    private func isolated(_ value: String) -> String {
        isRightToLeft ? "\u{2068}\(value)\u{2069}" : Bidirectional.isolated(value)
    }

    // MARK: - Files

    private static let englishFile = file(english)

    /// Reads one language's words, and no other's: a program needs one or two. Sound though a file may be wrong: a test reads them all,
    /// and what is not read is said in English, or by its key.
    private static func file(_ language: String) -> TranslationFile {
        sources.first { $0.language == language }.flatMap { try? TranslationFile($0.bytes) } ?? TranslationFile()
    }

    /// Language and script of each file: a tag that has no script has the one that its region writes.
    private static let scripts: [String: String] = {
        var scripts: [String: String] = [:]
        for language in available { scripts[languageAndScript(language) ?? language] = language }
        return scripts
    }()

    private static func available(for tag: String) -> String? { languageAndScript(tag).flatMap { scripts[$0] } }

    private static func languageAndScript(_ tag: String) -> String? {
        // RFC 5646 §2.1: letters, digits and hyphens; 35 are enough for every tag (§4.4.1).
        let isTag =
            (2...35).contains(tag.utf8.count)
            && tag.utf8.allSatisfy { $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
        return isTag ? CText.read { cicu_language_and_script(tag, $0, $1) } : nil
    }
}
