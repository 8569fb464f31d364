import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("What the bin keeps, and for how long")
struct BinTests: SpaceSteps {
    private static let day: Int64 = 86_400
    private static let (ada, bob) = (RecordNumber(1), RecordNumber(2))

    private func small(_ megabytes: Int = 4) -> SpaceBounds {
        var bounds = SpaceBounds()
        bounds.binOfAssumableApps = Int64(megabytes * megabyte)
        return bounds
    }

    private func card(_ name: String, _ photo: String) -> Contact {
        var contact = Contact()
        (contact.givenName, contact.imageData) = (name, photo)
        return contact
    }

    private func states(_ book: Book) throws -> [String] {
        try book.folder.rows("SELECT record FROM binItem WHERE subject = 1 ORDER BY number").map { $0[0] }
    }

    @Test("After thirty days a state leaves the bin, and its text every file")
    func expiry() throws {
        let book = try BinSample().book
        try book.save([.delete(Self.ada)], as: .mail, at: 100)
        // The person's saves before it leave the bin.
        #expect(try book.store.expireBin(at: 100 + 30 * Self.day))
        #expect(try book.hasText("Zymurgist") && book.hasText("/9j/TTTT"))
        #expect(try book.store.expireBin(at: 101 + 30 * Self.day))
        #expect(try !book.hasText("Zymurgist") && !book.hasText("/9j/TTTT"))
        #expect(
            try book.folder.rows("SELECT number FROM binItem WHERE record = 1 UNION SELECT item FROM binPhoto") == [])
        try book.expectCounted()
    }

    @Test("A later save lets go of what has expired, and says that its text must leave the log")
    func expiryBySave() throws {
        let book = try BinSample().book
        try book.save([.delete(Self.ada)], as: .mail, at: 100)
        try book.store.checkpoint()
        try book.save([.add(RecordNumber(60), person("New"))], as: .mail, at: 200)
        #expect(!book.store.leavesText)
        try book.save([.add(RecordNumber(61), person("New"))], as: .mail, at: 200 + 30 * Self.day)
        #expect(book.store.leavesText)
        #expect(try !book.hasText("Zymurgist"))
        #expect(!book.store.leavesText)
    }

    @Test("What is too old for fewer days goes once they are in effect; with no days all goes, and nothing is kept")
    func days() throws {
        let book = try BinSample().book
        try book.save([.delete(Self.ada)], as: .mail, at: 100)
        try book.set(binDays: 2, at: 100)
        try book.set(binDays: 1, at: 100 + Self.day)
        #expect(try book.store.expireBin(at: 99 + 2 * Self.day))
        #expect(try book.hasText("Zymurgist"))
        #expect(try book.store.expireBin(at: 101 + 2 * Self.day))
        #expect(try !book.hasText("Zymurgist"))
        try book.save([.delete(Self.bob)], as: .mail, at: 200 + 2 * Self.day)
        try book.set(binDays: 0, at: 200 + 2 * Self.day)
        #expect(try !book.store.expireBin(at: 199 + 3 * Self.day))
        #expect(try book.hasText("Bobby"))
        #expect(try book.store.expireBin(at: 200 + 3 * Self.day))
        #expect(try !book.hasText("Bobby"))
        try book.save([.delete(RecordNumber(4))], as: .mail, at: 300 + 3 * Self.day)
        #expect(try !book.hasText("Dan") && book.store.savesInBin(BinQuery()).isEmpty)
        try book.set(binDays: nil, at: 300 + 3 * Self.day)
        try book.save([.delete(RecordNumber(3))], as: .mail, at: 300 + 3 * Self.day)
        #expect(try book.store.savesInBin(BinQuery()).map(\.deleted) == [1])
        try book.expectCounted()
    }

    @Test("An app's churn with its own contacts and groups pushes out only that")
    func churn() throws {
        let book = try Book([person("Ada") { $0.imageData = photo }, person("Bob")], space: small())
        let before = try book.content()
        try book.save([.delete(Self.ada)], as: .mail)
        for round in 0..<60 {
            let app = BinApp("app \(round % 20)", UInt8(100 + round % 20))
            let (own, group) = (Int64(1_000 + 2 * round), Int64(1_001 + 2 * round))
            try book.save(
                [add(own, photo), .group(.add(RecordNumber(group), name: "g", owner: app.author.app))], as: app,
                access: whole)
            try book.save(
                [
                    update(own, photo: "QUJD" + photo), .group(.rename(RecordNumber(group), name: "h")),
                    .group(.addMember(RecordNumber(own), to: RecordNumber(group))),
                ], as: app, access: whole)
            try book.save([.delete(RecordNumber(own)), .group(.delete(RecordNumber(group)))], as: app, access: whole)
        }
        #expect(try states(book).first == "1")
        #expect(try book.folder.rows("SELECT bytes <= \(4 * megabyte) FROM bin WHERE portion = 0") == [["1"]])
        try book.expectCounted()
        _ = try book.store.putBack(.app("mail", strength: nil, since: 0), at: 200)
        try book.expectContent(before)
    }

    @Test("A state of somebody else's contact is not pushed out: the save fails, and a smaller one works")
    func full() throws {
        let book = try Book((0..<8).map { index in person("Ada \(index)") { $0.imageData = photo } }, space: small())
        for record in 1...3 { try book.save([.delete(RecordNumber(Int64(record)))], as: .mail) }
        let before = try book.content()
        let refusal = ChangeError.binFull(most: Int64(4 * megabyte))
        #expect(throws: refusal) { try book.save([.delete(RecordNumber(4))], as: .mail) }
        #expect(throws: refusal) { try book.save([.delete(RecordNumber(4))], as: .chat) }
        try book.expectContent(before)
        try book.expectCounted()
        // An update that keeps the photo needs little, other portions have space of their own, and the person always can.
        try book.save([.update(RecordNumber(4), person("Eve"), keys: ContactKeySet(.givenName))], as: .mail)
        try book.save([.delete(RecordNumber(4))], as: .sync)
        try book.store.apply([.delete(RecordNumber(5))], at: 100)
        #expect(try states(book) == ["1", "2", "3", "4", "4", "5"])
        let made = try book.store.putBack(.app("mail", strength: nil, since: 0), at: 200)
        #expect(made.contacts(.returned) == 3 && made.contacts(.conflict) == 1)
    }

    @Test(
        "Between an author's consecutive changes of a contact, only the oldest state stays, as long as the newest would"
    )
    func consecutive() throws {
        let book = try Book([person("Ada") { $0.note = "First" }, person("Bob")], space: small())
        let before = try book.content()
        func change(_ note: String, _ app: BinApp = .mail, at seconds: Int64) throws {
            let patch = person { $0.note = note }
            try book.save([.update(Self.ada, patch, keys: ContactKeySet(.note))], as: app, at: seconds)
        }
        try change("Second", at: 100)
        // The app waits until the first state is about to leave the bin.
        let late = 90 + 30 * Self.day
        for round in 0..<12 { try change("\(round)" + String(repeating: "x", count: megabyte / 2), at: late) }
        try book.save([.delete(Self.ada)], as: .mail, at: late)
        for round in 0..<8 { try book.save([add(100 + Int64(round), photo)], as: .mail, at: late, access: whole) }
        for round in 0..<8 {
            try book.save([.delete(RecordNumber(100 + Int64(round)))], as: .mail, at: late, access: whole)
        }
        _ = try book.store.expireBin(at: late + 100)
        #expect(try states(book).first == "1")
        _ = try book.store.putBack(.app("mail", strength: nil, since: late), at: late + 200)
        try book.expectContent(before)
        try book.expectCounted()
    }

    @Test("What a tool with full access made long ago is not its churn: neither it nor another app pushes that out")
    func madeByOneTool() throws {
        let book = try Book(space: small())
        for record in 1...3 { try book.save([add(Int64(record), photo)], as: .mail, at: 0) }
        let before = try book.content()
        let late = Self.day + 100
        for record in 1...3 { try book.save([.delete(RecordNumber(Int64(record)))], as: .mail, at: late) }
        // The numbers of records are times in microseconds.
        let churn = [(BinApp.mail, AuthorAccess.full), (.chat, whole), (.mail, .full)]
        for (place, (app, access)) in churn.enumerated() {
            for round in 0..<6 {
                let record = late * 1_000_000 + Int64(100 * place + round)
                try book.save([add(record, photo)], as: app, at: late, access: access)
                try book.save([.delete(RecordNumber(record))], as: app, at: late, access: access)
            }
            #expect(try states(book).prefix(3) == ["1", "2", "3"])
        }
        let made = try book.store.putBack(.app("mail", strength: nil, since: late), at: late)
        #expect(made.contacts(.returned) == 3)
        try book.expectContent(before)
    }

    @Test("If an older state expires, the next one may not be pushed out any more")
    func promoted() throws {
        let book = try Book([person("Ada")], space: small())
        let name = { (text: String) in [ContactChange.update(Self.ada, person(text), keys: ContactKeySet(.givenName))] }
        try book.save(name("One"), as: .mail, at: 0)
        try book.save(name("Two"), as: .mail, at: 29 * Self.day)
        let ranks = {
            try book.folder.rows("SELECT rank FROM binItem WHERE subject = 1 AND record = 1 ORDER BY number")
        }
        #expect(try ranks() == [["2"], ["1"]])
        #expect(try book.store.expireBin(at: 30 * Self.day + 1))
        #expect(try ranks() == [["2"]])
        try book.save(name("Three"), as: .chat, at: 30 * Self.day + 2)
        try book.save(name("Four"), as: .mail, at: 30 * Self.day + 3)
        #expect(try ranks() == [["2"], ["2"], ["2"]])
    }

    @Test("A contact that its app added is not its own any more once somebody else has changed it")
    func notOwn() throws {
        let book = try Book()
        let name = { (text: String) in [ContactChange.update(Self.ada, person(text), keys: ContactKeySet(.givenName))] }
        let group = RecordNumber(20)
        try book.save(
            [.add(Self.ada, person("One")), .group(.add(group, name: "g", owner: BinApp.mail.author.app))], as: .mail)
        try book.save(name("Two") + [.group(.rename(group, name: "h"))], as: .mail)
        // Without a bin the book remembers it, too.
        try book.set(binDays: 0, at: 100 - Self.day)
        #expect(try book.store.expireBin(at: 100))
        try book.save(name("Three") + [.group(.rename(group, name: "i"))], as: .chat)
        try book.set(binDays: nil, at: 100)
        try book.save(name("Four") + [.group(.delete(group))], as: .mail)
        #expect(
            try book.folder.rows("SELECT subject, rank FROM binItem ORDER BY subject") == [["1", "2"], ["2", "2"]])
    }

    @Test("The bin does not count for the size of the book, so a full book can be emptied")
    func size() throws {
        let book = try Book(space: bounds(book: 8 * megabyte))
        var next: Int64 = 1
        while book.save(add(next, photo), as: .full) == nil { next += 1 }
        let full = try book.sizeInUse()
        for record in 1..<next { #expect(book.save(.delete(RecordNumber(record)), as: .full) == nil) }
        #expect(try book.sizeInUse() < full / 8)
        #expect(contents(book.folder.file).count > 0)
        for record in 1..<next { #expect(book.save(add(1_000 + record, photo), as: .full) == nil) }
        try book.expectCounted()
    }

    @Test("The person's states are pushed out by the person's saves only, and the list says so")
    func pushedOut() throws {
        var bounds = SpaceBounds()
        bounds.binOfPerson = Int64(2 * megabyte)
        let book = try Book((0..<4).map { index in card("Ada \(index)", photo) }, space: bounds)
        for record in 1...4 { try book.store.apply([.delete(RecordNumber(Int64(record)))], at: 100) }
        let saves = try book.store.savesInBin(BinQuery()).filter { $0.deleted > 0 }
        #expect(saves.count == 4)
        let outcomes = try saves.map { try book.store.wouldPutBack(.save($0.number)).items.map(\.outcome) }
        #expect(outcomes == [[.returned], [.lost], [.lost], [.lost]], "one photo and its row take more than half")
        try book.expectCounted()
    }

    @Test("An app without full access cannot find out by a refusal how much the bin has")
    func coarse() throws {
        let book = try Book(
            (0..<400).map { index in person("Ada \(index)") { $0.note = String(repeating: "n", count: 15_000) } },
            space: small())
        var found: Set<Int64> = []
        var next: Int64 = 1
        for attempt in 0..<3 {
            let seconds = Int64(attempt) * 1_000
            while (try? book.save([.delete(RecordNumber(next))], as: .mail, at: seconds, access: whole)) != nil {
                next += 1
            }
            found.insert(next)
            // For a while even a small one is refused.
            #expect(throws: ChangeError.binFull(most: Int64(4 * megabyte))) {
                try book.save([rename(399, "Eve")], as: .mail, at: seconds + 599, access: whole)
            }
            try book.save([add(1_000 + Int64(attempt))], as: .mail, at: seconds + 599, access: whole)
        }
        #expect(next < 300)
    }

    @Test("A save that changes nothing is not in the bin, and gets no outbox entry")
    func nothing() throws {
        let book = try BinSample().book
        let saves = try book.store.savesInBin(BinQuery())
        let name = try #require(try book.contact(4)).givenName
        let entry = OutgoingEntry(number: 1, bytes: [1], takenOver: 0, anchor: AuditAnchor(sequence: 0, hash: []))
        let made = try book.store.apply(
            [
                .update(RecordNumber(4), person(name), keys: ContactKeySet(.givenName)),
                .group(.rename(RecordNumber(20), name: "Family")), .group(.setMe(Self.ada)),
                .group(.addMember(Self.ada, to: RecordNumber(20))),
                .group(.removeMember(RecordNumber(3), from: RecordNumber(20))),
                .link(.link(Self.ada, Self.bob)),
            ], at: 100, outbox: entry)
        #expect(made.isEmpty)
        #expect(try book.store.savesInBin(BinQuery()) == saves && book.store.outbox().isEmpty)
    }
}
