import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactsStore

/// A card with the given e-mail address and number, if any.
func card(_ given: String, _ family: String = "", email: [String] = [], phone: [String] = []) -> Contact {
    person(given, family) {
        $0.emailAddresses = email.map { LabeledString(value: $0) }
        $0.phoneNumbers = phone.map { LabeledString(value: $0) }
    }
}

extension ContactsStore {
    /// The sets of two or more cards, each in ascending order.
    func sets(_ links: ContactLinks? = nil, of records: ClosedRange<Int64>) -> [[Int64]] {
        let links = links ?? self.links
        return Set(records.map { links.members(of: RecordNumber($0)).map(\.rawValue) }).filter { $0.count > 1 }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Adds cards, each to a container of its own, because evidence links no cards of one container.
    @discardableResult
    func add(_ contacts: [Contact], from first: Int64 = 1, isEvidence: Bool = true) throws -> [BookChange] {
        let records = contacts.indices.map { RecordNumber(first + Int64($0)) }
        let adding = zip(records, contacts).map { ContactChange.add($0, $1) }
        return try apply(adding + separate(records), at: 1, isEvidence: isEvidence)
    }

    /// The steps that put each card into a container of its own. A book has at most 256, so cards whose numbers differ by
    /// a multiple of 199 share one.
    func separate(_ records: [RecordNumber]) throws -> [ContactChange] {
        var known = Set(try containers().map(\.record))
        return records.flatMap { record -> [ContactChange] in
            let container = RecordNumber(1_000_000 + abs(record.rawValue) % 199)
            let put = ContactChange.container(.put(record, isGroup: false, in: container))
            let isNew = known.insert(container).inserted
            return isNew ? [.container(.add(container, name: "C\(container.rawValue)")), put] : [put]
        }
    }
}

@Suite("Links by evidence")
struct EvidenceTests {
    static let home = "+49 30 5550101"
    static let mobile = "+49 171 5550102"

    static func told(_ changes: [BookChange]) -> [String] {
        changes.filter(\.kind.isOfLinks).map { "\($0.kind) \($0.record.rawValue) \($0.member?.rawValue ?? 0)" }
    }
    static func link(_ one: Int64, _ other: Int64) -> ContactChange {
        .link(.link(RecordNumber(one), RecordNumber(other)))
    }
    private static func unlink(_ one: Int64, from other: Int64) -> ContactChange {
        .link(.unlink(RecordNumber(one), from: RecordNumber(other)))
    }

    @Test("Cards with a common address or number and the same name are linked")
    func linking() throws {
        let book = try Book()
        let made = try book.store.add([
            card("Ada", "Lovelace", email: ["ada@example.org"]), card("ADA", "Lovelace", email: ["Ada@Example.org"]),
            card("Ada", "Lovelace", phone: [Self.home]), card("Bob", "Lovelace", email: ["ada@example.org"]),
            card("Ada", "Lovelace"), card("Ada", "Lovelace", email: ["other@example.org"]),
        ])
        #expect(Self.told(made) == ["linkByEvidence 1 2"])
        #expect(book.store.sets(of: 1...6) == [[1, 2]])
        // A card with both the address and the number is linked with all of them.
        try book.store.add(
            [card("A.", "Lovelace", email: ["ada@example.org"], phone: ["+49 (30) 555-0101"])], from: 7)
        #expect(book.store.sets(of: 1...7) == [[1, 2, 3, 7]])
        book.store.close()
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        #expect(again.sets(of: 1...7) == [[1, 2, 3, 7]])
        #expect(again.links(seeing: .names, within: .all).isEmpty)
    }

    @Test("Addresses and numbers that a family or a firm shares link no cards")
    func shared() throws {
        let book = try Book()
        var firm = card("", email: ["ada@acme.example"], phone: [Self.home])
        firm.organizationName = "Acme"
        var branch = firm
        branch.organizationName = "Acme Repairs"
        try book.store.add([
            card("John", "Smith", phone: [Self.home]), card("Jane", "Smith", phone: [Self.home]),
            card("", "Smith", phone: [Self.home]),
            card("", phone: [Self.home]), card("", phone: [Self.home]), firm, branch,
            card("Ada", "Lovelace", email: ["ada@acme.example"], phone: [Self.home]),
            // Two people of the same name at one firm.
            card("Kim", "Lee", email: ["info@acme.example"], phone: ["112"]),
            card("Kim", "Lee", email: ["info@acme.example"], phone: ["112"]),
        ])
        #expect(book.store.sets(of: 1...10) == [])
        firm.emailAddresses = [LabeledString(value: "info@acme.example")]
        firm.phoneNumbers = []
        try book.store.add([firm, firm], from: 11)
        #expect(book.store.sets(of: 1...12) == [[11, 12]])
    }

    @Test("An ambiguous initial is not linked, and is linked again when it is unambiguous")
    func ambiguous() throws {
        let book = try Book()
        try book.store.add([
            card("John", "Smith", phone: [Self.home]), card("J.", "Smith", phone: [Self.home]),
            card("John", "Smith", phone: [Self.home]),
        ])
        #expect(book.store.sets(of: 1...3) == [[1, 2, 3]])
        let made = try book.store.add([card("James", "Smith", phone: [Self.home])], from: 4)
        #expect(Self.told(made) == ["unlinkByEvidence 1 2", "unlinkByEvidence 2 3"])
        #expect(book.store.sets(of: 1...4) == [[1, 3]])
        // Once J. is linked with John, it is not linked with James.
        try book.store.apply([Self.link(1, 2)], at: 1)
        #expect(book.store.sets(of: 1...4) == [[1, 2, 3]])
        try book.store.apply([Self.unlink(2, from: 1)], at: 1)
        #expect(book.store.sets(of: 1...4) == [[1, 3], [2, 4]])
        try book.store.apply([.delete(RecordNumber(1)), .delete(RecordNumber(3))], at: 1)
        #expect(book.store.sets(of: 1...4) == [[2, 4]])
    }

    @Test("An edit that removes the evidence removes the link, but not links made by hand")
    func edits() throws {
        let book = try Book()
        try book.store.add([
            card("Ada", email: ["ada@example.org"]), card("Ada", email: ["ada@example.org"]), card("Eve"),
        ])
        try book.store.apply([Self.link(1, 3)], at: 1)
        #expect(book.store.sets(of: 1...3) == [[1, 2, 3]])
        #expect(book.store.sets(book.store.links(seeing: .names, within: .all), of: 1...3) == [[1, 3]])
        let emails = ContactKeySet([.emailAddresses])
        let away = try book.store.apply(
            [.update(RecordNumber(1), card(""), keys: emails)], at: 1, isEvidence: true)
        #expect(Self.told(away) == ["unlinkByEvidence 1 2", "unlinkByEvidence 2 3"])
        #expect(book.store.sets(of: 1...3) == [[1, 3]])
        let other = card("", email: ["eve@example.org"])
        try book.store.apply(
            [.update(RecordNumber(2), other, keys: emails), .update(RecordNumber(1), other, keys: emails)], at: 1,
            isEvidence: true)
        #expect(book.store.sets(of: 1...3) == [[1, 2, 3]])
        // A change of the name removes the link too.
        try book.store.apply(
            [.update(RecordNumber(2), person("Dora"), keys: ContactKeySet([.givenName]))], at: 1, isEvidence: true)
        #expect(book.store.sets(of: 1...3) == [[1, 3]])
    }

    @Test("A decision that two cards differ lasts until they are linked by hand")
    func unlike() throws {
        let book = try Book()
        let ada = card("Ada", email: ["ada@example.org"])
        try book.store.add([ada, ada, ada])
        let out = try book.store.apply([Self.unlink(1, from: 2)], at: 1)
        #expect(Self.told(out) == ["unlinkByEvidence 1 2", "unlinkByEvidence 1 3"])
        #expect(book.store.sets(of: 1...3) == [[2, 3]])
        try book.store.apply(
            [.update(RecordNumber(1), card("", phone: [Self.home]), keys: ContactKeySet([.phoneNumbers]))], at: 1,
            isEvidence: true)
        #expect(book.store.sets(of: 1...3) == [[2, 3]])
        // A fourth card could belong to either.
        try book.store.add([ada], from: 4)
        #expect(book.store.sets(of: 1...4) == [])
        try book.store.apply([.delete(RecordNumber(4))], at: 1)
        #expect(book.store.sets(of: 1...4) == [[2, 3]])
        book.store.close()
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        try again.apply(
            [.update(RecordNumber(3), card("", phone: [Self.home]), keys: ContactKeySet([.phoneNumbers]))], at: 1,
            isEvidence: true)
        #expect(again.sets(of: 1...3) == [[2, 3]])
        // The link cancels the decision for the whole set.
        try again.apply([Self.link(3, 1)], at: 1)
        #expect(again.sets(of: 1...3) == [[1, 2, 3]])
        #expect(again.sets(again.links(seeing: [], within: .all), of: 1...3) == [[1, 3]])
    }

    @Test("Unlinked cards can be marked as different before there is evidence")
    func ahead() throws {
        let book = try Book()
        try book.store.add([card("Ada", email: ["ada@example.org"]), card("Ada")])
        #expect(try book.store.apply([Self.unlink(2, from: 1), Self.unlink(1, from: 1)], at: 1) == [])
        let patch = card("Ada", email: ["ada@example.org"])
        try book.store.apply(
            [.update(RecordNumber(2), patch, keys: ContactKeySet([.emailAddresses]))], at: 1, isEvidence: true)
        #expect(book.store.links.isEmpty)
        // A later card with the record number of a deleted one is a different card.
        try book.store.apply([.delete(RecordNumber(2))], at: 1)
        try book.store.add([patch], from: 2)
        #expect(book.store.sets(of: 1...2) == [[1, 2]])
    }

    @Test("Values that an app with partial access writes link no cards")
    func unsure() throws {
        let book = try Book()
        let ada = card("Ada", email: ["ada@example.org"])
        try book.store.add([ada])
        try book.store.add([ada], from: 2, isEvidence: false)
        #expect(book.store.links.isEmpty)
        // A later edit of other keys by a trusted writer does not make the existing values trusted.
        try book.store.apply(
            [.update(RecordNumber(2), person("Ada") { $0.nickname = "A" }, keys: ContactKeySet([.nickname]))], at: 1,
            isEvidence: true)
        #expect(book.store.links.isEmpty)
        try book.store.apply([Self.link(1, 2)], at: 1)
        #expect(book.store.sets(of: 1...2) == [[1, 2]])
        // Nor does the link extend to others: 3 shares nothing with 1.
        try book.store.apply(
            [.update(RecordNumber(2), card("", phone: [Self.home]), keys: ContactKeySet([.phoneNumbers]))], at: 1)
        try book.store.add([card("Ada", phone: [Self.home])], from: 3)
        #expect(book.store.sets(of: 1...3) == [[1, 2]])
    }

    @Test("An edit by such an app keeps links whose evidence it does not change, and makes none")
    func unsureEdits() throws {
        let book = try Book()
        let ada = card("Ada", email: ["ada@example.org"], phone: [Self.home])
        try book.store.add([ada, ada, card("Bob", phone: [Self.mobile])])
        let write = { (contact: Contact, keys: [ContactKey]) in
            _ = try book.store.apply([.update(RecordNumber(1), contact, keys: ContactKeySet(keys))], at: 1)
        }
        try write(person("") { $0.jobTitle = "Countess" }, [.jobTitle])
        try write(
            person("") { $0.phoneNumbers = [LabeledString(label: "home", value: Self.home)] }, [.phoneNumbers])
        try write(card(""), [.emailAddresses])
        #expect(book.store.sets(of: 1...3) == [[1, 2]])
        // The app writes Bob's name and number to the card that it sees.
        try write(card("Bob", phone: [Self.home, Self.mobile]), [.givenName, .phoneNumbers])
        #expect(book.store.sets(of: 1...3) == [])
        try write(ada, [.givenName, .phoneNumbers, .emailAddresses])
        #expect(book.store.sets(of: 1...3) == [])
    }

    @Test("A number that more than sixteen cards have is not evidence, whatever the order")
    func switchboard() throws {
        let book = try Book()
        let most = Int64(LinkEvidence.mostCards)
        let worker = { (number: Int64) in card("Worker \(number)", phone: [Self.home]) }
        try book.store.add([card("Ada", phone: [Self.home]), card("Ada", phone: [Self.home])])
        try book.store.add((3...most).map(worker), from: 3)
        #expect(book.store.sets(of: 1...most) == [[1, 2]])
        let made = try book.store.add([worker(most + 1)], from: most + 1)
        #expect(Self.told(made) == ["unlinkByEvidence 1 2"])
        try book.store.apply([.delete(RecordNumber(most))], at: 1)
        #expect(book.store.sets(of: 1...most) == [[1, 2]])
        // Add many cards at once, with record numbers before and after those of the linked cards.
        try book.store.apply(
            (100...200).map { .add(RecordNumber($0), worker($0)) }
                + (0...9).map { .add(RecordNumber(-$0), worker($0)) },
            at: 1, isEvidence: true)
        #expect(book.store.links.isEmpty)
        // Cards without trusted values do not count.
        try book.store.apply(
            (100...200).map { .delete(RecordNumber($0)) } + (0...9).map { .delete(RecordNumber(-$0)) }, at: 1)
        #expect(book.store.sets(of: 1...most) == [[1, 2]])
        try book.store.add((300...400).map(worker), from: 300, isEvidence: false)
        #expect(book.store.sets(of: 1...most) == [[1, 2]])
    }

    @Test("No more than 64 cards are linked, and no card with more than 32 addresses")
    func bounds() throws {
        let book = try Book()
        let most = Int64(StoreLimits.linkedCards)
        let chain = { (number: Int64) in
            card("Ada", email: ["ada\(number)@example.org", "ada\(number + 1)@example.org"])
        }
        try book.store.add((1...most).map(chain))
        #expect(book.store.sets(of: 1...most) == [(1...most).map { $0 }])
        try book.store.add([chain(most + 1)], from: most + 1)
        #expect(book.store.links.isEmpty)
        try book.store.apply([.delete(RecordNumber(10))], at: 1)
        #expect(book.store.sets(of: 1...most + 1) == [(1...9).map { $0 }, (11...most + 1).map { $0 }])
        let many = (0..<LinkTables.mostValues).map { "many\($0)@example.org" }
        try book.store.add([card("Bob", email: many), card("Bob", email: [many[0]])], from: 1_000)
        #expect(book.store.sets(of: 1_000...1_001) == [[1_000, 1_001]])
        let patch = card("", email: many + ["one@example.org"])
        try book.store.apply(
            [.update(RecordNumber(1_000), patch, keys: ContactKeySet([.emailAddresses]))], at: 1, isEvidence: true)
        #expect(book.store.sets(of: 1_000...1_001) == [])
    }

    @Test("Evidence adds no card to a full set that was linked by hand, until there is room")
    func byHand() throws {
        let book = try Book()
        let most = Int64(StoreLimits.linkedCards)
        try book.store.add((1...most + 1).map { card("Ada", email: ["ada\($0)@example.org"]) })
        try book.store.apply((2...most).map { Self.link(1, $0) }, at: 1)
        let patch = card("", email: ["ada1@example.org"])
        try book.store.apply(
            [.update(RecordNumber(most + 1), patch, keys: ContactKeySet([.emailAddresses]))], at: 1, isEvidence: true)
        #expect(book.store.links.members(of: RecordNumber(most + 1)).count == 1)
        try book.store.apply([Self.unlink(2, from: 1)], at: 1)
        #expect(book.store.links.members(of: RecordNumber(most + 1)).count == Int(most))
    }

    @Test("An app that may not see the evidence sees neither the link nor a change")
    func audience() throws {
        let book = try Book()
        let ada = card("Ada", email: ["ada@example.org"])
        try book.store.add([ada])
        let before = book.store.lastChange
        try book.store.add([ada, card("Eve")], from: 2)
        let added = book.store.lastChange - 1
        try book.store.apply([Self.link(1, 2)], at: 1)
        let byHand = book.store.lastChange
        let app = [UInt8](repeating: 1, count: 16)
        let last = { (records: RecordScope, keys: ContactKeySet) in
            try book.store.lastChange(after: before, in: ChangeScope(records: records, keys: keys, app: app))
        }
        for records in [RecordScope.all, scope(1, 2)] {
            #expect(try last(records, .all) == added + 1)
            #expect(try last(records, BookLinks.evidenceKeys) == added + 1)
            #expect(try last(records, .names) == byHand)
        }
        #expect(try last(scope(1), .all) == nil)
        #expect(try book.records(.all, unifies: true) == [1, 3])
        try book.store.apply([Self.unlink(1, from: 2), Self.link(3, 2)], at: 1)
        #expect(try book.records(.all, .name("Ada"), seeing: .names, unifies: true) == [1, 2])
        #expect(try book.records(.all, .name("Eve"), seeing: .names, unifies: true) == [2])
        try book.store.add([card("Eve", phone: [Self.home]), card("Eve", phone: [Self.home])], from: 4)
        #expect(try book.records(.all, .name("Eve"), unifies: true) == [2, 4])
        #expect(try book.records(.all, .name("Eve"), seeing: .names, unifies: true) == [2, 4, 5])
    }

    @Test("In a book from before links by evidence no value is trusted, and links count as made by hand")
    func migration() throws {
        let book = try Book()
        let ada = card("Ada", email: ["ada@example.org"])
        try book.store.add([ada, ada, ada], isEvidence: false)
        try book.store.apply([Self.link(1, 2)], at: 1)
        book.store.close()
        try book.folder.execute(
            """
            DROP TABLE handLink; DROP TABLE unlike; DROP TABLE unsure; PRAGMA user_version = 7;
            DELETE FROM grdb_migrations WHERE identifier = '8: links by evidence'
            """)
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        try again.add([ada], from: 4)
        #expect(again.sets(of: 1...4) == [[1, 2]])
        #expect(again.sets(again.links(seeing: [], within: .all), of: 1...4) == [[1, 2]])
    }
}
