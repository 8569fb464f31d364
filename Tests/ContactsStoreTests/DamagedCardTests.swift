@_spi(StoredBytes) import BrokerModel
import BrokerSQLite
import Synchronization
import Testing

@testable import BrokerContactsStore

/// Ways to damage the bytes of a card.
enum CardDamage: CaseIterable {
    case flippedBit, invalidText, cutOff, empty, missingKey, otherName, otherCard, swappedRows, noChecksum

    /// - Parameter other: the bytes of another card.
    func bytes(of card: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var bytes = card
        // A position within the value of the last member, before its quotation mark.
        let inValue = bytes.count - 2
        switch self {
        case .flippedBit: bytes[inValue] ^= 1
        case .invalidText: bytes[inValue] = 0xFF
        case .cutOff: bytes.removeLast(3)
        case .empty: bytes = []
        // Clear a bit of the header that stands for a key of the card.
        case .missingKey:
            for index in (2..<10).reversed() where bytes[index] != 0 {
                bytes[index] &= bytes[index] &- 1
                break
            }
        // Change the name of the first member, after its comma and quotation mark.
        case .otherName: bytes[10 + 4 * Int(bytes[1]) + 2] ^= 1
        case .otherCard, .swappedRows: bytes = other
        case .noChecksum: break
        }
        return bytes
    }
}

/// Receives reports from any thread.
private final class Report: Sendable {
    private let reported = Mutex<[DamagedCard]>([])
    var cards: [DamagedCard] { reported.withLock { $0 } }
    func add(_ card: DamagedCard) { reported.withLock { $0.append(card) } }
}

/// A book with Ada, Bob, Cid and Dan, in which Bob's card is damaged, and the reports about it.
private final class DamagedBook {
    private let report: Report
    private let folder: ScratchFolder
    let store: ContactsStore

    var reported: [DamagedCard] { report.cards }

    /// - Parameter sql: runs on the closed book, after the damage.
    init(_ damage: CardDamage, linking others: [Int64] = [], then sql: String = "") throws {
        let book = try Book(["Ada", "Bob", "Cid", "Dan"].map { name in person(name) { $0.note = "of " + name } })
        for other in others { try book.store.apply([.link(.link(RecordNumber(2), RecordNumber(other)))], at: 0) }
        book.store.close()
        let database = try Database(path: book.folder.file, .readWrite, patience: 0)
        let select = try PreparedStatement("SELECT stored, checksum FROM contact WHERE record IN (2, 3)", on: database)
        var rows: [(stored: [UInt8], checksum: Int64)] = []
        while try select.step() { rows.append((select.bytes(0), select.integer(1))) }
        let update = try PreparedStatement("UPDATE contact SET stored = ?, checksum = ? WHERE record = 2", on: database)
        update.bind(1, damage.bytes(of: rows[0].stored, rows[1].stored))
        if damage != .noChecksum { update.bind(2, rows[damage == .swappedRows ? 1 : 0].checksum) }
        try update.run()
        try database.execute(sql)
        database.close()
        folder = book.folder
        let report = Report()
        self.report = report
        store = try #require(
            try ContactsStore.open(folder: folder.book, owner: owner, creating: false) { report.add($0) })
    }

    deinit { store.close() }

    func names(_ query: ContactQuery, _ manner: ReadingManner = .whole) throws -> [String] {
        var names: [String] = []
        var query = query
        while true {
            let (rows, end) = try store.fetch(unified: query, manner)
            names += rows.map { row in
                ([row] + row.others).compactMap { Contact($0.contact)?.givenName }.joined(separator: "+")
            }
            guard end.hasMore else { return names }
            query.after = end.last
        }
    }
}

@Suite("Damaged cards")
struct DamagedCardTests {
    @Test("Reads omit a damaged card, return the others unchanged, and report it once", arguments: CardDamage.allCases)
    func reads(damage: CardDamage) throws {
        let book = try DamagedBook(damage)
        let intact = ["Ada", "Cid", "Dan"]
        for manner in [ReadingManner.whole, .bounded, .onWorker] {
            for order in ContactOrder.allCases {
                for limit in [1, 2, 100] {
                    #expect(try book.names(ContactQuery(scope: .all, order: order, limit: limit), manner) == intact)
                    // This query does not follow the stored order, because the given name counts as empty.
                    let query = ContactQuery(
                        scope: .all, matchKeys: ContactKeySet([.familyName, .note]), order: order, limit: limit)
                    #expect(try book.names(query, manner) == intact)
                }
                #expect(try book.names(ContactQuery(scope: scope(1, 2, 3), order: order), manner) == ["Ada", "Cid"])
                let found = ContactQuery(scope: .all, predicate: .name("b"), order: order)
                #expect(try book.names(found, manner) == [])
            }
            #expect(try book.names(ContactQuery(scope: scope(2)), manner) == [])
            let named = ContactPredicate.records([RecordNumber(2), RecordNumber(3)])
            #expect(try book.names(ContactQuery(scope: .all, predicate: named), manner) == ["Cid"])
            let search = PersonSearch("", scope: .all, order: .givenName, offset: 0, limit: 10)
            #expect(try book.store.search(search, manner).rows.compactMap { Contact($0.1)?.givenName } == intact)
        }
        #expect(book.reported == [DamagedCard(record: RecordNumber(2), count: 1)])
    }

    @Test("If one of several linked cards is damaged, the others are returned under their former number")
    func linked() throws {
        let first = try DamagedBook(.flippedBit, linking: [3])
        let unified = ContactQuery(scope: .all, order: .givenName, unifies: true)
        #expect(try first.names(unified) == ["Ada", "+Cid", "Dan"])
        #expect(try first.store.fetch(unified: unified).rows.map(\.record.rawValue) == [1, 2, 4])
        // An app that may see only that card sees no contact.
        #expect(try first.names(ContactQuery(scope: scope(2), unifies: true)) == [])
        let later = try DamagedBook(.flippedBit, linking: [1])
        #expect(try later.names(unified) == ["Ada", "Cid", "Dan"])
    }

    @Test("Changing a damaged card fails; deleting it works", arguments: [[], [1], [3]])
    func writes(linked: [Int64]) throws {
        let book = try DamagedBook(.invalidText, linking: linked)
        let update = ContactChange.update(RecordNumber(2), person("Bo"), keys: ContactKeySet([.givenName]))
        #expect(throws: ChangeError.store(.damagedCard(record: 2))) { try book.store.apply([update], at: 0) }
        try book.store.apply([.delete(RecordNumber(2))], at: 0)
        #expect(try book.names(ContactQuery(scope: .all)) == ["Ada", "Cid", "Dan"])
        #expect(try book.store.existing([RecordNumber(2)]).isEmpty)
    }

    @Test("A book with a damaged card opens even if its search tables must be rebuilt", arguments: CardDamage.allCases)
    func rebuilt(damage: CardDamage) throws {
        let book = try DamagedBook(damage, then: "UPDATE book SET forms = ''")
        #expect(try book.names(ContactQuery(scope: .all, predicate: .name("c"))) == ["Cid"])
        #expect(try book.names(ContactQuery(scope: .all, predicate: .name("b"))) == [])
    }

    @Test(
        "A book without checksums gets them, except for unreadable cards",
        arguments: [CardDamage.invalidText, .cutOff, .empty, .missingKey, .otherName])
    func migrated(damage: CardDamage) throws {
        let book = try DamagedBook(
            damage,
            then: """
                ALTER TABLE contact DROP COLUMN checksum;
                DELETE FROM grdb_migrations WHERE identifier = '11: checksums';
                PRAGMA user_version = 10;
                """)
        #expect(try book.names(ContactQuery(scope: .all)) == ["Ada", "Cid", "Dan"])
        #expect(book.reported.map(\.record.rawValue) == [2])
    }

    @Test("A photo that is not base64 is left out of its card and reported; its size is known without reading it")
    func photos() throws {
        let photo = "/9j/" + String(repeating: "QUJD", count: 1_000)
        let folder = try ScratchFolder()
        let report = Report()
        let store = try #require(
            try ContactsStore.open(folder: folder.book, owner: owner, creating: true) { report.add($0) })
        defer { store.close() }
        try store.apply(
            [.add(RecordNumber(1), person("Ada") { $0.imageData = photo }), .add(RecordNumber(2), person("Bob"))],
            at: 0)
        let query = ContactQuery(scope: .all, images: .images)
        #expect(try store.fetch(unified: query).rows.map { $0.images?.imageData != nil } == [true, false])
        let database = try Database(path: folder.file, .readWrite, patience: 0)
        try database.execute(
            "UPDATE image SET imageData = CAST(replace(CAST(imageData AS TEXT), '9j', '\"}') AS BLOB)")
        database.close()
        #expect(try store.photoSize(of: [RecordNumber(1), RecordNumber(2)], .images) == photo.utf8.count)
        #expect(report.cards.isEmpty)
        let rows = try store.fetch(unified: query).rows
        #expect(rows.map { Contact($0.contact)?.givenName } == ["Ada", "Bob"])
        #expect(rows.allSatisfy { $0.images?.imageData == nil })
        #expect(report.cards.map(\.record.rawValue) == [1])
    }
}
