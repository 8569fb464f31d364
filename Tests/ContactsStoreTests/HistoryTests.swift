import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("The change history of a book")
struct HistoryTests {
    private static let mail = [UInt8](repeating: 1, count: 16)
    private static let chat = [UInt8](repeating: 2, count: 16)
    private static let day: Int64 = 86_400

    private static func changes(_ book: Book, of records: RecordScope = .all, app: [UInt8] = mail) throws
        -> [BookChange]
    {
        try book.store.changes(after: 0, through: .max, of: records, groupsOf: app)
    }

    @Test("Every save records what it changed, who made it, and which keys have new values")
    func saves() throws {
        let book = try Book([person("Ada", "Lovelace")])
        let author = ChangeAuthor(app: Self.mail, name: "sync")
        var patch = person("Ada", "Byron")
        patch.nickname = "A"
        let made = try book.store.apply(
            [
                .update(RecordNumber(1), patch, keys: ContactKeySet([.givenName, .familyName, .nickname])),
                .update(RecordNumber(1), patch, keys: ContactKeySet([.familyName])), .delete(RecordNumber(1)),
            ], by: author, at: 60)
        #expect(made.map(\.kind) == [.updateContact, .deleteContact])
        #expect(made[0].keys == ContactKeySet([.familyName, .nickname]))
        #expect(made.allSatisfy { $0.author == author })
        #expect(try Self.changes(book).suffix(2) == made)
        #expect(book.store.lastChange == made[1].number)
        #expect(zip(made, made.dropFirst()).allSatisfy { $0.number < $1.number })
    }

    @Test("A failed save leaves no history")
    func failing() throws {
        let book = try Book([person("Ada")])
        let last = book.store.lastChange
        #expect(throws: ChangeError.recordDoesNotExist(index: 1)) {
            try book.store.apply([.delete(RecordNumber(1)), .delete(RecordNumber(5))], at: 0)
        }
        #expect(book.store.lastChange == last)
        #expect(try Self.changes(book).map(\.kind) == [.addContact])
    }

    @Test("Change numbers increase, even if the clock goes back, and continue after a restart")
    func numbers() throws {
        let book = try Book()
        var last: Int64 = 0
        for (record, seconds) in [(1, 1_000), (2, 10), (3, 2_000), (4, -5), (5, Int64.max)] as [(Int64, Int64)] {
            let made = try book.store.apply([.add(RecordNumber(record), person("Ada"))], at: seconds)
            #expect(try #require(made.first).number > last)
            last = book.store.lastChange
        }
        book.store.close()
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        #expect(again.lastChange == last)
    }

    @Test("Changes and their authors' names are kept for thirty days")
    func pruning() throws {
        let book = try Book()
        let author = ChangeAuthor(app: Self.mail, name: "Authorgone")
        try book.store.apply([.add(RecordNumber(1), person("Ada"))], by: author, at: 0)
        try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 30 * Self.day)
        #expect(try Self.changes(book).map(\.record.rawValue) == [1, 2])
        try book.store.apply([.add(RecordNumber(3), person("Cid"))], at: 30 * Self.day + 1)
        #expect(try Self.changes(book).map(\.record.rawValue) == [2, 3])
        try book.store.checkpoint()
        #expect(!String(decoding: contents(book.folder.file), as: UTF8.self).contains("Authorgone"))
    }

    @Test("Within a set of records, only those and the app's own groups are considered")
    func scoped() throws {
        let book = try Book([person("Ada"), person("Bob")])
        let groups: [ContactChange] = [
            .group(.add(RecordNumber(10), name: "Mine", owner: Self.mail)),
            .group(.add(RecordNumber(11), name: "Theirs", owner: Self.chat)),
            .group(.addMember(RecordNumber(1), to: RecordNumber(10))),
            .group(.addMember(RecordNumber(2), to: RecordNumber(10))),
            .group(.addSubgroup(RecordNumber(10), to: RecordNumber(11), visible: nil)),
        ]
        try book.store.apply(groups, at: 0)
        let found = try Self.changes(book, of: scope(1))
        #expect(found.map(\.kind) == [.addContact, .addGroup, .addMember, .addMember])
        let mine = ChangeScope(records: scope(1), keys: .all, app: Self.mail)
        #expect(found.filter(mine.contains).map(\.kind) == [.addContact, .addGroup, .addMember])
        // The last visible change is that of the visible member, not that of the other member or between groups.
        let last = try book.store.lastChange(after: 0, in: mine)
        #expect(last == found[2].number)
        let both = ChangeScope(records: scope(1, 2), keys: .all, app: Self.mail)
        #expect(try book.store.lastChange(after: 0, in: both) == found[3].number)
        #expect(try book.store.lastChange(after: found[3].number, in: both) == nil)
        let all = ChangeScope(records: .all, keys: .all, app: Self.mail)
        #expect(try book.store.lastChange(after: 0, in: all) == book.store.lastChange)
    }

    @Test("An app that sees all groups and some records sees only those records in the groups")
    func othersGroups() throws {
        let book = try Book([person("Ada"), person("Bob")])
        let groups: [ContactChange] = [
            .group(.add(RecordNumber(10), name: "Mine", owner: Self.mail)),
            .group(.add(RecordNumber(11), name: "Theirs", owner: Self.chat)),
            .group(.addMember(RecordNumber(1), to: RecordNumber(11))),
            .group(.addSubgroup(RecordNumber(10), to: RecordNumber(11), visible: nil)),
            .group(.addMember(RecordNumber(2), to: RecordNumber(11))),
            .link(.link(RecordNumber(1), RecordNumber(2))),
        ]
        let made = try book.store.apply(groups, at: 0)
        let seeing = ChangeScope(records: scope(1), keys: .all.union(.groups), app: Self.mail)
        let found = try book.store.changes(after: 0, through: .max, of: scope(1), groupsOf: seeing.groupOwner)
        // Changes of other members are not even read.
        #expect(found.filter { $0.kind.isOfGroup } == Array(made[0...3]))
        #expect(found.filter { $0.kind.isOfGroup }.allSatisfy(seeing.contains))
        #expect(!seeing.contains(made[4]))
        #expect(try book.store.lastChange(after: 0, in: seeing) == made[3].number)
        #expect(try book.store.lastChange(after: made[3].number, in: seeing) == nil)
        #expect(try book.store.lastChange(after: made[1].number, in: seeing) == made[3].number)
        let other = ChangeScope(records: scope(2), keys: .all.union(.groups), app: Self.mail)
        #expect(try book.store.lastChange(after: 0, in: other) == made[4].number)
        // After this save, the last change is that contact 1 left the group.
        let left = try book.store.apply([.group(.removeMember(RecordNumber(1), from: RecordNumber(11)))], at: 0)
        #expect(try book.store.lastChange(after: 0, in: seeing) == left[0].number)
        #expect(try book.store.lastChange(after: 0, in: other) == made[4].number)
        #expect(
            try book.store.changes(after: made[3].number, through: .max, of: scope(1), groupsOf: nil)
                .filter(seeing.contains) == left)
    }

    @Test("An update of keys that an app may not read is not a change for it")
    func keys() throws {
        let book = try Book([person("Ada")])
        let added = book.store.lastChange
        try book.store.apply([.update(RecordNumber(1), person("Eve"), keys: ContactKeySet([.givenName]))], at: 0)
        for records in [RecordScope.all, scope(1)] {
            let blind = ChangeScope(records: records, keys: ContactKeySet([.nickname]), app: Self.mail)
            let seeing = ChangeScope(records: records, keys: ContactKeySet([.givenName]), app: Self.mail)
            #expect(try book.store.lastChange(after: 0, in: blind) == added)
            #expect(try book.store.lastChange(after: 0, in: seeing) == book.store.lastChange)
        }
    }

    @Test("Groups contain contacts and groups, and never themselves")
    func groups() throws {
        let book = try Book([person("Ada"), person("Bob")])
        let number = { RecordNumber($0) }
        try book.store.apply(
            (10...12).map { .group(.add(number($0), name: "G\($0)", owner: $0 == 11 ? Self.chat : Self.mail)) }, at: 0)
        let nest = { (child: Int64, parent: Int64, visible: [UInt8]?) throws -> Void in
            try book.store.apply([.group(.addSubgroup(number(child), to: number(parent), visible: visible))], at: 0)
        }
        try nest(11, 10, nil)
        try nest(12, 11, nil)
        #expect(throws: ChangeError.containmentCycle(index: 0)) { try nest(10, 12, nil) }
        #expect(throws: ChangeError.containmentCycle(index: 0)) { try nest(10, 10, Self.mail) }
        // A cycle through an invisible group is possible, and reading it ends.
        try nest(10, 12, Self.mail)
        #expect(throws: ChangeError.containmentCycle(index: 0)) { try nest(12, 10, nil) }
        #expect(throws: ChangeError.parentRecordDoesNotExist(index: 0)) { try nest(10, 99, nil) }
        #expect(throws: ChangeError.recordDoesNotExist(index: 0)) { try nest(99, 10, nil) }
        try book.store.apply([.group(.addMember(number(1), to: number(10)))], at: 0)
        #expect(try book.store.members(of: number(10), within: .all) == [number(1)])
        #expect(try book.store.members(of: number(10), within: scope(2)) == [])
        #expect(try book.store.groups(of: Self.mail).map(\.name) == ["G10", "G12"])
        #expect(try book.store.groups(of: nil).count == 3)
        try book.store.apply([.group(.setMe(number(1))), .delete(number(1))], at: 0)
        #expect(try book.store.members(of: number(10), within: .all) == [])
        #expect(try book.store.me() == nil)
        try book.store.apply([.group(.delete(number(10)))], at: 0)
        #expect(try book.store.group(number(10), of: nil) == nil)
        #expect(try book.store.group(number(11), of: nil)?.parents == [])
    }
}
