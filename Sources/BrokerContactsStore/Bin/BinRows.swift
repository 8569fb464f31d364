import BrokerBounds
import BrokerModel
import BrokerSQLite

/// Deletes rows of the bin, and counts its bytes. Use it only within a transaction.
struct BinRows {
    let db: Database

    /// The bytes that a row and its entries in indexes count, without its content.
    static let row: Int64 = 256

    /// A file that says more is not taken at its word.
    private static let mostDays: Int64 = 3_650

    /// Returns for how many days the bin keeps what a save changed, and the number of its last save.
    func settings(_ bounds: SpaceBounds) throws(StoreError) -> (days: Int64, saves: Int64) {
        let select = try db.statement("SELECT coalesce(binDays, ?), binSaves FROM book")
        return try select.bind(1, bounds.binTime / 86_400).first {
            (min(max($0.integer(0), 0), Self.mostDays), $0.integer(1))
        }
            ?? (0, 0)
    }

    /// Writes the row of a save.
    ///
    /// - Returns: the bytes that it counts.
    func write(_ save: BinSave, _ mark: [UInt8]) throws(StoreError) -> Int64 {
        let bytes = Self.row + Int64(save.author.app.utf8.count)
        try db.statement(
            """
            INSERT INTO binSave (number, kind, time, portion, bytes, mark, app, strength, added, changed, deleted)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        .bind(1, save.number).bind(2, save.kind.rawValue).bind(3, save.time).bind(4, save.author.portion.rawValue)
        .bind(5, bytes).bind(6, mark).bind(7, save.author.app).bind(8, save.author.strength)
        .bind(9, Int64(save.added)).bind(10, Int64(save.changed)).bind(11, Int64(save.deleted)).run()
        try db.statement("UPDATE book SET binSaves = ?").bind(1, save.number).run()
        return bytes
    }

    /// Notes that a backup replaced all contacts, so that they are not what the bin's saves left.
    func noteRestore(by author: ChangeAuthor, at seconds: Int64, _ bounds: SpaceBounds) throws(StoreError) {
        let (days, saves) = try settings(bounds)
        guard days > 0 else { return }
        let save = BinSave(
            number: saves + 1, kind: .restore, time: seconds, author: .person, added: 0, changed: 0, deleted: 0)
        try add(write(save, author.app), to: save.author.portion.rawValue)
    }

    // MARK: Bytes

    func size(of portion: BinPortion) throws(StoreError) -> Int64 {
        try db.statement("SELECT bytes FROM bin WHERE portion = ?").bind(1, portion.rawValue).first { $0.integer(0) }
            ?? 0
    }

    func add(_ bytes: Int64, to portion: Int64) throws(StoreError) {
        try db.statement("UPDATE bin SET bytes = bytes + ? WHERE portion = ?").bind(1, bytes).bind(2, portion).run()
    }

    /// A query for what the photo of the row ?1 counts. SQLite gives a photo pages of its own.
    static let photoSize = """
        SELECT (coalesce(length(imageData), 0) + coalesce(length(thumbnailImageData), 0) + 4095) / 4096 * 4096
        FROM binPhoto WHERE item = ?1
        """

    func photoBytes(_ item: Int64) throws(StoreError) -> Int64 {
        try db.statement(Self.photoSize).bind(1, item).first { $0.integer(0) } ?? 0
    }

    // MARK: Deleting

    /// Deletes the saves of before this time, in seconds since 1970, with everything that the bin has of them.
    ///
    /// - Returns: whether there were any.
    func expire(before seconds: Int64) throws(StoreError) -> Bool {
        let saves = try db.statement("SELECT number FROM binSave WHERE time < ?").bind(1, seconds)
            .all { $0.integer(0) }
        for save in saves {
            let items = try db.statement("SELECT number FROM binItem WHERE save = ? ORDER BY number").bind(1, save)
                .all { $0.integer(0) }
            for item in items { try remove(item) }
            try removeIfEmpty(save: save)
        }
        return !saves.isEmpty
    }

    func empty() throws(StoreError) {
        for table in ["binPhoto", "binItem", "binSave"] { try db.execute("DELETE FROM \(table)") }
        try db.execute("UPDATE bin SET bytes = 0")
    }

    /// Deletes rows of a portion until it has at most this size: first those of records that only one app ever changed,
    /// then those between an author's consecutive changes. What else the person's saves kept is pushed out, the
    /// oldest first, but what an app's save kept is not.
    ///
    /// - Parameter save: the present save.
    /// - Returns: whether something was deleted.
    func makeRoom(in portion: BinPortion, most: Int64, for save: Int64) throws(StoreError) -> Bool {
        let before = try size(of: portion)
        guard before > most else { return false }
        for rank in [0, 1] as [Int64] {
            let select = try db.statement(
                "SELECT number, save FROM binItem WHERE portion = ? AND rank = ? AND rank < 2 ORDER BY number LIMIT 64")
            while try size(of: portion) > most {
                let found = try select.bind(1, portion.rawValue).bind(2, rank).all { ($0.integer(0), $0.integer(1)) }
                guard !found.isEmpty else { break }
                for (item, former) in found where try size(of: portion) > most {
                    try remove(item, isStoodFor: rank == 1)
                    try removeIfEmpty(save: former)
                }
            }
        }
        if portion == .person { try pushOut(most: most, except: save) }
        return try size(of: portion) < before
    }

    /// The row stays, because it says that the person changed the contact.
    ///
    /// - Parameter save: the present save. What it deletes can be put back at least until the next one.
    private func pushOut(most: Int64, except save: Int64) throws(StoreError) {
        let select = try db.statement(
            """
            SELECT number FROM binItem WHERE portion = ? AND subject = 1 AND stored IS NOT NULL AND save <> ?
            ORDER BY number LIMIT 64
            """)
        while try size(of: .person) > most {
            let items = try select.bind(1, BinPortion.person.rawValue).bind(2, save).all { $0.integer(0) }
            guard !items.isEmpty else { return }
            for item in items where try size(of: .person) > most {
                // Another author's earlier row may have this photo, too.
                if try former(of: item) == nil {
                    try db.statement("DELETE FROM binPhoto WHERE item = ?").bind(1, item).run()
                }
                let bytes = Self.row + (try photoBytes(item))
                try db.statement(
                    "UPDATE bin SET bytes = bytes + ?2 - (SELECT bytes FROM binItem WHERE number = ?1) WHERE portion = 2"
                )
                .bind(1, item).bind(2, bytes).run()
                try db.statement(
                    """
                    UPDATE binItem SET bytes = ?2, stored = NULL, apartStored = NULL
                    WHERE number = ?1
                    """
                )
                .bind(1, item).bind(2, bytes).run()
            }
        }
    }

    /// Deletes a row. Its photo goes to the row before it if that needs it.
    ///
    /// - Parameter isStoodFor: whether the row before it stands for it from now on, in its save.
    private func remove(_ item: Int64, isStoodFor: Bool = false) throws(StoreError) {
        let former = try former(of: item)
        if let former {
            try db.statement("UPDATE OR IGNORE binPhoto SET item = ? WHERE item = ?").bind(1, former).bind(2, item)
                .run()
            if db.changesCount > 0 {
                let bytes = try photoBytes(former)
                for (item, sign) in [(former, 1), (item, -1)] as [(Int64, Int64)] {
                    try db.statement("UPDATE binItem SET bytes = bytes + ? WHERE number = ?")
                        .bind(1, sign * bytes).bind(2, item).run()
                    try db.statement(
                        "UPDATE bin SET bytes = bytes + ? WHERE portion = (SELECT portion FROM binItem WHERE number = ?)"
                    )
                    .bind(1, sign * bytes).bind(2, item).run()
                }
            }
            if isStoodFor {
                try db.statement(
                    """
                    UPDATE binItem SET (save, flags) = (SELECT save, binItem.flags | (later.flags & 2) FROM binItem AS later
                        WHERE later.number = ?2) WHERE number = ?1
                    """
                )
                .bind(1, former).bind(2, item).run()
            }
        } else {
            // The next one of this author is its oldest now.
            try db.statement(
                """
                UPDATE binItem SET rank = 2 WHERE rank = 1 AND number = (SELECT min(later.number) FROM binItem AS later
                    JOIN binItem AS gone USING (subject, record, member) WHERE gone.number = ?1 AND later.number > ?1)
                """
            )
            .bind(1, item).run()
        }
        try db.statement("DELETE FROM binPhoto WHERE item = ?").bind(1, item).run()
        let select = try db.statement("DELETE FROM binItem WHERE number = ? RETURNING portion, bytes")
        let gone = try select.bind(1, item).all { ($0.integer(0), $0.integer(1)) }
        for (portion, bytes) in gone { try add(-bytes, to: portion) }
    }

    /// Returns the row before this one that is about the same subject.
    func former(of item: Int64) throws(StoreError) -> Int64? {
        try db.statement(
            """
            SELECT max(former.number) FROM binItem AS former JOIN binItem AS item USING (subject, record, member)
            WHERE item.number = ?1 AND former.number < ?1
            """
        )
        .bind(1, item).first { $0.integerOrNil(0) }
    }

    private func removeIfEmpty(save: Int64) throws(StoreError) {
        guard try !db.statement("SELECT 1 FROM binItem WHERE save = ? LIMIT 1").bind(1, save).hasRow() else { return }
        let delete = try db.statement("DELETE FROM binSave WHERE number = ? RETURNING portion, bytes")
        let gone = try delete.bind(1, save).all { ($0.integer(0), $0.integer(1)) }
        for (portion, bytes) in gone { try add(-bytes, to: portion) }
    }
}
