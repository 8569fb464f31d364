import BrokerBounds
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerContactsStore

@Suite("The allowance of an app without full access")
struct AllowanceTests: SpaceSteps {
    @Test("It limits what one app adds, but neither another app nor an app with full access")
    func own() throws {
        let book = try Book(space: bounds(app: 3 * megabyte))
        #expect(book.save(add(1, photo)) == nil)
        #expect(book.save(add(2, photo)) == nil)
        let refusal = ChangeError.allowanceUsed(most: Int64(3 * megabyte))
        #expect(book.save(add(3, photo)) == refusal)
        #expect(book.save(add(3, photo), by: chat) == nil)
        for record in 4...8 { #expect(book.save(add(Int64(record), photo), as: .full) == nil) }
        #expect(book.save(add(9, photo)) == refusal)
        // Space that the app frees is available again.
        #expect(book.save(.delete(RecordNumber(1))) == nil)
        #expect(book.save(add(9, photo)) == nil)
        #expect(book.save(add(10, photo)) == refusal)
    }

    @Test("Photos in other apps' cards, groups, repeated small edits and small cards all count")
    func evading() throws {
        let names = (0..<8).map { _ in String(repeating: "n", count: 1_024) }
        for kind in 0..<4 {
            let book = try Book([person("Bob")], space: bounds(app: 4_096))
            var saves = 0
            while saves < 100 {
                let number = Int64(100 + saves)
                let refusal =
                    switch kind {
                    case 0: book.save(update(1, photo: String(repeating: "QUJD", count: 100 * (saves + 1))))
                    case 1: book.save(.group(.add(RecordNumber(number), name: names[0], owner: mail.app)))
                    case 2: book.save(rename(1, saves % 2 == 0 ? "Rob" : "Bob"))
                    default: book.save(add(number))
                    }
                guard refusal == nil else { break }
                saves += 1
            }
            #expect((3...16).contains(saves), "\(kind): \(saves)")
        }
    }

    @Test("Replacing a photo repeatedly uses little of it; saves that are refused or change nothing use none")
    func replacing() throws {
        let book = try Book(space: bounds(app: 2 * megabyte))
        #expect(book.save(add(1, photo)) == nil)
        for round in 0..<50 {
            let other = String(repeating: round % 2 == 0 ? "REVG" : "QUJD", count: megabyte / 4)
            #expect(book.save(update(1, photo: other)) == nil)
            #expect(book.save(rename(1, "Ada 1")) == nil)
            #expect(book.save(add(2, photo)) != nil)
        }
        #expect(book.save(add(2, String(repeating: "QUJD", count: megabyte / 5))) == nil)
    }

    @Test("It refills evenly with time, even between many small saves, but not if the clock is set back")
    func refill() throws {
        let book = try Book(space: bounds(app: 2 * megabyte))
        let day: Int64 = 86_400
        #expect(book.save(add(1, photo), at: 100 * day) == nil)
        #expect(book.save(add(2, photo), at: 100 * day) != nil)
        #expect(book.save(add(2, photo), at: 90 * day) != nil)
        // Two photos with their overhead need slightly more than the allowance. It refills by 70 KB in a day.
        #expect(book.save(add(2, photo), at: 101 * day) == nil)
        #expect(book.save(add(3, photo), at: 114 * day) != nil)
        #expect(book.save(add(3, photo), at: 117 * day) == nil)
        #expect(book.save(add(4, photo), at: 118 * day) != nil)
        // An allowance that is available in full leaves no row.
        #expect(book.save(add(5), by: chat, at: 200 * day) == nil)
        #expect(try book.store.write { try $0.database.integer("SELECT count(*) FROM allowance") } == 1)

        var small = bounds(app: 100 * 256)
        small.refillTime = 100_000
        let slow = try Book([person("Bob")], space: small)
        var made = 0
        for second in 0..<40_000 where second % 100 == 0 {
            if slow.save(rename(1, "B\(second)"), at: Int64(second)) == nil { made += 1 }
        }
        // 100 saves fit at once, and the refill allows 40 more.
        #expect((110...141).contains(made))
    }

    @Test("Values that the app cannot see do not change what it can save")
    func hidden() throws {
        let both = try [true, false].map { try answers(hiddenValues: $0) }
        #expect(both[0] == both[1])
        // If deleting hidden photos and notes counted, all saves would be possible.
        #expect((20...40).contains(both[0].count { $0 }))
    }

    /// Whether each of many saves is accepted from an app that sees only given names.
    private func answers(hiddenValues isThere: Bool) throws -> [Bool] {
        let keys = ContactKeySet([.givenName])
        let names = AuthorAccess.limited(seeing: keys)
        let book = try Book(space: bounds(app: 10_000))
        let content = isThere ? String(repeating: "QUJD", count: 5_000) : ""
        for record in 1...4 {
            #expect(book.save(add(Int64(record), content, note: content), as: .full) == nil)
        }
        var answers: [Bool] = []
        for step in 0..<60 {
            let refusal =
                step < 4
                ? book.save(.delete(RecordNumber(Int64(step + 1))), as: names)
                : book.save(add(Int64(step + 100)), as: names)
            answers.append(refusal == nil)
        }
        return answers
    }

    @Test("A damaged card can still be deleted")
    func damaged() throws {
        let book = try Book([person("Ada"), person("Bob")])
        try book.store.write { try $0.database.execute("UPDATE contact SET checksum = checksum + 1 WHERE record = 1") }
        #expect(book.save(.delete(RecordNumber(1))) == nil)
        #expect(try book.records() == [2])
    }

    @Test("An older book without allowances is migrated, and its content does not count toward an allowance")
    func migration() throws {
        let first = try Book()
        #expect(first.save(add(1, photo)) == nil)
        first.store.close()
        try first.folder.execute(
            """
            DROP TABLE allowance; DELETE FROM grdb_migrations WHERE identifier = '12: allowances';
            PRAGMA user_version = 11
            """)
        let book = try Book(in: first.folder, space: bounds(app: 2 * megabyte))
        #expect(book.save(add(2, photo)) == nil)
        #expect(book.save(add(3, photo)) != nil)
        #expect(try book.records() == [1, 2])
    }
}
