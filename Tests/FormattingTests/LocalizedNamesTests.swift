import BrokerModel
import Testing

@testable import BrokerFormatting

@Suite("Localized names")
struct LocalizedNamesTests {
    @Test(
        "The first available language with a matching script is used",
        arguments: [
            (["de"], "de"), (["de-AT"], "de"), (["DE-at"], "de"), (["fr-CA", "en"], "fr"),
            (["sv", "es-MX", "de"], "es"),
            (["ja-JP"], "ja"), (["ar-EG"], "ar"), (["zh"], "zh-Hans"), (["zh-CN"], "zh-Hans"),
            (["zh-Hans-TW"], "zh-Hans"),
            (["zh-SG"], "zh-Hans"), (["zh-TW"], "en"), (["zh-Hant"], "en"), (["zh-HK", "ja"], "ja"), (["en-GB"], "en"),
            (["en", "de"], "en"), ([], "en"), (["sv"], "en"), (["xx"], "en"), ([""], "en"), (["../de"], "en"),
            (["de/../../etc"], "en"), ([String(repeating: "d", count: 100)], "en"), (["de-Latn-CH-1996"], "de"),
            (["\u{0}de"], "en"), (["d\u{EB}"], "en"),
        ])
    func choice(languages: [String], language: String) {
        #expect(LocalizedNames(languages: languages).language == language)
    }

    @Test("A quotation has the marks of its language, with the spaces of French")
    func quotation() {
        let quoted = ["en", "de", "fr", "ja"].map { LocalizedNames(languages: [$0]).quoted("Mail") }
        #expect(quoted == ["“Mail”", "„Mail“", "«\u{A0}Mail\u{A0}»", "「Mail」"])
    }

    @Test(
        "The locale's variables are read as gettext does",
        arguments: [
            (["LANG": "de_DE.UTF-8"], ["de-DE"]), (["LANG": "de_AT.UTF-8@euro"], ["de-AT"]), (["LANG": "C"], []),
            (["LANG": "C.UTF-8"], []), (["LANG": "POSIX"], []), ([:], []), (["LANG": ""], []),
            (["LANG": "ja_JP"], ["ja-JP"]),
            (["LC_ALL": "fr_FR.UTF-8", "LC_MESSAGES": "de_DE", "LANG": "es_ES"], ["fr-FR"]),
            (["LC_ALL": "", "LC_MESSAGES": "de_DE", "LANG": "es_ES"], ["de-DE"]),
            (["LC_ALL": "C", "LANG": "de_DE", "LANGUAGE": "fr"], []),
            (["LANG": "de_DE", "LANGUAGE": "fr:ar_EG:"], ["fr", "ar-EG", "de-DE"]), (["LANGUAGE": "fr"], []),
            (["LC_CTYPE": "de_DE"], []), (["LANG": "sr_RS@latin"], ["sr-Latn-RS"]), (["LANG": "zh_TW.Big5"], ["zh-TW"]),
        ])
    func locale(variables: [String: String], tags: [String]) {
        #expect(PreferredLanguages.tags { variables[$0] } == tags)
    }

    @Test(
        "Labels are localized",
        arguments: [
            ("en", "_$!<Home>!$_", "home"), ("en", "_$!<HomeFAX>!$_", "home fax"), ("en", "iPhone", "iPhone"),
            ("en", "_$!<Mother>!$_", "mother"), ("en", "Ada’s own", "Ada’s own"), ("en", "", ""),
            ("en", "_$!<>!$_", "_$!<>!$_"),
            ("en", "_$!<OfALaterVersion>!$_", "ofalaterversion"), ("de", "_$!<Mobile>!$_", "mobil"),
            ("en", "APPLE WATCH", "Apple Watch"), ("ja", "_$!<Work>!$_", "勤務先"), ("ar", "_$!<Home>!$_", "المنزل"),
            ("zh-Hans", "_$!<ElderBrother>!$_", "哥哥"), ("fr", "_$!<Sister>!$_", "sœur"),
            ("es", "_$!<School>!$_", "escuela"),
            // English is used if a language has no text.
            ("de", "_$!<CousinMothersBrothersSon>!$_", "cousin (mother’s brother’s son)"),
        ])
    func labels(language: String, stored: String, word: String) {
        #expect(LocalizedNames(languages: [language]).label(stored) == word)
    }

    @Test("Every relation has its own English name, split into words")
    func relations() {
        var seen: Set<String> = []
        for name in PredefinedLabel.relationNames {
            let word = LocalizedNames.inEnglish.label(PredefinedLabel.relation(name))
            #expect(seen.insert(word).inserted, "\(word) twice")
            #expect(word == word.lowercased(), "\(word)")
        }
        #expect(seen.count == 216)
    }

    @Test("A label is found by its name in the person's language and in English")
    func stored() {
        let german = LocalizedNames(languages: ["de"])
        #expect(german.stored(label: "Mobil") == PredefinedLabel.mobile)
        #expect(german.stored(label: "mobile") == PredefinedLabel.mobile)
        #expect(german.stored(label: "Mutter") == "_$!<Mother>!$_")
        #expect(german.stored(label: "mein eigenes") == nil)
        #expect(LocalizedNames.inEnglish.stored(label: "mobil") == nil)
        #expect(LocalizedNames.inEnglish.stored(label: "IPHONE") == "iPhone")
    }

    @Test("Keys, fields and services are localized")
    func keys() {
        #expect(LocalizedNames.inEnglish.field("postalCode") == "postal code")
        #expect(LocalizedNames(languages: ["de"]).field("postalCode") == "Postleitzahl")
        #expect(LocalizedNames.inEnglish.field("shoeSize") == nil)
        #expect(LocalizedNames.inEnglish.key(.givenName) == "given name")
        #expect(LocalizedNames(languages: ["ja"]).key(.phoneNumbers) == "電話")
        #expect(LocalizedNames.inEnglish.service("SinaWeibo") == "Sina Weibo")
        #expect(LocalizedNames(languages: ["zh"]).service("SinaWeibo") == "新浪微博")
        #expect(LocalizedNames.inEnglish.service("Mastodon") == "Mastodon")
    }

    @Test(
        "Numbers use the language's plural form",
        arguments: [
            ("en", 1, "Share this contact"), ("en", 2, "Share these 2 contacts"), ("de", 1, "Diesen Kontakt teilen"),
            ("ja", 1, "この1件を共有"), ("ar", 2, "\u{2067}شارك جهتي الاتصال هاتين\u{2069}"),
            ("ar", 3, "\u{2067}شارك جهات الاتصال هذه (\u{2068}3\u{2069})\u{2069}"),
        ])
    func counts(language: String, count: Int, text: String) {
        #expect(LocalizedNames(languages: [language]).text(.shareThese, count: count) == text)
    }

    @Test("A value in another text direction is isolated; placeholders in values are not replaced")
    func values() {
        let english = LocalizedNames.inEnglish
        #expect(english.text(.whatMaySee, [.app: "“Mail”"]) == "What may “Mail” see?")
        #expect(english.text(.whatMaySee, [.app: "“بريد”"]) == "What may \u{2068}“بريد”\u{2069} see?")
        #expect(english.text(.sharePerson, [.name: "{app}", .app: "“m”"]) == "Share {app} with “m”")
        #expect(english.text(.sharePerson, [.name: "{", .app: "}"]) == "Share { with }")
        #expect(english.text(.whatMaySee) == "What may {app} see?")
        let arabic = LocalizedNames(languages: ["ar"])
        #expect(arabic.isRightToLeft)
        #expect(
            arabic.text(.accessAsks, [.app: "“Mail”"])
                == "\u{2067}يطلب \u{2068}“Mail”\u{2069} الاطلاع على جهات اتصالك.\u{2069}")
    }

    @Test("Lists are localized")
    func lists() {
        #expect(LocalizedNames.inEnglish.list([]) == "")
        #expect(LocalizedNames.inEnglish.list(["a"]) == "a")
        #expect(LocalizedNames.inEnglish.list(["a", "{rest}", "c"]) == "a, {rest}, c")
        #expect(LocalizedNames(languages: ["ja"]).list(["a", "b"]) == "a、b")
        #expect(
            LocalizedNames(languages: ["ar"]).list(["a", "b", "c"])
                == "\u{2067}\u{2068}a\u{2069}، \u{2068}b\u{2069}، \u{2068}c\u{2069}\u{2069}")
    }
}

@Suite("The width of characters")
struct CharacterWidthTests {
    @Test(
        "Characters take two columns, one or none",
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("中", 2), ("あ", 2), ("ア", 2), ("ｱ", 1), ("한", 2), ("Ａ", 2), ("、", 2),
            ("（", 2), ("—", 1), ("…", 1), ("“", 1), ("م", 1), ("مَ", 1), ("कि", 2), ("ก็", 1), ("🙂", 2), ("⌚", 2),
            ("☺", 1),
            ("❤", 1), ("🇯🇵", 2), ("👍🏽", 4), ("1\u{20E3}", 1), ("\u{2067}a\u{2069}", 1), ("\u{200B}", 0),
            ("\u{1100}\u{1175}\u{11B7}", 2), ("𠮷", 2), ("𝔸", 1), ("〜", 2), ("₩", 1), ("￦", 2), ("ℵ", 1),
            ("\u{2800}", 1),
            ("🀄", 2), ("🀀", 1), ("🅰", 1), ("㍻", 2),
        ])
    func columns(text: String, columns: Int) {
        #expect(DisplayText.columns(of: text) == columns)
    }
}
