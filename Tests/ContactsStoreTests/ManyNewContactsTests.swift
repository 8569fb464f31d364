import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("Many new contacts in one save")
struct ManyNewContactsTests {
    /// More than the threshold for a second thread, and more than fit in one statement.
    private static let count = Int64(128 + ContactsAhead.fewest + 1)

    private static func contact(_ number: Int64) -> Contact {
        let names = [("Änne", "Groß"), ("Ada", "O'Brien"), ("伟", "王"), ("Анна", "Щербаков"), ("", "")]
        let (given, family) = names[Int(number) % names.count]
        return person(given, family) {
            $0.organizationName = number % 3 == 0 ? "Hafen & Söhne \(number)" : ""
            $0.phoneNumbers = [
                LabeledString(value: "+44 20 7946 \(1_000 + number)"), LabeledString(value: "no number"),
            ]
            $0.emailAddresses = [LabeledString(value: "person.\(number)@example.org"), LabeledString(value: "a@b")]
            $0.imageData = number % 5 == 0 ? "AAAA" : ""
        }
    }

    private static let tables = ["contact", "word", "beginning", "email", "phone", "image", "link", "change"]

    /// The tables' contents, except for the change number of each row.
    private func rows(_ book: Book, _ table: String) throws -> [[String]] {
        let columns = table == "change" ? "kind, record, member, keys" : "*"
        return try book.folder.rows("SELECT \(columns) FROM \(table)")
    }

    private func add(_ numbers: some Sequence<Int64>, to book: Book) throws {
        try book.store.apply(numbers.map { .add(RecordNumber($0), Self.contact($0)) }, at: 0)
    }

    @Test("Every table has the same rows as if each contact were saved alone")
    func asAlone() throws {
        let (together, alone) = (try Book(region: "GB"), try Book(region: "GB"))
        try add(1...Self.count, to: together)
        for number in 1...Self.count { try add([number], to: alone) }
        for table in Self.tables where table != "link" {
            let written = try rows(together, table)
            #expect(try written == rows(alone, table), "\(table)")
            #expect(!written.isEmpty, "\(table)")
        }
    }

    @Test("Deleting a contact deletes all its rows, before and after such a save")
    func deleting() throws {
        let book = try Book()
        try add([1], to: book)
        try add(2...Self.count, to: book)
        try book.store.apply((1..<Self.count).map { .delete(RecordNumber($0)) }, at: 0)
        for table in Self.tables where table != "change" {
            let others = try book.folder.rows("SELECT * FROM \(table) WHERE record IS NOT \(Self.count)")
            #expect(others.isEmpty, "\(table)")
        }
        #expect(try book.folder.rows("PRAGMA foreign_key_check").isEmpty)
    }

    @Test("If one contact cannot be added, the save leaves nothing, and the next save works")
    func failing() throws {
        let book = try Book([person("Ada")])
        #expect(throws: ChangeError.self, "a number is used once") {
            try book.store.apply(
                (2...Self.count).map { .add(RecordNumber($0), Self.contact($0)) }
                    + [.add(RecordNumber(1), person("Bob"))], at: 0)
        }
        #expect(try book.records() == [1])
        try book.store.apply([.delete(RecordNumber(1))], at: 0)
        #expect(try rows(book, "word").isEmpty)
        try add(2...Self.count, to: book)
        #expect(try book.records().count == Int(Self.count) - 1)
    }
}
