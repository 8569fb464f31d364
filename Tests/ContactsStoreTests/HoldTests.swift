import BrokerModel
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerContactsStore

@Suite("Snapshots of a book")
struct HoldTests {
    @Test("A save is part of every later read, even if an earlier snapshot was open")
    func saves() throws {
        let book = try Book([person("Ada")])
        for round in 2...20 {
            #expect(try book.store.holdSnapshot())
            #expect(try !book.store.holdSnapshot())
            #expect(try book.records().count == round - 1)
            try book.store.apply([.add(RecordNumber(Int64(round)), person("N\(round)"))], at: 0)
            #expect(try book.records().count == round)
            #expect(try book.store.count(ContactQuery(scope: .all)) == round)
        }
        try book.store.apply([.update(RecordNumber(1), person("Eve"), keys: ContactKeySet([.givenName]))], at: 0)
        #expect(try book.contact(1)?.givenName == "Eve")
        // Releasing without a snapshot, or twice, has no effect.
        book.store.release()
        book.store.release()
        #expect(try book.store.holdSnapshot())
    }

    @Test("Successive snapshots do not keep deleted text in the log")
    func checkpoint() throws {
        let book = try Book([person("Ada"), person("Secretive")])
        let store = book.store
        #expect(try store.holdSnapshot())
        #expect(try book.records().count == 2)
        try store.apply([.delete(RecordNumber(2))], at: 0)
        let outcome = Mutex<Result<Void, StoreError>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue(label: "the user's").async {
            do throws(StoreError) {
                try store.checkpoint()
                outcome.withLock { $0 = .success(()) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
            ended.signal()
        }
        // A burst without a pause: each snapshot lasts as long as in the broker, and the next one follows at once.
        var rounds = 0
        while outcome.withLock({ $0 == nil }), rounds < 250 {
            _ = try store.holdSnapshot()
            #expect(try book.records().count == 1)
            _ = ended.wait(timeout: .now() + .milliseconds(20))
            store.release()
            rounds += 1
        }
        try #require(outcome.withLock { $0 }).get()
        #expect(try book.folder.frames() == 0)
    }
}
