import BrokerModel
import Testing

@testable import BrokerContactsStore
@testable import BrokerNormalization

@Suite("SQLite's query plans")
struct PlanTests {
    private func plan(_ sql: String, _ book: Book) throws -> String {
        try book.folder.plan(sql).joined(separator: "; ")
    }

    @Test(
        "Queries within a set of records use their primary key, and no index",
        arguments: [
            ReadSQL.contact, ReadSQL.exists, ReadSQL.images(.images), ReadSQL.sortKey(.givenName),
            ReadSQL.sortKey(.familyName), ReadSQL.emailOfRecord, ReadSQL.phonesOfRecord,
        ])
    func scoped(sql: String) throws {
        let plan = try plan(sql, Book())
        #expect(plan.hasPrefix("SEARCH"))
        #expect(plan.contains("PRIMARY KEY (record=?") || plan.contains("PRIMARY KEY (rowid=?"))
        #expect(!plan.contains("SCAN") && !plan.contains(" BY") && !plan.contains(";"))
    }

    private static let keySets: [ContactKeySet] = [
        Match.nameWords, ContactKeySet([.familyName]), ContactKeySet([.givenName, .familyName]),
        Match.wordKeys, Match.wordKeys.subtracting(ContactKeySet([.nickname])),
    ]

    @Test("The ranges of words contain no key outside the set, and are as few as possible")
    func ranges() {
        #expect(Match.wordKeys.wordRanges.count == 1 && Match.nameWords.wordRanges.count == 1)
        for keys in Self.keySets + Match.wordKeys.keys.map({ Match.wordKeys.subtracting(ContactKeySet([$0])) }) {
            let ranges = keys.wordRanges
            for key in Match.wordKeys.keys {
                #expect(ranges.contains { $0.contains(key.index) } == keys.contains(key))
            }
        }
    }

    @Test("A search reads only words of the keys that the caller may read, in every plan", arguments: keySets)
    func keys(keys: ContactKeySet) throws {
        let book = try Book()
        let words = ["ada", "love"]
        let condition = try #require(Condition(.words(words, in: keys)))
        let having = Condition(having: words, keys)
        let statements = [
            ReadSQL.wordOfRecord(keys), ReadSQL.countWords(keys), ReadSQL.followers(having, byHand: true),
            ReadSQL.count(.words(words, in: keys), condition), ReadSQL.count(.words(["ada"], in: keys), condition),
            ReadSQL.sorted(condition, .none, after: nil, limit: nil),
            ReadSQL.walked(having, .familyName, after: nil, limit: 20, steps: 100),
        ]
        for sql in statements {
            let steps = try plan(sql, book).split(separator: "; ").filter { $0.contains("word") }
            #expect(!steps.isEmpty)
            for step in steps {
                #expect(
                    step.contains("wordByKey (key=? AND word>? AND word<?)")
                        || step.contains("word USING PRIMARY KEY (record=? AND key>? AND key<?)"), "\(sql)")
            }
        }
    }

    @Test("An app's groups are found among its own only, so other groups are not read")
    func ownGroups() throws {
        let plan = try plan(ReadSQL.groupOfOwner, Book())
        #expect(plan == "SEARCH contactGroup USING INDEX groupByOwner (owner=? AND record=? AND rowid=?)")
    }

    @Test("One index gives the changes of groups, and another one a record's membership changes")
    func groups() throws {
        let book = try Book()
        #expect(try plan(ReadSQL.changesOfGroups, book) == "SEARCH change USING INDEX changeOfGroups (number>?)")
        #expect(
            try plan(ReadSQL.changesOfMember, book)
                == "SEARCH change USING INDEX changeByMember (member=? AND rowid>?)")
    }

    @Test("Queries of the whole book start from the index for their predicate")
    func whole() throws {
        let book = try Book()
        let keys = ContactKeySet.names
        let words = try #require(Condition(.words(["ada", "love"], in: keys)))
        let named = try plan(ReadSQL.sorted(words, .givenName, after: nil, limit: 20), book)
        #expect(named.contains("wordByKey (key=? AND word>? AND word<?)"))
        #expect(named.contains("word USING PRIMARY KEY (record=? AND key>? AND key<?)"))
        let email = try plan(ReadSQL.count(.email("a"), try #require(Condition(.email("a")))), book)
        #expect(email.contains("emailByAddress (address=?)"))
        let number = PhoneMatchKey(national: "1234567890", country: 44, extensionDigits: "")
        let phone = try plan(ReadSQL.count(.phone(number), try #require(Condition(.phone(number)))), book)
        #expect(phone.contains("COVERING INDEX phoneByNational (national=?)"))
        #expect(phone.contains("COVERING INDEX phoneByNational (national>? AND national<?)"))
        for plan in [named, email, phone] { #expect(!plan.contains("SCAN")) }
    }

    @Test("A page starts at its cursor in the index")
    func pages() throws {
        let book = try Book()
        #expect(
            try plan(ReadSQL.page(.none, .laterRecords), book) == "SEARCH contact USING INTEGER PRIMARY KEY (rowid>?)")
        #expect(
            try plan(ReadSQL.page(.familyName, .laterNames), book)
                == "SEARCH contact USING INDEX contactByFamilyName (familyNameKey>?)")
        #expect(
            try plan(ReadSQL.page(.familyName, .sameName), book)
                .hasPrefix("SEARCH contact USING INDEX contactByFamilyName (familyNameKey=? AND "))
        #expect(try plan(ReadSQL.page(.givenName, .everybody), book) == "SCAN contact USING INDEX contactByGivenName")
    }
}
