import BrokerModel
import Testing

@testable import BrokerContactsStore

/// Queries and the contacts that they find, by script.
@Suite("Searching in a name's own script, and in Latin")
struct SearchTableTests {
    private static let people: [(String, Contact)] = [
        ("Zoë", person("Zoë", "Brontë-Núñez") { $0.nickname = "Zo" }),
        (
            "Łukasz",
            person("Łukasz", "Wałęsa") { $0.emailAddresses = [LabeledString(value: "l.walesa@poczta.example")] }
        ),
        ("Jürgen", person("Jürgen", "Groß") { $0.phoneNumbers = [LabeledString(value: "+49 (0)30 555-0123")] }),
        ("Søren", person("Søren", "Åkesson")),
        ("Conor", person("Conor", "O’Brien")),
        ("Иван", person("Иван", "Щукин")),
        ("Юлия", person("Юлия", "Соловьёва")),
        ("Γιώργος", person("Γιώργος", "Παπαδόπουλος")),
        ("محمد", person("مُحَمَّد", "الأحمدي")),
        ("فاطمة", person("فاطمة", "علی")),
        ("שלום", person("שָׁלוֹם", "בן־דוד")),
        ("कुमार", person("अमित", "कुमार")),
        ("小明", person("小明", "王")),
        ("丽", person("丽", "吕")),
        (
            "太郎",
            person("太郎", "佐藤") {
                $0.phoneticGivenName = "たろう"
                $0.phoneticFamilyName = "サトウ"
            }
        ),
        ("はなこ", person("はなこ", "ヤマダ")),
        ("민수", person("민수", "김")),
        ("Acme", person("") { $0.organizationName = "Acme Käserei" }),
    ]

    private let book: Book
    init() throws { book = try Book(Self.people.map(\.1), region: "DE") }

    private func found(_ typed: String) throws -> (byPerson: [String], byApp: [String]) {
        let name = { (record: Int64) in Self.people[Int(record) - 1].0 }
        let rows = try book.store.search(PersonSearch(typed, scope: .all, order: .none, offset: 0, limit: 50)).rows
        let scope = RecordScope.only(Set((1...Int64(Self.people.count)).map { RecordNumber($0) }))
        let single = try book.store.search(PersonSearch(typed, scope: scope, order: .none, offset: 0, limit: 50)).rows
        #expect(rows.map(\.0) == single.map(\.0))
        return (rows.map { name($0.0.rawValue) }.sorted(), try book.records(.all, .name(typed)).map(name).sorted())
    }

    @Test(
        "The person and an app find the contacts of the table",
        arguments: [
            // Latin, with accents and without
            ("zoe", ["Zoë"]), ("ZOË", ["Zoë"]), ("zoe\u{308}", ["Zoë"]), ("bronte nun", ["Zoë"]), ("Núñez", ["Zoë"]),
            ("nuñez", ["Zoë"]), ("zo", ["Zoë"]), ("lukasz", ["Łukasz"]), ("Łuk", ["Łukasz"]), ("walesa", ["Łukasz"]),
            ("jurgen", ["Jürgen"]), ("gross", ["Jürgen"]), ("Groß", ["Jürgen"]), ("soren", ["Søren"]),
            ("akes", ["Søren"]),
            ("o'brien", ["Conor"]), ("obrien", ["Conor"]), ("brien", ["Conor"]), ("rien", []), ("zoe lukasz", []),
            ("acme kase", ["Acme"]),
            // Cyrillic, and two ways to transliterate it
            ("иван", ["Иван"]), ("ИВАН ЩУК", ["Иван"]), ("ivan", ["Иван"]), ("shchukin", ["Иван"]), ("юли", ["Юлия"]),
            ("yuliya", ["Юлия"]), ("соловьева", ["Юлия"]), ("Соловьёва", ["Юлия"]), ("soloviov", []),
            ("solovyeva", ["Юлия"]),
            // Greek
            ("γιωργος", ["Γιώργος"]), ("ΠΑΠΑΔΟΠΟΥΛΟΣ", ["Γιώργος"]), ("παπαδ", ["Γιώργος"]), ("papadopou", ["Γιώργος"]),
            // Arabic: vowel points, the alef's hamza and variants of keyboard layouts are ignored
            ("محمد", ["محمد"]), ("مُحَمَّد", ["محمد"]), ("محـمد", ["محمد"]), ("الاحمدي", ["محمد"]), ("الأحمدى", ["محمد"]),
            ("فاطمه", ["فاطمة"]), ("علي", ["فاطمة"]), ("fatm", ["فاطمة"]),
            // Hebrew
            ("שלום", ["שלום"]), ("שָׁלוֹם", ["שלום"]), ("דוד", ["שלום"]), ("בן דוד", ["שלום"]),
            // Hindi: vowel signs count as letters
            ("कुमार", ["कुमार"]), ("कुम", ["कुमार"]), ("कमार", []), ("kumar", ["कुमार"]), ("amit", ["कुमार"]),
            // Chinese by character and in pinyin
            ("王小明", ["小明"]), ("小明", ["小明"]), ("明", ["小明"]), ("wang", ["小明"]), ("xiao ming", ["小明"]),
            ("xiaoming", ["小明"]), ("Wáng Xiǎomíng", ["小明"]), ("wangxiaoming", ["小明"]), ("wangxi", ["小明"]),
            ("wxm", ["小明"]), ("xm", ["小明"]), ("lu li", ["丽"]), ("王丽", []),
            // Japanese by reading, in either kana, and in Latin letters
            ("佐藤", ["太郎"]), ("さとう", ["太郎"]), ("サトウ", ["太郎"]), ("ｻﾄｳ", ["太郎"]), ("タロウ さとう", ["太郎"]),
            ("satou", ["太郎"]), ("tarou", ["太郎"]), ("ハナコ", ["はなこ"]), ("やまだ", ["はなこ"]), ("hanako", ["はなこ"]),
            ("yamadahanako", ["はなこ"]),
            // Korean by syllable, by initial consonants, and in Latin letters
            ("김민수", ["민수"]), ("민수", ["민수"]), ("ㄱㅁㅅ", ["민수"]), ("ㄱㅁ", ["민수"]), ("ㅁㅅ", ["민수"]), ("ㅅㅁ", []),
            ("gimminsu", ["민수"]), ("minsu", ["민수"]),
        ] as [(String, [String])])
    func names(typed: String, expected: [String]) throws {
        let found = try found(typed)
        #expect(found.byPerson == expected)
        #expect(found.byApp == expected)
    }

    @Test(
        "The person also finds contacts by a part of a number and by words of an e-mail address",
        arguments: [
            ("0123", ["Jürgen"]), ("5550123", ["Jürgen"]), ("30 555", ["Jürgen"]), ("+49 30", ["Jürgen"]),
            ("(030) 555", ["Jürgen"]), ("٠١٢٣", ["Jürgen"]), ("9999", []), ("poczta", ["Łukasz"]),
            ("walesa@poczta", ["Łukasz"]),
        ] as [(String, [String])])
    func others(typed: String, expected: [String]) throws {
        let found = try found(typed)
        #expect(found.byPerson == expected)
        if typed != "walesa@poczta" { #expect(found.byApp == []) }
    }

    @Test("An app finds a whole name only if it may see both parts")
    func wholeName() throws {
        for typed in ["wangxiaoming", "wxm", "ㄱㅁㅅ"] {
            for order in [ContactOrder.none, .familyName, .givenName] {
                let both = ContactKeySet([.familyName, .givenName])
                #expect(try book.records(.all, .name(typed), seeing: both, order: order).count == 1)
                for key in [ContactKey.familyName, .givenName] {
                    #expect(try book.records(.all, .name(typed), seeing: ContactKeySet([key]), order: order) == [])
                }
            }
        }
    }
}
