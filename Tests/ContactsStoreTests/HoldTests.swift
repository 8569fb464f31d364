import ContactsModel
import Testing

@testable import ContactsStore

@Suite("One state of the book held for a moment")
struct HoldTests {
    @Test("What was saved is part of every read that begins afterwards, though a former state was held")
    func saves() throws {
        let book = try Book([person("Ada")])
        for round in 2...20 {
            #expect(try book.store.hold())
            #expect(try !book.store.hold())
            #expect(try book.records().count == round - 1)
            try book.store.apply([.add(RecordNumber(Int64(round)), person("N\(round)"))], at: 0)
            #expect(try book.records().count == round)
            #expect(try book.store.count(ContactQuery(scope: .all)) == round)
        }
        try book.store.apply([.update(RecordNumber(1), person("Eve"), keys: ContactKeySet([.givenName]))], at: 0)
        #expect(try book.contact(1)?.givenName == "Eve")
        // Ending what is not held, and twice, is nothing.
        book.store.release()
        book.store.release()
        #expect(try book.store.hold())
    }
}
