import BrokerModel
import Testing

@testable import BrokerFormatting

/// A contact with these texts.
func contact(_ texts: [ContactKey: String], _ change: (inout Contact) -> Void = { _ in }) -> Contact {
    var contact = Contact()
    for (key, text) in texts { contact.setText(text, of: key) }
    change(&contact)
    return contact
}

@Suite("Names are formatted by the rules of their script")
struct ContactNameFormatterTests {
    struct Name: CustomTestStringConvertible {
        var given = ""
        var middle = ""
        var family = ""
        var language: String?
        /// The expected text with the given name first, and with the family name first.
        let full: [String]

        var testDescription: String { full[0] }
        var card: Contact { contact([.givenName: given, .middleName: middle, .familyName: family]) }
    }

    static let table = [
        Name(
            given: "Ada", middle: "King", family: "Lovelace", full: ["Ada King Lovelace", "Lovelace Ada King"]),
        Name(given: "Ada", full: ["Ada", "Ada"]),
        Name(family: "Lovelace", full: ["Lovelace", "Lovelace"]),
        Name(
            given: " Ada\n", family: "\tLovelace ", full: ["Ada Lovelace", "Lovelace Ada"]),
        Name(
            given: "Анна", middle: "Ивановна", family: "Петрова",
            full: ["Анна Ивановна Петрова", "Петрова Анна Ивановна"]),
        Name(
            given: "محمد", family: "الأحمد", full: ["محمد الأحمد", "الأحمد محمد"]),
        Name(given: "राम", family: "शर्मा", full: ["राम शर्मा", "शर्मा राम"]),
        Name(given: "สมชาย", family: "ใจดี", full: ["สมชาย ใจดี", "ใจดี สมชาย"]),
        // Chinese, Japanese and Korean names have the family name first and no space, whatever the preference.
        Name(given: "小明", family: "王", full: ["王小明", "王小明"]),
        Name(given: "小明", family: "欧阳", language: "zh-Hans", full: ["欧阳小明", "欧阳小明"]),
        Name(given: "太郎", family: "佐々木", language: "ja", full: ["佐々木太郎", "佐々木太郎"]),
        Name(given: "龍之介", family: "芥川", language: "ja", full: ["芥川龍之介", "芥川龍之介"]),
        Name(given: "さくら", family: "山田", full: ["山田さくら", "山田さくら"]),
        Name(given: "철수", family: "김", full: ["김철수", "김철수"]),
        Name(
            given: "\u{110E}\u{1165}\u{11AF}", family: "\u{1100}\u{1175}\u{11B7}",
            full: [
                "\u{1100}\u{1175}\u{11B7}\u{110E}\u{1165}\u{11AF}", "\u{1100}\u{1175}\u{11B7}\u{110E}\u{1165}\u{11AF}",
            ]),
        // Foreign names in Japanese and Chinese script.
        Name(given: "ジョン", family: "スミス", full: ["ジョン・スミス", "スミス・ジョン"]),
        Name(
            given: "约翰", family: "史密斯", language: "zh-CN", full: ["约翰·史密斯", "约翰·史密斯"]),
        Name(given: "史密斯", language: "zh", full: ["史密斯", "史密斯"]),
        Name(
            given: "买买提·吐尔逊", family: "艾力", full: ["买买提·吐尔逊·艾力", "买买提·吐尔逊·艾力"]),
        // A name in two scripts follows the rules of neither.
        Name(given: "小明", family: "Wang", full: ["小明 Wang", "Wang 小明"]),
        // These letters are only in Vietnamese.
        Name(
            given: "An", middle: "Văn", family: "Nguyễn", full: ["Nguyễn Văn An", "Nguyễn Văn An"]),
        Name(
            given: "Hương", family: "Tran", full: ["Tran Hương", "Tran Hương"]),
        // Yoruba also has letters with a dot below.
        Name(
            given: "Ọlá", family: "Adébáyọ̀", full: ["Ọlá Adébáyọ̀", "Adébáyọ̀ Ọlá"]),
        // A name in the reader's script follows the rules of the reader's language.
        Name(
            given: "János", family: "Nagy", language: "hu-HU", full: ["Nagy János", "Nagy János"]),
        Name(
            given: "János", family: "Nagy", language: "de", full: ["János Nagy", "Nagy János"]),
        Name(
            given: "An", middle: "Van", family: "Nguyen", language: "vi", full: ["Nguyen Van An", "Nguyen Van An"]),
        Name(
            given: "ジョン", family: "スミス", language: "hu", full: ["ジョン・スミス", "スミス・ジョン"]),
        Name(given: "János", family: "Nagy", language: "hu_HU", full: ["Nagy János", "Nagy János"]),
        Name(given: "Bat", middle: "B.", family: "Dorj", language: "mn", full: ["Bat B. Dorj", "Dorj Bat B."]),
        Name(given: "Бат", family: "Дорж", language: "mn-MN", full: ["Дорж Бат", "Дорж Бат"]),
        Name(given: "சுப்பிரமணிய", family: "பாரதி", language: "ta-LK", full: ["பாரதி சுப்பிரமணிய", "பாரதி சுப்பிரமணிய"]),
        Name(given: "రామ", family: "కంచర్ల", language: "te", full: ["కంచర్ల రామ", "కంచర్ల రామ"]),
        Name(given: "අමර", family: "පෙරේරා", language: "si", full: ["පෙරේරා අමර", "පෙරේරා අමර"]),
        Name(given: "សុខា", family: "ជា", language: "km-KH", full: ["ជា សុខា", "ជា សុខា"]),
        // A name in another script follows the reader's rule for the language of that script.
        Name(given: "రామ", family: "కంచర్ల", language: "hi", full: ["కంచర్ల రామ", "కంచర్ల రామ"]),
        Name(given: "రామ", family: "కంచర్ల", language: "de", full: ["రామ కంచర్ల", "కంచర్ల రామ"]),
        Name(given: "Анна", family: "Петрова", language: "hu", full: ["Анна Петрова", "Петрова Анна"]),
        Name(given: "Ada", family: "Lovelace", language: "ta", full: ["Ada Lovelace", "Lovelace Ada"]),
        Name(given: "Ada", family: "Lovelace", language: "zh-TW", full: ["Ada Lovelace", "Lovelace Ada"]),
        // A reader of a language that ICU does not know.
        Name(given: "Ada", family: "Lovelace", language: "tlh", full: ["Ada Lovelace", "Lovelace Ada"]),
        Name(given: "Ada", family: "Lovelace", language: "../hu", full: ["Ada Lovelace", "Lovelace Ada"]),
    ]

    @Test("A name without its own order follows the person's preference", arguments: table)
    func names(name: Name) {
        let full = [ContactNameFormatter.Order.givenNameFirst, .familyNameFirst].map {
            ContactNameFormatter(userOrder: $0, language: name.language).string(from: name.card)
        }
        #expect(full == name.full)
    }

    /// CLDR's own list: among all languages, only these have the family name first in their own names.
    @Test("Readers of each language that ICU knows see their own names in the order that CLDR has for it")
    func everyLanguage() {
        let scripts = [
            "hu": "Nagy", "vi": "Tran", "mn": "Бат", "ta": "பாரதி", "te": "రామ", "si": "අමර", "km": "ជា",
        ]
        for (reader, name) in scripts {
            #expect(NameOrderRule(reader: reader).hasFamilyNameFirst(name), "\(reader)")
        }
        let others = [
            "en": "Ada", "de": "Ada", "fr": "Ada", "es-MX": "Ada", "pt-BR": "Ada", "tr": "Ada", "ro": "Ada",
            "id": "Ada",
            "ru": "Анна", "bg": "Анна", "kk": "Анна", "el": "Άννα", "ar": "محمد", "fa": "محمد", "he": "עדה", "hi": "राम",
            "bn": "রাম", "th": "สมชาย", "lo": "ສົມ", "my": "အောင်", "ka": "ანა", "hy": "Անի", "am": "አና", "ml": "രാമ",
        ]
        for (reader, name) in others {
            #expect(!NameOrderRule(reader: reader).hasFamilyNameFirst(name), "\(reader)")
        }
    }

    @Test("A list orders names for the person's own language, even if the program has no texts in it")
    func untranslated() {
        let variables = ["LANG": "de_DE.UTF-8", "LANGUAGE": "hu_HU:de"]
        let names = LocalizedNames(languages: PreferredLanguages.tags { variables[$0] ?? "" })
        #expect(names.language == "de")
        let janos = contact([.givenName: "János", .familyName: "Nagy"])
        #expect(NameFormatter(names: names).string(from: janos) == "Nagy János")
        let hungarian = LocalizedNames(languages: PreferredLanguages.tags { $0 == "LANG" ? "hu_HU.UTF-8" : "" })
        #expect(NameFormatter(names: hungarian).string(from: janos) == "Nagy János")
        #expect(NameFormatter(names: LocalizedNames(languages: ["de"])).string(from: janos) == "János Nagy")
    }

    @Test(
        "The order and the delimiter of one name",
        arguments: [
            (["小明", "王"], ContactNameFormatter.Order.familyNameFirst, ""), (["철수", "김"], .familyNameFirst, ""),
            (["ジョン", "スミス"], .givenNameFirst, "・"), (["Ada", "Lovelace"], .givenNameFirst, " "),
            (["An", "Nguyễn"], .familyNameFirst, " "), (["", ""], .givenNameFirst, " "),
        ])
    func nameOrder(names: [String], order: ContactNameFormatter.Order, delimiter: String) {
        let contact = contact([.givenName: names[0], .familyName: names[1]])
        #expect(ContactNameFormatter().nameOrder(for: contact) == order)
        #expect(ContactNameFormatter().delimiter(for: contact) == delimiter)
    }

    @Test(
        "Jr. follows the name directly; degrees follow after a comma",
        arguments: [
            ("Dr.", "Jr.", "Dr. Ada Lovelace Jr."), ("", "III", "Ada Lovelace III"), ("", "PhD", "Ada Lovelace, PhD"),
            ("", "FRS, PhD", "Ada Lovelace, FRS, PhD"), ("", "Jr., PhD", "Ada Lovelace Jr., PhD"),
            ("", ", MD", "Ada Lovelace, MD"), ("Prof. Dr.", "", "Prof. Dr. Ada Lovelace"),
            ("", "Neto", "Ada Lovelace Neto"),
            ("", "vice", "Ada Lovelace, vice"),
        ])
    func titles(prefix: String, suffix: String, name: String) {
        let contact = contact([.givenName: "Ada", .familyName: "Lovelace", .namePrefix: prefix, .nameSuffix: suffix])
        #expect(ContactNameFormatter().string(from: contact) == name)
    }

    @Test(
        "Chinese, Japanese and Korean titles follow the name",
        arguments: [
            (["太郎", "山田", "", "様"], "山田太郎様"), (["小明", "王", "博士", ""], "王小明博士"), (["철수", "김", "", "박사"], "김철수 박사"),
            (["太郎", "山田", "Dr.", ""], "山田太郎 Dr."), (["ジョン", "スミス", "", "様"], "ジョン・スミス様"),
            (["Ada", "Lovelace", "", "様"], "Ada Lovelace, 様"),
        ])
    func eastAsianTitles(parts: [String], name: String) {
        let contact = contact([
            .givenName: parts[0], .familyName: parts[1], .namePrefix: parts[2], .nameSuffix: parts[3],
        ])
        #expect(ContactNameFormatter().string(from: contact) == name)
    }

    @Test("A contact with only titles is named by them")
    func titlesOnly() {
        #expect(ContactNameFormatter().string(from: contact([.namePrefix: "Dr.", .nameSuffix: "PhD"])) == "Dr., PhD")
        #expect(ContactNameFormatter().string(from: contact([.nameSuffix: "PhD"])) == "PhD")
    }

    @Test("Phonetic names have the order of the name")
    func phonetic() {
        let phonetic = ContactNameFormatter(style: .phonetic)
        let yamada = contact([
            .givenName: "太郎", .familyName: "山田", .phoneticGivenName: "たろう", .phoneticFamilyName: "やまだ",
            .namePrefix: "Dr.", .nameSuffix: "様",
        ])
        #expect(phonetic.string(from: yamada) == "やまだ たろう")
        let ada = contact([
            .givenName: "Ada", .familyName: "Lovelace", .phoneticGivenName: "AY-da", .phoneticFamilyName: "LUV-lays",
        ])
        #expect(phonetic.string(from: ada) == "AY-da LUV-lays")
        #expect(phonetic.string(from: contact([.phoneticGivenName: "ジロウ", .phoneticFamilyName: "スズキ"])) == "ジロウ スズキ")
        #expect(phonetic.string(from: contact([.givenName: "Ada"])) == nil)
        let fixture = contact([.organizationName: "株式会社", .phoneticOrganizationName: "カブシキガイシャ"]) {
            $0.contactType = .organization
        }
        #expect(phonetic.string(from: fixture) == "カブシキガイシャ")
    }

    @Test("An organization has its own name, a contact with only a nickname has that; an empty contact has no name")
    func fallbacks() {
        let formatter = ContactNameFormatter()
        var someone = contact([.givenName: "Ada", .organizationName: "Analytical", .nickname: "Countess"])
        #expect(formatter.string(from: someone) == "Ada")
        someone.contactType = .organization
        #expect(formatter.string(from: someone) == "Analytical")
        someone.organizationName = ""
        #expect(formatter.string(from: someone) == "Ada")
        someone.givenName = " \u{200B}"
        #expect(formatter.string(from: someone) == "Countess")
        someone.nickname = "\u{202E}"
        #expect(formatter.string(from: someone) == nil)
        #expect(formatter.string(from: contact([.organizationName: "Analytical"])) == nil)
        #expect(formatter.string(from: Contact()) == nil)
    }

    @Test("Each piece has the key that it came from, and together they are the name")
    func runs() {
        let someone = contact([
            .namePrefix: "Dr.", .givenName: "Ada", .middleName: "King", .familyName: "Lovelace", .nameSuffix: "FRS",
        ])
        #expect(
            ContactNameFormatter().runs(of: someone) == [
                .init("Dr.", .namePrefix), .init(" "), .init("Ada", .givenName), .init(" "), .init("King", .middleName),
                .init(" "), .init("Lovelace", .familyName), .init(", "), .init("FRS", .nameSuffix),
            ])
        #expect(
            ContactNameFormatter().runs(of: contact([.givenName: "小明", .familyName: "王", .nameSuffix: "様"])) == [
                .init("王", .familyName), .init("小明", .givenName), .init("様", .nameSuffix),
            ])
    }
}

@Suite("Names in a list")
struct NameFormatterTests {
    @Test("A contact without a name is listed by another value")
    func fallbacks() {
        var someone = contact([.givenName: "Ada", .organizationName: "Analytical", .nickname: "Countess"]) {
            $0.emailAddresses = [LabeledString(value: "ada@example.org")]
            $0.phoneNumbers = [LabeledString(value: "112")]
        }
        func name() -> String { NameFormatter().string(from: someone) }
        #expect(name() == "Ada")
        someone.contactType = .organization
        #expect(name() == "Analytical")
        someone.contactType = .person
        someone.givenName = " \u{200B}"
        #expect(name() == "Analytical")
        someone.organizationName = ""
        #expect(name() == "Countess")
        someone.nickname = ""
        #expect(name() == "ada@example.org")
        someone.emailAddresses = []
        #expect(name() == "112")
        someone.phoneNumbers = []
        #expect(name() == "No name")
        someone.contactType = .organization
        #expect(name() == "No name")
    }
}
