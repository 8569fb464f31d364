import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("The names of groups in a book from before")
struct GroupNamesTests {
    @Test("A name counts, unless only another group of that name has members that an app with full access added")
    func migration() throws {
        let book = try Book([person("Ada"), person("Bob")])
        let (full, other) = (1...4, 5...8)
        for (records, isEvidence) in [(full, true), (other, false)] {
            let names = isEvidence ? ["Family", "Work", "Club", "Band"] : ["Family", "Work", "Alone", "Band"]
            for (record, name) in zip(records, names) {
                let record = RecordNumber(Int64(record) + 10)
                try book.store.apply(
                    [.group(.add(record, name: name, owner: [1]))], at: 1, isEvidence: isEvidence)
                guard name != "Work" else { continue }
                try book.store.apply(
                    [.group(.addMember(RecordNumber(1), to: record))], at: 1, isEvidence: isEvidence)
            }
        }
        // Both groups have a member that an app with full access added.
        try book.store.apply([.group(.addMember(RecordNumber(2), to: RecordNumber(18)))], at: 1, isEvidence: true)
        book.store.close()
        try book.folder.execute(
            """
            ALTER TABLE contactGroup DROP COLUMN confirmed; PRAGMA user_version = 17;
            DELETE FROM grdb_migrations WHERE identifier = '18: names of groups'
            """)
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        let counts = ["Family": [11], "Work": [12, 16], "Club": [13], "Alone": [17], "Band": [14, 18]]
        for (name, records) in counts {
            #expect(try again.groups(named: name, limit: 9).map(\.rawValue) == records.map(Int64.init), "\(name)")
        }
    }
}
