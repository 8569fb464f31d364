import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactsStore

/// An app that saves.
struct BinApp {
    let author: ChangeAuthor
    let saves: SaveAuthor

    init(_ name: String, _ mark: UInt8, isAssumable: Bool = true) {
        author = ChangeAuthor(app: [UInt8](repeating: mark, count: 16))
        saves = SaveAuthor(
            app: name, strength: isAssumable ? "installed" : "sandboxed", isAssumable: isAssumable)
    }

    static let mail = BinApp("mail", 7)
    static let chat = BinApp("chat", 8)
    static let sync = BinApp("sync", 9, isAssumable: false)
}

extension SpaceBounds {
    /// Without a bin, what is deleted leaves the files at the next checkpoint.
    static var withoutBin: SpaceBounds {
        var bounds = SpaceBounds()
        bounds.binTime = 0
        return bounds
    }
}

extension Book {
    @discardableResult
    func save(
        _ changes: [ContactChange], as app: BinApp, at seconds: Int64 = 100, access: AuthorAccess = .full
    ) throws(ChangeError) -> [BookChange] {
        try store.apply(
            changes, by: app.author, at: seconds, isEvidence: access == .full, access: access, of: app.saves)
    }

    /// The number of the newest save in the bin.
    func lastSave() throws -> Int64 { try #require(try store.savesInBin(BinQuery()).first).number }

    /// Sets the days of the bin, also to fewer, which take effect a day later.
    func set(binDays days: Int64?, at seconds: Int64) throws {
        #expect(try store.set(binDays: days, mayShorten: true, at: seconds))
    }

    /// What the book has of its contacts and groups, but for the bin and the history.
    func content() throws -> [String: [[String]]] {
        let tables = [
            "contact": """
            SELECT record, givenNameKey, familyNameKey, identifiers, stored, maker, container, checksum, apart FROM contact
            """,
            "image": "SELECT record, CAST(imageData AS TEXT), CAST(thumbnailImageData AS TEXT) FROM image",
            "word": "SELECT * FROM word", "email": "SELECT * FROM email",
            "phone": "SELECT * FROM phone", "beginning": "SELECT * FROM beginning", "apart": "SELECT * FROM apart",
            "uid": "SELECT * FROM uid", "member": "SELECT * FROM member", "subgroup": "SELECT * FROM subgroup",
            "group": "SELECT record, name, owner, container, confirmed FROM contactGroup",
            "link": "SELECT * FROM link", "handLink": "SELECT * FROM handLink", "unlike": "SELECT * FROM unlike",
            "unsure": "SELECT * FROM unsure", "container": "SELECT * FROM container", "me": "SELECT me FROM book",
        ]
        return try tables.mapValues { try folder.rows($0).sorted { $0.lexicographicallyPrecedes($1) } }
    }

    /// Expects the same content. Says only in which tables it differs, because photos are long.
    func expectContent(_ content: [String: [[String]]], _ comment: Comment? = nil) throws {
        let now = try self.content()
        #expect(content.keys.filter { now[$0] != content[$0] }.sorted() == [], comment)
    }

    /// Expects that the bytes that the book counts for its bin are those of its rows.
    func expectCounted() throws {
        let counted = try folder.rows("SELECT portion, bytes FROM bin ORDER BY portion")
        let rows = try folder.rows(
            """
            SELECT portion, (SELECT coalesce(sum(bytes), 0) FROM binItem WHERE binItem.portion = bin.portion)
                + (SELECT coalesce(sum(bytes), 0) FROM binSave WHERE binSave.portion = bin.portion)
            FROM bin ORDER BY portion
            """)
        #expect(counted == rows)
        #expect(try folder.rows("SELECT item FROM binPhoto WHERE item NOT IN (SELECT number FROM binItem)") == [])
    }

    /// Whether a file of the book has this text, after a checkpoint.
    func hasText(_ text: String) throws -> Bool {
        try store.checkpoint()
        let bytes = contents(folder.file) + contents(folder.file + "-wal")
        return String(decoding: bytes, as: UTF8.self).contains(text)
    }
}

/// A book with all that a contact can have.
struct BinSample {
    let book: Book
    static let photo = String(repeating: "QUJD", count: 3_000)
    static let (ada, bob, cid, dan, family, club, work): (Int64, Int64, Int64, Int64, Int64, Int64, Int64) =
        (1, 2, 3, 4, 20, 21, 30)

    init(space: SpaceBounds = SpaceBounds()) throws {
        book = try Book(space: space)
        func number(_ record: Int64) -> RecordNumber { RecordNumber(record) }
        let store = book.store
        let ada = person("Ada", "Lovelace") {
            $0.phoneNumbers = [LabeledString(label: "home", value: "+49 30 1"), LabeledString(value: "+49 30 2")]
            $0.emailAddresses = [LabeledString(value: "ada@example.org")]
            $0.note = "Zymurgist"
            $0.extraProperties = ["UID:one", "X-ONE:1"]
            $0.imageData = Self.photo
        }
        try store.apply(
            [
                .container(.add(number(Self.work), name: "Work")), .add(number(Self.ada), ada),
                .container(.put(number(Self.ada), isGroup: false, in: number(Self.work))),
                .add(number(Self.bob), person("Bob") { $0.imageData = "/9j/4AAQ" }),
                .add(number(Self.cid), person("Ada", "Lovelace") { $0.emailAddresses = ada.emailAddresses }),
                .add(number(Self.dan), person("Dan")),
                .group(.add(number(Self.family), name: "Family", owner: BinApp.sync.author.app)),
                .group(.add(number(Self.club), name: "Club", owner: BinApp.chat.author.app)),
                .group(.addMember(number(Self.ada), to: number(Self.family))),
                .group(.addMember(number(Self.bob), to: number(Self.family))),
                .group(.addSubgroup(number(Self.family), to: number(Self.club), visible: nil)),
                .link(.link(number(Self.ada), number(Self.bob))), .link(.link(number(Self.bob), number(Self.dan))),
                .group(.setMe(number(Self.ada))),
            ], at: 10, isEvidence: true)
        // A member whom an app without full access added, and a contact that is no evidence.
        try store.apply([.group(.addMember(number(Self.ada), to: number(Self.club)))], at: 20)
        try store.apply(
            [.update(number(Self.bob), person("Bobby"), keys: ContactKeySet(.givenName))], at: 20)
        try store.apply([.link(.unlink(number(Self.cid), from: number(Self.ada)))], at: 30, isEvidence: true)
        try store.apply(
            [.thumbnail(number(Self.ada), Array("/9j/TTTT".utf8), of: Array(Self.photo.utf8))], at: 40)
    }
}
