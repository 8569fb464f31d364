import BrokerModel
import CBrokerICU

/// Texts in the person's language: names of keys and labels, and the words of prompts.
///
/// Each language is one file in `Languages`. English is complete; a text that another language lacks is shown in
/// English.
public struct LocalizedNames: Hashable, Sendable {
    /// The chosen language, by the name of its file: `de`, `zh-Hans`.
    public let language: String
    /// The person's most preferred language, a BCP 47 tag. It may have no file. Names are ordered as its readers expect.
    public let reader: String
    /// The order in which the person wants names displayed, unless a name's language decides.
    public var nameOrder = ContactNameFormatter.Order.userDefault
    /// Whether the language is written from right to left.
    public let isRightToLeft: Bool
    private let file: TranslationFile
    /// The marks around a quotation.
    private let quotationMarks: [String]

    /// - Parameter languages: BCP 47 tags, most preferred first. The first language with a file is chosen,
    ///   otherwise English. A file in a different script does not match.
    public init(languages: [String]) {
        let chosen = languages.lazy.compactMap(Self.available(for:)).first ?? Self.english
        language = chosen
        reader = languages.first ?? chosen
        isRightToLeft = cicu_is_right_to_left(chosen) == 1
        file = chosen == Self.english ? Self.englishFile : Self.file(chosen)
        let marks = [0, 1].map { isEnd in
            CText.read { cicu_quotation_mark(chosen, isEnd, $0, $1) } ?? (isEnd == 0 ? "“" : "”")
        }
        // CLDR has the marks alone. In French, spaces that do not break are within them.
        quotationMarks = chosen == "fr" ? [marks[0] + "\u{A0}", "\u{A0}" + marks[1]] : marks
    }

    public static let english = "en"
    public static let inEnglish = LocalizedNames(languages: [])
    /// The languages that have a file.
    public static var available: [String] { sources.map(\.language) }

    // MARK: - Names

    /// Returns a label in the person's language. Custom labels are returned unchanged.
    public func label(_ stored: String) -> String {
        guard let name = PredefinedLabel.name(of: stored) else { return stored }
        let key = "label." + name
        // A predefined label without a text comes from a later version of the program, so its name is shown.
        return text(forKey: key) ?? text(forKey: "relation." + name) ?? name.lowercased()
    }

    /// Returns the stored form of a predefined label, by its name in the person's language or in English;
    /// `nil` for a custom label.
    public func stored(label word: String) -> String? {
        let word = word.lowercased()
        let all = PredefinedLabel.general + PredefinedLabel.relationNames.map(PredefinedLabel.relation)
        let names = language == Self.english ? [self] : [self, .inEnglish]
        return names.lazy.compactMap { names in all.first { names.label($0).lowercased() == word } }.first
    }

    /// Returns a key's name, such as `given name`.
    public func key(_ key: ContactKey) -> String { text(forKey: "key." + key.rawValue) ?? key.rawValue }

    /// Returns the name of a field of an address or an account, such as `postal code`; `nil` if there is no
    /// such field.
    public func field(_ name: String) -> String? { text(forKey: "field." + name) }

    /// Returns the display name of a social network or messenger. An unknown name is returned unchanged.
    public func service(_ stored: String) -> String { text(forKey: "service." + stored) ?? stored }

    // MARK: - Words

    /// Returns the text with its placeholders filled. The values must already be safe for a terminal
    /// (``DisplayText``). A value whose direction may differ is isolated (Unicode Standard Annex #9).
    public func text(_ phrase: Phrase, _ values: [Placeholder: String] = [:]) -> String {
        filled(text(forKey: phrase.rawValue) ?? phrase.rawValue, values)
    }

    /// Returns the text for a count, in the language's plural form.
    public func text(_ phrase: Phrase, count: Int, _ values: [Placeholder: String] = [:]) -> String {
        var values = values
        values[.count] = number(count)
        let form = phrase.rawValue + "." + pluralCategory(count)
        let text = file.texts[form] ?? file.texts[phrase.rawValue + ".other"] ?? english(phrase, count)
        return filled(text, values)
    }

    /// Returns the items as a list in the person's language.
    public func list(_ items: [String]) -> String {
        guard let first = items.first else { return "" }
        guard items.count > 1 else { return first }
        let pattern = text(forKey: Phrase.andMore.rawValue) ?? "{first}, {rest}"
        let row = items.dropFirst().reduce(isolated(first)) { row, item in
            Self.filled(pattern) { $0 == .first ? row : $0 == .rest ? isolated(item) : nil }
        }
        return directed(row)
    }

    /// Returns the text for the position of a page in a list.
    public func place(_ first: Int, _ last: Int, of total: Int) -> String {
        text(.place, [.first: number(first), .last: number(last), .total: number(total)])
    }

    /// Isolates a value, so that its direction does not depend on the text around it: always in right-to-left
    /// languages, otherwise if it has right-to-left letters. An isolate is returned unchanged.
    public func isolated(_ value: String) -> String {
        isRightToLeft && !value.isEmpty && !Bidirectional.isIsolate(value)
            ? "\u{2068}\(value)\u{2069}" : Bidirectional.isolated(value)
    }

    // MARK: - Numbers, days and quotation marks

    /// Returns the number with the language's grouping, such as `10,000`.
    public func number(_ number: Int) -> String {
        CText.read { cicu_number(language, Int64(number), $0, $1) } ?? String(number)
    }

    /// Returns the day of a moment, such as `Jan 31, 2026`, in the system's time zone.
    ///
    /// - Parameter seconds: seconds since 1970.
    public func day(_ seconds: Int64, withTime: Bool = false) -> String {
        CText.read { cicu_date(language, seconds, withTime ? 1 : 0, $0, $1) } ?? ""
    }

    /// Returns the text in the language's quotation marks. The text must not contain quotation marks.
    public func quoted(_ text: String) -> String { quotationMarks[0] + text + quotationMarks[1] }

    /// The columns that quotation marks take.
    public var quotationColumns: Int { DisplayText.columns(of: quotationMarks.joined()) }

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

    /// Fills placeholders. Unknown names in braces stay unchanged. Placeholders inside values are not filled.
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

    /// Isolates right-to-left texts, so their direction does not depend on the line around them.
    private func directed(_ text: String) -> String { isRightToLeft ? "\u{2067}\(text)\u{2069}" : text }

    // MARK: - Files

    private static let englishFile = file(english)

    /// Reads the file of one language, because a program needs at most this language and English. Ignoring an
    /// error is sound: a test reads all files, and a missing text falls back to English or to its key.
    private static func file(_ language: String) -> TranslationFile {
        sources.first { $0.language == language }.flatMap { try? TranslationFile($0.bytes) } ?? TranslationFile()
    }

    /// File names by language and script. A tag without a script gets the usual script of its region.
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
