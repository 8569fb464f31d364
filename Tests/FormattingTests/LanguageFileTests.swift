import BrokerModel
import Glibc
import Testing

@testable import BrokerFormatting

@Suite("Language files")
struct LanguageFileTests {
    /// The texts of each language, by key.
    static let files: [String: [String: String]] = {
        var files: [String: [String: String]] = [:]
        for source in LocalizedNames.sources { files[source.language] = (try? TranslationFile(source.bytes))?.texts }
        return files
    }()
    static var english: [String: String] { files[LocalizedNames.english] ?? [:] }
    static let languages = LocalizedNames.available
    static let categories: Set<String> = ["zero", "one", "two", "few", "many", "other"]

    /// Keys that a language may omit; the English text is used then.
    private func isOptional(_ key: String) -> Bool { key.hasPrefix("relation.") || key.hasPrefix("service.") }

    /// A key without its plural form.
    private func base(_ key: String) -> String {
        let parts = key.split(separator: ".")
        return parts.count == 2 && Self.categories.contains(String(parts[1])) ? String(parts[0]) : key
    }

    /// The plural forms of a language, and how many numbers up to a thousand have each.
    private func forms(_ language: String) -> [String: Int] {
        let names = LocalizedNames(languages: [language])
        var forms: [String: Int] = [:]
        for number in 0...1_000 { forms[names.pluralCategory(number), default: 0] += 1 }
        return forms
    }

    @Test("Each file is read to its end", arguments: LocalizedNames.sources)
    func read(source: (language: String, bytes: [UInt8])) throws {
        #expect(try TranslationFile(source.bytes).texts.count > 250)
    }

    @Test("Every file belongs to a language, and every language has a file")
    func folder() throws {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let folder = try #require(opendir(root + "/Sources/BrokerFormatting/Languages"))
        defer { closedir(folder) }
        var names: Set<String> = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.insert(name) }
        }
        #expect(names == Set(Self.languages.map { $0 + ".strings" }))
    }

    @Test("English has every text that the programs use, every key and label, and nothing else")
    func complete() {
        var expected: Set<String> = []
        for phrase in Phrase.allCases { expected.insert(phrase.rawValue) }
        for key in ContactKey.allCases { expected.insert("key." + key.rawValue) }
        let fields =
            PostalAddress.fields.map(\.name) + SocialProfile.fields.map(\.name)
            + InstantMessageAddress.fields.map(\.name) + ["identifier"]
        for field in fields { expected.insert("field." + field) }
        for label in PredefinedLabel.general { expected.insert("label." + (PredefinedLabel.name(of: label) ?? "")) }
        for name in PredefinedLabel.relationNames { expected.insert("relation." + name) }
        let services = PredefinedLabel.socialServices + PredefinedLabel.messageServices
        let found = Set(Self.english.keys.map(base))
        #expect(found.filter { !$0.hasPrefix("service.") } == expected)
        for key in found where key.hasPrefix("service.") {
            #expect(services.contains(String(key.dropFirst(8))), "\(key)")
        }
    }

    @Test("A language has every key of English, in its own plural forms, and no other", arguments: languages)
    func keys(language: String) throws {
        let texts = try #require(Self.files[language])
        let forms = forms(language)
        for key in texts.keys.sorted() where Self.english[key] == nil {
            let parts = key.split(separator: ".").map(String.init)
            let isForm = parts.count == 2 && Self.english[parts[0] + ".other"] != nil && forms[parts[1]] != nil
            #expect(isForm, "\(key) is unknown")
        }
        for key in Self.english.keys.sorted() where !isOptional(key) && !key.hasSuffix(".one") {
            #expect(texts[key] != nil, "\(key) is missing")
        }
        // A text for numbers has every plural form, or its form "other" contains the number.
        for key in Self.english.keys where key.hasSuffix(".other") {
            let name = base(key)
            for form in forms.keys where texts[name + "." + form] == nil {
                #expect(texts[key]?.contains("{count}") == true, "\(name).\(form) is missing")
            }
        }
    }

    @Test("Every language's text has the same placeholders as the English one", arguments: languages)
    func placeholders(language: String) throws {
        let texts = try #require(Self.files[language])
        let forms = forms(language)
        for (key, text) in texts {
            let found = try #require(TranslationFile.placeholders(text)).sorted()
            for name in found { #expect(Placeholder(rawValue: name) != nil, "\(key): {\(name)}") }
            let original = Self.english[key] ?? Self.english[base(key) + ".other"] ?? ""
            let expected = try #require(TranslationFile.placeholders(original)).sorted()
            guard base(key) != key else {
                #expect(found == expected, "\(key)")
                continue
            }
            #expect(found.filter { $0 != "count" } == expected.filter { $0 != "count" }, "\(key)")
            // A form for a single number can spell it out.
            let form = String(key.split(separator: ".")[1])
            if (forms[form] ?? 0) > 2, expected.contains("count") { #expect(found.contains("count"), "\(key)") }
        }
    }

    @Test("No text looks like a key to press, and none is too long", arguments: languages)
    func harmless(language: String) throws {
        for (key, text) in try #require(Self.files[language]) {
            #expect(!text.contains { "[]“”\"".contains($0) }, "\(key)")
            #expect(DisplayText.line(text) == text, "\(key)")
        }
    }

    @Test("Every language has names for the common relations", arguments: languages)
    func relations(language: String) throws {
        let common = [
            "Assistant", "Aunt", "Boyfriend", "Brother", "BrotherInLaw", "Child", "Colleague", "Cousin", "Daughter",
            "DaughterInLaw", "Father", "FatherInLaw", "Friend", "Girlfriend", "Grandchild", "Granddaughter",
            "Grandfather",
            "Grandmother", "Grandparent", "Grandson", "Husband", "Manager", "Mother", "MotherInLaw", "Nephew", "Niece",
            "Parent", "Partner", "Sibling", "Sister", "SisterInLaw", "Son", "SonInLaw", "Spouse", "Stepfather",
            "Stepmother", "Teacher", "Uncle", "Wife", "ElderBrother", "ElderSister", "YoungerBrother", "YoungerSister",
        ]
        let texts = try #require(Self.files[language])
        for name in common { #expect(texts["relation." + name] != nil, "\(name)") }
    }

    @Test(
        "A file with an error is refused, with its line",
        arguments: [
            ("a = \"b\"\na = \"c\"", 2), ("a = b", 1), ("a=\"b\"", 1), ("= \"b\"", 1), ("a = \"b", 1),
            ("a = \"b\" c", 1),
            ("a = \"b\"c\"", 1), ("\n# c\n a = \"b\"", 3), ("a = \"\\n\"", 1), ("a = \"\"", 1), ("a = \"{b\"", 1),
            ("a = \"b}\"", 1), ("a = \"{}\"", 1), ("a = \"{b c}\"", 1), ("a = \" b\"", 1), ("a = \"b\u{202E}\"", 1),
            ("a = \"b\u{1B}[2J\"", 1), ("ä = \"b\"", 1), ("a = \"b\u{2069}\"", 1), ("a", 1),
        ])
    func mistakes(text: String, line: Int) {
        #expect {
            try TranslationFile(Array(text.utf8))
        } throws: {
            ($0 as? TranslationFile.Problem)?.line == line
        }
    }

    @Test("Invalid UTF-8 is refused")
    func encoding() {
        #expect(throws: TranslationFile.Problem.self) { try TranslationFile(Array("a = \"".utf8) + [0xFF, 0x22]) }
    }

    @Test("A valid file is read")
    func right() throws {
        let file = try TranslationFile(Array("# c\n\na.b1 = \"x {app} y\"\nb = \"\\\"q\\\" \\\\\"\n".utf8))
        #expect(file.texts == ["a.b1": "x {app} y", "b": "\"q\" \\"])
    }
}
