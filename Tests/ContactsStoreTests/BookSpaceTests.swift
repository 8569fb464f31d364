import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("The size limit of a book")
struct BookSpaceTests: SpaceSteps {
    @Test("A save that would exceed the limit changes nothing; a save that only removes is possible and frees space")
    func full() throws {
        let book = try Book(space: bounds(book: 5 * megabyte))
        var next: Int64 = 1
        while book.save(add(next, photo), as: .full) == nil { next += 1 }
        #expect(next == 5)
        let change = book.store.lastChange
        let refusal = book.save(add(5, photo), as: .full)
        guard case .bookFull(let size?, let most) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(most == 5 * megabyte && size > most && size < 6 * megabyte)
        #expect(book.store.lastChange == change)
        #expect(try book.records() == [1, 2, 3, 4])
        #expect(try book.sizeInUse() <= 5 * megabyte)
        // The whole save is refused, even the step for which there was space.
        #expect(book.save(add(6), add(7, photo), as: .full) != nil)
        #expect(try book.contact(6) == nil)
        #expect(book.save(.delete(RecordNumber(1)), as: .full) == nil)
        #expect(book.save(add(8, photo), as: .full) == nil)
        #expect(book.save(update(2, photo: ""), as: .full) == nil)
        #expect(book.save(add(9, photo), as: .full) == nil)
    }

    @Test("A book that is larger than a new limit can be emptied, but not enlarged", arguments: [true, false])
    func lowered(isFull: Bool) throws {
        let access = isFull ? AuthorAccess.full : whole
        let first = try Book()
        for record in 1...4 { #expect(first.save(add(Int64(record), photo), as: .full) == nil) }
        #expect(first.save(.group(.add(RecordNumber(90), name: "g", owner: mail.app)), as: .full) == nil)
        #expect(first.save(.group(.addMember(RecordNumber(1), to: RecordNumber(90))), as: .full) == nil)
        first.store.close()
        let book = try Book(in: first.folder, space: bounds(book: megabyte))
        #expect(book.save(add(5), as: access) != nil)
        #expect(book.save(rename(1, "Another"), as: access) != nil)
        #expect(book.save(update(1, photo: photo + "QUJD"), as: access) != nil)
        #expect(book.save(.group(.add(RecordNumber(91), name: "h", owner: mail.app)), as: access) != nil)
        #expect(book.save(.group(.addMember(RecordNumber(2), to: RecordNumber(90))), as: access) != nil)
        #expect(book.save(.group(.removeMember(RecordNumber(1), from: RecordNumber(90))), as: access) == nil)
        #expect(book.save(.group(.delete(RecordNumber(90))), as: access) == nil)
        if isFull { #expect(book.save(update(1, photo: "QUJD"), as: access) == nil) }
        #expect(book.save(update(2, photo: ""), as: access) == nil)
        #expect(book.save(.delete(RecordNumber(3)), as: access) == nil)
        #expect(book.save(.delete(RecordNumber(4)), .delete(RecordNumber(2)), as: access) == nil)
        if isFull { #expect(book.save(add(5), as: access) == nil) }
    }

    @Test("An app without full access learns only that the book is full, and cannot try again for ten minutes")
    func probing() throws {
        let book = try Book(space: bounds(book: 8 * megabyte))
        for record in 1...4 { #expect(book.save(add(Int64(record), photo), as: .full) == nil) }
        var next: Int64 = 5
        while book.save(add(next, photo), at: 100) == nil { next += 1 }
        let refusal = ChangeError.bookFull(size: nil, most: Int64(8 * megabyte))
        #expect(book.save(add(20), at: 100) == refusal)
        // During the pause, no app without full access can detect that another app freed space.
        #expect(
            book.save(.delete(RecordNumber(1)), .delete(RecordNumber(2)), .delete(RecordNumber(3)), as: .full) == nil)
        #expect(book.save(add(20), at: 699) == refusal)
        #expect(book.save(add(20), by: chat, at: 699) == refusal)
        #expect(book.save(.delete(RecordNumber(5)), at: 699) == nil)
        #expect(book.save(add(21, photo), as: .full, at: 699) == nil)
        // Attempts during the pause do not extend it.
        #expect(book.save(add(20), at: 700) == nil)
    }

    @Test("The point at which such an app finds the book full changes between attempts")
    func coarse() throws {
        let book = try Book(space: bounds(book: 8 * megabyte))
        for record in 1...7 { #expect(book.save(add(Int64(record), photo), as: .full) == nil) }
        let filler = String(repeating: "QUJD", count: 2_048)
        var found: Set<Int64> = []
        for attempt in 0..<12 {
            var next: Int64 = 100
            while book.save(add(next, filler), at: Int64(attempt) * 1_000) == nil { next += 1 }
            found.insert(next)
            for record in 100..<next { #expect(book.save(.delete(RecordNumber(record)), as: .full) == nil) }
        }
        // The range of possible points, a sixteenth of the limit, has room for 64 fillers.
        #expect(found.count > 3)
    }

    @Test("The write-ahead log is checkpointed when it reaches its limit, whatever the number of saved photos")
    func log() throws {
        let book = try Book(space: bounds(log: 2 * megabyte))
        var longest = 0
        for record in 1...40 {
            #expect(book.save(add(Int64(record), photo), as: .full) == nil)
            longest = max(longest, contents(book.folder.file + "-wal").count)
        }
        #expect(longest < 2 * megabyte)
        #expect(try book.sizeInUse() > 40 * megabyte)
    }

    @Test("Repeated refused saves enlarge the file and the write-ahead log by at most 2 MB each")
    func refusedOften() throws {
        let book = try Book(space: bounds(book: 3 * megabyte))
        while book.save(add(Int64(try book.records().count + 1), photo), as: .full) == nil {}
        let sizes = { ["", "-wal"].map { contents(book.folder.file + $0).count } }
        let before = sizes()
        for _ in 0..<20 { #expect(book.save(add(99, photo), as: .full) != nil) }
        #expect(zip(sizes(), before).allSatisfy { $0 <= $1 + 2 * megabyte })
    }

    @Test("A save that adds too many photos is refused before anything is written", arguments: [true, false])
    func refusedEarly(isLimited: Bool) throws {
        let access = isLimited ? whole : AuthorAccess.full
        let book = try Book(space: bounds(book: 4 * megabyte, app: isLimited ? 3 * megabyte : 1_000 * megabyte))
        #expect(book.save(add(1, photo), as: access) == nil)
        // Contact 1 exists. To write it again would be another error.
        #expect(isStoreError(book.save(add(1, photo), as: access)))
        let refusal = book.save(add(1, photo), add(2, photo), add(3, photo), add(4, photo), as: access)
        switch refusal {
        case .allowanceUsed: #expect(isLimited)
        case .bookFull: #expect(!isLimited)
        default: Issue.record("it was not refused for its size")
        }
        #expect(book.save(add(2, photo), as: access) == nil)
    }

    private func isStoreError(_ error: ChangeError?) -> Bool { if case .store = error { true } else { false } }

    @Test("A shorter value that needs larger search tables is refused too")
    func searchTables() throws {
        let book = try Book(space: bounds(book: 2 * megabyte))
        let note = String(repeating: "long ", count: 16_000)
        for record in 1...20 { #expect(book.save(add(Int64(record), note: note), as: .full) == nil) }
        var refusals = 0
        for record in 1...20 {
            let contact = person {
                $0.emailAddresses = (0..<1_000).map { LabeledString(value: "m\($0)@example\(record).org") }
            }
            let change = ContactChange.update(
                RecordNumber(Int64(record)), contact, keys: ContactKeySet([.note, .emailAddresses]))
            if book.save(change, as: .full) != nil { refusals += 1 }
        }
        #expect(refusals > 0)
        #expect(try book.sizeInUse() <= 2 * megabyte)
    }
}
