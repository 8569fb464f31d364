import Contacts
import Foundation
import Testing

@Suite("The comparator's order")
struct ComparatorTests {
    private static func person(_ family: String, _ given: String = "", _ change: (CNMutableContact) -> Void = { _ in })
        -> CNContact
    {
        let contact = CNMutableContact()
        (contact.familyName, contact.givenName) = (family, given)
        change(contact)
        return contact
    }

    private func sorted(_ people: [CNContact], _ language: String, _ order: CNContactSortOrder = .familyName)
        -> [String]
    {
        let comparator = CNContact.comparator(order, language: language)
        return people.reversed().sorted { comparator($0, $1) == .orderedAscending }.map { person in
            [person.givenName, person.familyName, person.organizationName, person.nickname].joined()
        }
    }

    /// The same lists as in the tests of the store.
    @Test(
        "People are in the alphabet of the language, as in the store",
        arguments: [
            ("", ["Åberg", "Ärlig", "Cech", "Chudy", "Hora", "Öberg", "Ohm", "Zorn"]),
            ("sv_SE.UTF-8", ["Cech", "Chudy", "Hora", "Ohm", "Zorn", "Åberg", "Ärlig", "Öberg"]),
            ("sk", ["Åberg", "Ärlig", "Cech", "Hora", "Chudy", "Öberg", "Ohm", "Zorn"]),
        ])
    func languages(language: String, expected: [String]) {
        let people = ["Ohm", "Öberg", "Zorn", "Åberg", "Ärlig", "Cech", "Chudy", "Hora"].map { Self.person($0) }
        #expect(sorted(people, language) == expected)
        #expect(sorted(people, language, .givenName) == expected)
    }

    @Test("Organizations, nicknames and phonetic names count as in the store, and nameless contacts come last")
    func others() {
        let people = [
            Self.person("Zorn", "Ada"), Self.person("Abel", "Zoe"),
            Self.person("Ignored", "Ignored") {
                $0.contactType = .organization
                $0.organizationName = "Mint"
            },
            Self.person("") { $0.nickname = "Bo" }, Self.person(""),
            Self.person("山田", "太郎") { ($0.phoneticFamilyName, $0.phoneticGivenName) = ("Yamada", "Taro") },
        ]
        #expect(sorted(people, "en") == ["ZoeAbel", "Bo", "IgnoredIgnoredMint", "太郎山田", "AdaZorn", ""])
        #expect(sorted(people, "en", .givenName) == ["AdaZorn", "Bo", "IgnoredIgnoredMint", "太郎山田", "ZoeAbel", ""])
    }

    @Test("Properties that were not fetched are ignored")
    func unfetched() throws {
        let comparator = CNContact.comparator(.familyName, language: "sv")
        #expect(comparator(Self.person("a"), Self.person("a")) == .orderedSame)
        #expect(comparator(Self.person("å"), Self.person("z")) == .orderedDescending)
        #expect(comparator("no contact", Self.person("z")) == .orderedSame)
    }
}
