import BrokerModel
import Testing

@testable import BrokerNormalization

@Suite("Normalized words")
struct SearchWordsTests {
    let normalizer: Normalizer
    init() throws { normalizer = try #require(Normalizer(locale: "")) }

    @Test(
        "A stored word is found as written, without accents, and transliterated to Latin",
        arguments: [
            ("Ada Lovelace", ["ada", "lovelace"]), ("ÉMILE", ["emile"]), ("Łukasz", ["lukasz"]), ("Đorđe", ["dorde"]),
            ("Ærø", ["aero"]), ("Straße", ["strasse"]), ("Ａｄａ", ["ada"]), ("Jean-Luc", ["jean", "luc"]),
            ("O’Brien", ["obrien", "brien"]), ("D'Arcy", ["darcy", "arcy"]), ("İrem", ["irem"]), ("ﬁn", ["fin"]),
            ("Иван", ["иван", "ivan"]), ("Γιώργος", ["γιωργοσ", "giorgos"]),
            ("王小明", ["王", "小", "明", "wang", "xiao", "ming", "wangxiaoming", "wxm"]),
            ("たなか", ["た", "な", "か", "tanaka"]), ("김", ["김", "gim", "ᄀ"]), ("C3 PO", ["c3", "po"]), ("", []), ("—!", []),
            ("a a A", ["a"]),
        ])
    func stored(text: String, words: [String]) {
        #expect(normalizer.storedWords(text).words == words)
    }

    @Test("Marks that count as letters in their script are kept")
    func otherMarks() {
        #expect(normalizer.folded("कुमार") == "कुमार")
        #expect(normalizer.folded("が") == "が")
        #expect(normalizer.folded("مُحَمَّد") == "محمد")
    }

    @Test("Query words are normalized like stored words", arguments: ["Łuk", "O'Br", "Straß", "Ива", "小明", "Ａｄ"])
    func typed(text: String) throws {
        let stored = normalizer.storedWords("Łukasz O’Brien Straße Иван 王小明 Ada").words
        let typed = try #require(normalizer.queryWords(text)).words
        #expect(!typed.isEmpty)
        #expect(typed.allSatisfy { word in stored.contains { $0.hasPrefix(word) } })
    }

    @Test("The longest word comes first; a word that is a prefix of another is left out")
    func telling() throws {
        #expect(try #require(normalizer.queryWords("an anna ann ber")).words == ["anna", "ber"])
        #expect(try #require(normalizer.queryWords(" , ")).words == [])
    }

    @Test("A query has at most sixteen words of 64 bytes")
    func bounds() throws {
        let letters = "bcdfghjklmnpqrstv".map(String.init)
        #expect(normalizer.queryWords(letters.prefix(16).joined(separator: " "))?.words.count == 16)
        #expect(normalizer.queryWords(letters.prefix(17).joined(separator: " ")) == nil)
        #expect(normalizer.queryWords(String(repeating: "a ", count: 3_000)) == nil)
        let long = String(repeating: "é", count: 65)
        #expect(try #require(normalizer.queryWords(long)).words == [String(repeating: "e", count: 64)])
        let wide = String(repeating: "ж", count: 33)
        #expect(normalizer.storedWords(wide).words.first == String(repeating: "ж", count: 32))
        // Only 16,384 bytes are read; they end within a word.
        #expect(normalizer.storedWords(String(repeating: "ab cd ", count: 50_000)).words == ["ab", "cd", "c"])
        let many = (0..<200).map { "w\($0)" }.joined(separator: " ")
        #expect(normalizer.storedWords(many).words.count == 64)
    }
}

@Suite("Sort keys")
struct CollationKeyTests {
    let normalizer: Normalizer
    init() throws { normalizer = try #require(Normalizer(locale: "")) }

    private func contact(_ given: String, _ family: String = "", _ change: (inout Contact) -> Void = { _ in })
        -> Contact
    {
        var contact = Contact()
        contact.givenName = given
        contact.familyName = family
        change(&contact)
        return contact
    }

    private func isSorted(_ contacts: [Contact], byFamilyName: Bool = false) -> Bool {
        let keys = contacts.map {
            let keys = normalizer.collationKeys(of: $0)
            return byFamilyName ? keys.familyName : keys.givenName
        }
        return zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
    }

    @Test("Accents and letter case count last, scripts are grouped, contacts without a name come last")
    func names() {
        #expect(
            isSorted([
                contact("ada"), contact("Ada"), contact("Ädä"), contact("Adam"), contact("Émile"), contact("Zoë"),
                contact("Иван"), contact("王"), contact(""),
            ]))
    }

    @Test("The first name decides before the second is compared")
    func parts() {
        #expect(isSorted([contact("Ann", "Zola"), contact("Anna", "Abel"), contact("Annabel", "A")]))
        #expect(isSorted([contact("Zoe", "Abel"), contact("Ann", "Zola")], byFamilyName: true))
        #expect(isSorted([contact("Ann"), contact("Ann", "Abel"), contact("Ann", "Zola")]))
        #expect(isSorted([contact("", "Abel"), contact("Ben", "Adler"), contact("Cid", "")], byFamilyName: true))
    }

    @Test("Organisations, nicknames and phonetic names are sorted where people expect them")
    func others() {
        let firm = contact("") { $0.organizationName = "Bakery" }
        let shop = contact("Zed") {
            $0.contactType = .organization
            $0.organizationName = "Cobbler"
        }
        let friend = contact("") { $0.nickname = "Dodo" }
        let japanese = contact("", "王") { $0.phoneticFamilyName = "Eno" }
        #expect(isSorted([contact("Ada"), firm, shop, friend, japanese, contact("Fay")]))
        #expect(isSorted([contact("Ada"), firm, shop, friend, japanese, contact("Fay")], byFamilyName: true))
    }

    @Test("A sort key is truncated at its bound, however long the name")
    func bound() {
        for name in ["", "Ada", String(repeating: "王", count: 50), String(repeating: "é", count: 500_000)] {
            let keys = normalizer.collationKeys(of: contact(name, name))
            #expect(keys.givenName.bytes.count <= CollationKey.maximumSize)
            #expect(!keys.familyName.bytes.isEmpty)
        }
        let long = normalizer.collationKeys(of: contact(String(repeating: "x", count: 1_000))).givenName
        #expect(long.bytes.count == CollationKey.maximumSize)
    }

    @Test("The locale decides the order")
    func locale() throws {
        let swedish = try #require(Normalizer(locale: "sv_SE"))
        #expect(isSorted([contact("Åke"), contact("Zed")]))
        let keys = [contact("Zed"), contact("Åke")].map { swedish.collationKeys(of: $0).givenName }
        #expect(keys[0] < keys[1])
        #expect(swedish.version != normalizer.version)
        let german = try #require(Normalizer(locale: "de_DE.UTF-8"))
        #expect(german.version == Normalizer(locale: "de_DE")?.version)
        #expect(Normalizer(locale: "no such locale") != nil)
        #expect(Normalizer(locale: "C") != nil)
    }
}

@Suite("E-mail addresses and phone numbers")
struct MatchKeyTests {
    @Test(
        "E-mail addresses are compared without letter case and surrounding spaces",
        arguments: [
            ("Ada@Example.ORG", "ada@example.org", true), (" ada@example.org\n", "ada@example.org", true),
            ("ADÄ@x.org", "adä@X.org", true), ("ada@x.org", "adá@x.org", false), ("a.da@x.org", "ada@x.org", false),
            ("ada+1@x.org", "ada@x.org", false), ("ada@x.org", "ada@x.or", false),
        ])
    func emails(one: String, other: String, same: Bool) throws {
        let normalizer = try #require(Normalizer(locale: ""))
        let key = EmailMatchKey(one, normalizer)
        #expect(key != nil)
        #expect((key == EmailMatchKey(other, normalizer)) == same)
    }

    @Test("An empty address, and one above the bound, match nothing")
    func noEmails() throws {
        let normalizer = try #require(Normalizer(locale: ""))
        #expect(EmailMatchKey("", normalizer) == nil)
        #expect(EmailMatchKey(" \t", normalizer) == nil)
        #expect(EmailMatchKey(String(repeating: "a", count: 512), normalizer) != nil)
        #expect(EmailMatchKey(String(repeating: "a", count: 513), normalizer) == nil)
    }

    @Test(
        "A text without digits, or with too many, is not a number",
        arguments: ["", "none", "000", String(repeating: "1", count: 33)])
    func noPhones(text: String) throws {
        #expect(PhoneDigits(text) == nil)
        for region in ["", "GB"] {
            let normalizer = try #require(Normalizer(locale: "", region: region))
            #expect(PhoneMatchKey(text, normalizer) == nil)
        }
        #expect(PhoneDigits(String(repeating: "1", count: 32)) != nil)
    }
}
