import BrokerModel
import Testing

@testable import BrokerContactFiles

@Suite("Finding duplicates")
struct DuplicateTests {
    private func contact(
        _ given: String, _ family: String = "", phone: String? = nil, email: String? = nil, uid: String? = nil
    ) -> Contact {
        var contact = Contact()
        (contact.givenName, contact.familyName) = (given, family)
        if let phone { contact.phoneNumbers = [LabeledString(label: "x", value: phone)] }
        if let email { contact.emailAddresses = [LabeledString(value: email)] }
        if let uid { contact.extraProperties = ["UID:\(uid)"] }
        return contact
    }

    private func evidence(_ stored: Contact, _ card: Contact) -> DuplicateEvidence? {
        var index = DuplicateIndex<Int>()
        index.insert(DuplicateFingerprint(contact("Somebody", "Else", phone: "112")), as: 1)
        index.insert(DuplicateFingerprint(stored), as: 2)
        let match = index.match(DuplicateFingerprint(card))
        #expect(match == nil || match?.reference == 2)
        return match?.evidence
    }

    @Test("Duplicates have the same UID, the same name with a common address or number, or identical cards")
    func found() {
        let ada = contact("Ada", "Lovelace", phone: "+44 20 7946 0001", email: "ada@example.org", uid: "A-1")
        #expect(evidence(ada, contact("Augusta", uid: "A-1")) == .uid)
        #expect(evidence(ada, contact("ada", "LOVELACE", email: "ADA@example.org")) == .nameAndEmail)
        #expect(evidence(ada, contact("Ada", "Lovelace", phone: "020 7946-0001")) == .nameAndPhone)
        #expect(evidence(contact("Emmy", "Noether"), contact("Emmy", "Noether")) == .sameCard)
    }

    @Test("The same name alone makes no duplicate, nor does one number with two names")
    func notFound() {
        let ada = contact("Ada", "Lovelace", phone: "+44 20 7946 0001", email: "ada@example.org", uid: "A-1")
        #expect(evidence(ada, contact("Ada", "Lovelace")) == nil)
        #expect(evidence(ada, contact("Ada", "Lovelace", phone: "+44 20 7946 0002", email: "a@example.org")) == nil)
        #expect(evidence(ada, contact("Byron", "Lovelace", phone: "+44 20 7946 0001")) == nil)
        #expect(evidence(ada, contact("Augusta", uid: "a-1")) == nil)
        #expect(evidence(contact("Ann", phone: "1"), contact("Ann", email: "1")) == nil)
    }

    @Test("A match says which values differ, and a date without a year differs from no year")
    func differing() throws {
        func ada(_ birthday: String, _ title: String = "") -> Contact {
            var ada = contact("Ada", "Lovelace", email: "ada@example.org")
            (ada.birthday, ada.jobTitle) = (birthday, title)
            return ada
        }
        func match(_ stored: Contact, _ card: Contact) throws -> DuplicateIndex<Int>.Match {
            var index = DuplicateIndex<Int>()
            index.insert(DuplicateFingerprint(stored), as: 1)
            return try #require(index.match(DuplicateFingerprint(card)))
        }
        for (one, two, differs) in [
            ("1950-01-31", "1980-01-31", true), ("1950-01-31", "1950-02-01", true), ("1950-01-31", "--01-31", false),
            ("--01-31", "--02-01", true), ("", "1980-01-31", false), ("1950-01-31", "1950-01-31", false),
        ] {
            let found = try match(ada(one), ada(two))
            #expect(found.differing == (differs ? ContactKeySet(.birthday) : []), "\(one) \(two)")
            #expect(found.hasOtherBirthday == differs && found.isSameCard == (one == two))
        }
        #expect(try match(ada("", "Baker"), ada("", "baker ")).differing == [])
        #expect(try match(ada("", "Baker"), ada("", "Buyer")).differing == ContactKeySet(.jobTitle))
        var (one, two) = (ada("1950-01-31"), ada("1980-01-31"))
        (one.extraProperties, two.extraProperties) = (["UID:a"], ["UID:a"])
        #expect(try !match(one, two).hasOtherBirthday && match(one, two).differing == ContactKeySet(.birthday))
    }

    @Test("Comparing ignores Unicode forms, and keeps adjacent values apart")
    func texts() {
        let zoe = contact("Zo\u{EB}", "N\u{FA}\u{F1}ez")
        #expect(evidence(zoe, contact("Zoe\u{308}", "Nu\u{301}n\u{303}ez")) == .sameCard)
        #expect(evidence(contact("Zo\u{EB}"), contact("Zo\u{E9}")) == nil)
        #expect(evidence(contact("\"Ada", "b"), contact("\"Ad", "ab")) == nil)
        #expect(evidence(contact("A", "\"\"B"), contact("A\"", "\"B")) == nil)
    }

    @Test("UUIDs are compared regardless of their spelling")
    func uuid() {
        let uuid = "8bf87495-a576-b43e-7ede-6a2e97165ee5"
        #expect(evidence(contact("A", uid: uuid), contact("B", uid: "urn:uuid:\(uuid.uppercased())")) == .uid)
        #expect(ContactUID.made(from: "8bf87495a576b43e7ede6a2e97165ee5") == uuid)
        #expect(ContactUID.made(from: "N1") == nil)
    }

    @Test("Categories become groups, except the one of all contacts")
    func categories() {
        var contact = contact("A")
        contact.extraProperties = ["item1.CATEGORIES;X=\"a:b\":Chess\\, Club,myContacts,VIP", "categories:VIP, Work"]
        #expect(ContactUID.categories(of: contact) == ["Chess, Club", "VIP", "Work"])
    }

    @Test("A vdir file name depends only on the UID, and is always a safe name")
    func names() {
        #expect(VdirName.of(uid: "abc-1@x.example") == "abc-1@x.example.vcf")
        for uid in ["../x", ".x", "a/b", "", "a b", String(repeating: "x", count: 201), "é", "-rf", "-"] {
            let name = VdirName.of(uid: uid)
            #expect(name.hasPrefix("uid-") && !name.contains("/") && name == VdirName.of(uid: uid))
        }
    }

    @Test("The format of a file is detected from its beginning")
    func formats() {
        #expect(FileFormat(beginning: Array("\u{FEFF}begin:vcard\r\n".utf8)) == .vcard)
        #expect(
            FileFormat(beginning: []) == .vcard && FileFormat(beginning: Array("First Name,Last Name\n".utf8)) == .csv)
        #expect(
            FileFormat(beginning: [0xFF, 0xFE] + "A,B".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }) == .csv)
        #expect(FileFormat(beginning: [0x89, 0x50, 0x4E, 0x47]) == nil)
    }
}

@Suite("Birthdays")
struct BirthdayTests {
    @Test(
        "The next occurrence of a birthday",
        arguments: [
            ("1815-12-10", "2026-12-10", 18, 211), ("--11-22", "2026-11-22", 0, nil),
            ("1990-11-21", "2027-11-21", 364, 37),
            ("--01-01", "2027-01-01", 40, nil),
        ] as [(String, String, Int, Int?)])
    func next(birthday: String, day: String, days: Int, age: Int?) throws {
        let next = try #require(BirthdayCalendar(today: "2026-11-22")?.next(birthday))
        #expect(next.next == day && next.daysUntil == days && next.age == age && !next.isMoved)
    }

    @Test("A birthday on 29 February is on the 28th in other years")
    func leap() throws {
        let moved = try #require(BirthdayCalendar(today: "2027-02-01")?.next("2000-02-29"))
        #expect(moved.next == "2027-02-28" && moved.isMoved && moved.age == 27 && moved.daysUntil == 27)
        let there = try #require(BirthdayCalendar(today: "2028-02-28")?.next("--02-29"))
        #expect(there.next == "2028-02-29" && !there.isMoved && there.daysUntil == 1)
        let after = try #require(BirthdayCalendar(today: "2027-03-01")?.next("--02-29"))
        #expect(after.next == "2028-02-29" && after.daysUntil == 365)
    }

    @Test("A card with an invalid date has no birthday")
    func none() {
        #expect(BirthdayCalendar(today: "2027-02-29") == nil && BirthdayCalendar(today: "--02-28") == nil)
        #expect(BirthdayCalendar(today: "2027-02-28")?.next("1990-02-30") == nil)
    }
}
