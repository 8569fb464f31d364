import BrokerModel
import CTestICU
import Testing

@testable import BrokerNormalization

/// Languages for which CLDR tailors the root order, each with names in its order.
@Suite("The alphabets of languages")
struct AlphabetTests {
    static let names: [(language: String, inOrder: [String])] = [
        ("af", ["m", "n", "ŉ", "o"]), ("ar", ["ا", "ب", "ت"]), ("as", ["ক", "খ", "ক্ষ"]),
        (
            "az",
            ["c", "ç", "d", "e", "ə", "f", "g", "ğ", "h", "x", "ı", "i", "k", "q", "o", "ö", "s", "ş", "u", "ü", "z"]
        ),
        ("be", ["е", "ё", "ж"]), ("bs", ["c", "č", "ć", "d", "dž", "đ", "e", "l", "lj", "m", "s", "š", "t", "z", "ž"]),
        ("ceb", ["n", "ñ", "ng", "o"]), ("cs", ["c", "č", "d", "h", "ch", "i", "r", "ř", "s", "š", "z", "ž"]),
        ("cy", ["c", "ch", "d", "dd", "e", "f", "ff", "g", "ng", "h", "l", "ll", "p", "ph", "r", "rh", "t", "th"]),
        ("da", ["a", "z", "æ", "ø", "å"]), ("eo", ["c", "ĉ", "d", "g", "ĝ", "h", "ĥ", "j", "ĵ", "s", "ŝ", "u", "ŭ"]),
        ("es", ["n", "ñ", "o"]), ("et", ["s", "š", "z", "ž", "t", "u", "v", "õ", "ä", "ö", "ü", "x"]),
        ("fi", ["z", "å", "ä", "ö"]), ("fil", ["n", "ñ", "ng", "o"]), ("fo", ["a", "á", "d", "ð", "z", "æ", "ø"]),
        ("gl", ["n", "ñ", "o"]), ("ha", ["b", "ɓ", "c", "d", "ɗ", "k", "ƙ", "s", "sh", "t", "ts", "y", "ƴ"]),
        ("haw", ["a", "e", "i", "o", "u", "h", "k", "l"]),
        ("hr", ["c", "č", "ć", "d", "dž", "đ", "e", "l", "lj", "m", "n", "nj", "o", "s", "š", "z", "ž"]),
        ("hsb", ["c", "č", "ć", "d", "h", "ch", "i", "k", "ł", "l"]),
        (
            "hu",
            [
                "c", "cs", "d", "dz", "dzs", "e", "g", "gy", "h", "o", "ö", "p", "s", "sz", "t", "ty", "u", "ü", "z",
                "zs",
            ]
        ),
        ("ig", ["b", "ch", "d", "g", "gb", "gh", "gw", "h", "i", "ị", "k", "kp"]),
        ("is", ["a", "á", "b", "d", "ð", "e", "é", "o", "ó", "z", "þ", "æ", "ö", "å"]),
        ("ja", ["あ", "い", "う", "亜", "一"]), ("kk", ["к", "ы", "і", "э"]), ("kl", ["z", "æ", "ø", "å"]),
        ("ko", ["가", "家", "나"]), ("lt", ["c", "č", "d", "i", "y", "j", "s", "š", "z", "ž"]),
        ("lv", ["c", "č", "d", "g", "ģ", "h", "k", "ķ", "l", "ļ", "n", "ņ", "s", "š", "z", "ž"]),
        ("mk", ["г", "д", "ѓ", "е", "т", "ќ", "у"]),
        ("mt", ["b", "ċ", "c", "d", "f", "ġ", "g", "għ", "h", "ħ", "i", "ż", "z"]),
        ("nb", ["a", "z", "æ", "ø", "å"]), ("nn", ["a", "z", "æ", "ø", "å"]), ("no", ["a", "z", "æ", "ø", "å"]),
        ("pl", ["a", "ą", "b", "c", "ć", "e", "ę", "l", "ł", "n", "ń", "o", "ó", "s", "ś", "z", "ź", "ż"]),
        ("ro", ["a", "ă", "â", "b", "i", "î", "s", "ș", "t", "ț"]),
        ("se", ["c", "č", "d", "đ", "n", "ŋ", "s", "š", "t", "ŧ", "z", "ž"]),
        ("sk", ["a", "ä", "b", "c", "č", "d", "h", "ch", "i", "o", "ô", "p", "s", "š", "z", "ž"]),
        ("sl", ["c", "č", "ć", "d", "đ", "s", "š", "z", "ž"]),
        ("smn", ["a", "â", "b", "c", "č", "d", "đ", "z", "ž"]),
        ("sq", ["c", "ç", "d", "dh", "e", "ë", "g", "gj", "l", "ll"]),
        ("sr", ["д", "ђ", "е", "т", "ћ", "у"]), ("sr-Latn", ["c", "č", "ć", "d", "dž", "đ", "l", "lj", "s", "š"]),
        ("sv", ["a", "o", "z", "å", "ä", "ö"]),
        ("tk", ["c", "ç", "d", "e", "ä", "f", "n", "ň", "o", "ö", "s", "ş", "u", "ü"]),
        ("to", ["n", "ng", "o", "ʻ"]), ("tr", ["c", "ç", "d", "g", "ğ", "h", "ı", "i", "o", "ö", "s", "ş", "u", "ü"]),
        ("uk", ["г", "ґ", "д"]), ("uz", ["n", "o", "z", "oʻ", "gʻ", "sh", "ch"]),
        ("vi", ["a", "ă", "â", "b", "d", "đ", "e", "ê", "o", "ô", "ơ", "u", "ư"]),
        ("wo", ["a", "à", "b", "e", "é", "ë", "n", "ñ", "ŋ", "o", "ó"]),
        ("yo", ["e", "ẹ", "g", "gb", "h", "o", "ọ", "s", "ṣ"]), ("zh", ["阿", "波", "张"]), ("zh-Hant", ["一", "二", "三"]),
        ("br", ["c", "ch", "c’h", "d"]), ("dsb", ["c", "č", "ć", "d", "h", "ch", "i", "ł", "l"]),
        ("ee", ["d", "dz", "ɖ", "e", "ɛ", "f", "ƒ", "g", "gb", "ɣ", "h"]), ("ff-Adlm", ["𞤢", "𞤢𞥄", "𞤣"]),
        ("fr-CA", ["cote", "côte", "coté", "côté"]), ("fy", ["i", "y", "j"]),
        ("ku", ["c", "ç", "d", "e", "ê", "f", "i", "î", "j", "s", "ş", "t", "u", "û", "v"]),
        ("lkt", ["c", "č", "d", "g", "ǧ", "h", "ȟ", "i"]), ("ln", ["e", "ɛ", "f"]),
        ("om", ["z", "ch", "dh", "kh", "ny"]),
        // Languages whose own script comes before the Latin one.
        ("am", ["በ", "አ", "a"]), ("bg", ["а", "б", "a"]), ("bn", ["ক", "খ", "a"]), ("bo", ["ཀ", "ཁ", "a"]),
        ("bs-Cyrl", ["д", "ђ", "е", "a"]), ("chr", ["Ꭰ", "Ꭱ", "a"]), ("el", ["α", "β", "a"]),
        ("fa", ["ا", "ب", "a"]), ("fa-AF", ["ا", "ب", "a"]), ("gu", ["ક", "ખ", "a"]),
        ("he", ["א", "ב", "a"]), ("hi", ["क", "ख", "a"]), ("hy", ["ա", "բ", "a"]), ("ka", ["ა", "ბ", "a"]),
        ("km", ["ក", "ខ", "a"]), ("kn", ["ಕ", "ಖ", "a"]), ("kok", ["क", "ख", "a"]),
        ("ky", ["е", "ё", "ж", "a"]), ("lo", ["ກ", "ຂ", "a"]), ("ml", ["ക", "ഖ", "a"]),
        ("mn", ["а", "б", "a"]), ("mr", ["क", "ख", "a"]), ("my", ["က", "ခ", "a"]), ("ne", ["क", "ख", "a"]),
        ("or", ["କ", "ଖ", "a"]), ("pa", ["ਕ", "ਖ", "a"]), ("ps", ["ا", "ب", "a"]), ("ru", ["а", "б", "a"]),
        ("si", ["ක", "ඛ", "a"]), ("ta", ["க", "ங", "a"]), ("te", ["క", "ఖ", "a"]), ("th", ["ก", "ข", "a"]),
        ("ug", ["ا", "ە", "ب", "a"]), ("ur", ["ب", "پ", "a"]), ("yi", ["א", "ב", "a"]),
    ]

    @Test("Every language for which ICU's data tailor the root order is tested")
    func complete() {
        var untested: Set<String> = []
        for index in 0... {
            guard let name = test_tailored_locale(Int32(index)) else { break }
            untested.insert(String(cString: name).replacing("_", with: "-"))
        }
        // The order of ASCII codes, of computers and no language.
        #expect(untested.subtracting(Self.names.map(\.language)).subtracting([""]) == ["en-US-POSIX"])
    }

    private func sorted(_ names: [String], _ language: String) throws -> [String] {
        let normalizer = try #require(Normalizer(locale: language))
        let keyed = names.reversed().map { name in
            var contact = Contact()
            contact.familyName = name
            return (name: name, key: normalizer.collationKeys(of: contact).familyName)
        }
        return keyed.sorted { $0.key < $1.key }.map(\.name)
    }

    @Test("Names are in the order of the language", arguments: names.map(\.language))
    func inOrder(language: String) throws {
        let names = try #require(Self.names.first { $0.language == language }).inOrder
        #expect(try sorted(names, language) == names)
    }

    @Test("Most of these orders differ from the root order of the same names")
    func tailored() throws {
        let different = try Self.names.filter { try sorted($0.inOrder, "") != $0.inOrder }
        #expect(different.count > 30)
    }

    @Test("A normalizer that changes its locale makes the keys and the version of that locale")
    func changed() throws {
        let normalizer = try #require(Normalizer(locale: "", region: "SE"))
        let version = normalizer.version
        normalizer.use(locale: "sv_SE.UTF-8")
        #expect(
            normalizer.version == Normalizer(locale: "sv-SE", region: "SE")?.version && normalizer.version != version)
        #expect(
            Normalizer.locale(ofVersion: normalizer.version) == "sv_SE" && Normalizer.locale(ofVersion: version) == "")
        #expect(Normalizer.locale(ofVersion: "") == nil)
        normalizer.use(locale: "C.UTF-8")
        #expect(normalizer.version == version)
    }

    @Test(
        "A locale of the environment or a language tag gets ICU's name",
        arguments: [
            ("sv_SE.UTF-8", "sv_SE"), ("de_DE@euro", "de_DE"), ("sr_RS.UTF-8@latin", "sr_Latn_RS"), ("C", ""),
            ("C.UTF-8", ""),
            ("POSIX", ""), ("", ""), ("zh-Hant-TW", "zh_Hant_TW"), ("sv", "sv"),
        ])
    func icuNames(name: String, expected: String) { #expect(Normalizer.icuName(ofLocale: name) == expected) }
}
