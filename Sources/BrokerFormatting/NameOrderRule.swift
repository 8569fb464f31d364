import CBrokerICU

/// How readers of one language order given and family names, as Unicode CLDR says (Part 8, Person Names: "Derive the name
/// locale" and `nameOrderLocales`). The data is ICU's copy of CLDR, so it covers every language that ICU knows.
struct NameOrderRule: Hashable, Sendable {
    /// The reader's language, such as `hu`.
    let language: String
    /// The script that the reader's language is usually written in, such as `Latn`.
    private let script: String
    /// The languages whose names have the family name first for this reader.
    private let familyFirst: Set<String>

    /// - Parameter reader: a BCP 47 tag, or a locale's name such as `hu_HU`. One that ICU does not understand has the rule of
    ///   the root locale.
    init(reader: String) {
        let reader = String(reader.map { $0 == "_" ? "-" : $0 })
        let parts = Self.languageAndScript(reader)
        language = parts?.language ?? ""
        script = parts?.script ?? ""
        let languages = CText.read { cicu_family_name_first(reader, $0, $1) } ?? ""
        familyFirst = Set(languages.split(separator: " ").map(String.init))
    }

    /// Whether the family name comes first in a name with these letters. A name in the reader's script counts as a name
    /// of the reader's language, and any other as one of the language that its script is mostly used for. A name in
    /// several scripts belongs to no language.
    func hasFamilyNameFirst(_ name: String) -> Bool {
        var name = name
        let letters = name.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                CText.read { cicu_script_of(text.baseAddress, text.count, $0, $1) }
            }
        }
        guard let letters else { return false }
        let language = letters == script ? language : Self.languageAndScript("und-" + letters)?.language
        return language.map(familyFirst.contains) ?? false
    }

    private static func languageAndScript(_ tag: String) -> (language: String, script: String)? {
        let parts = CText.read { cicu_language_and_script(tag, $0, $1) }?.split(separator: "_").map(String.init)
        guard let parts, parts.count == 2 else { return nil }
        return (parts[0], parts[1])
    }
}
