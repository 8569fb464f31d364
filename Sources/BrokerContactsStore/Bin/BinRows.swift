import BrokerBounds
import BrokerModel
import BrokerSQLite

/// Deletes rows of the bin, and counts its bytes. Use it only within a transaction.
struct BinRows {
    let db: Database

    /// The bytes that a row and its entries in indexes count, without its content.
    static let row: Int64 = 256

    /// Returns for how many days the bin keeps what a save changed, and the number of its last save.
    ///
    /// - Parameter seconds: now, in seconds since 1970. If the clock went back, a shorter time is not in effect any more.
    func settings(_ bounds: SpaceBounds, at seconds: Int64) throws(StoreError) -> (days: BinDays, saves: Int64) {
        let select = try db.statement(
            "SELECT coalesce(binDays, ?1), coalesce(binDaysNext, ?1), binDaysAt, binSaves FROM book")
        return try select.bind(1, bounds.binTime / 86_400).first { row in
            // A file that says more is not taken at its word.
            let (days, next) = (min(max(row.integer(0), 0), SpaceBounds.mostBinDays), max(row.integer(1), 0))
            let shorter = row.integerOrNil(2).map { BinDays.Shorter(days: min(days, next), time: $0) }
            if let shorter, shorter.time <= seconds {
                return (BinDays(days: shorter.days, shorter: nil), row.integer(3))
            }
            return (BinDays(days: days, shorter: shorter), row.integer(3))
        } ?? (BinDays(days: 0, shorter: nil), 0)
    }

    /// Writes the row of a save.
    ///
    /// - Returns: the bytes that it counts.
    func write(_ save: BinSave, _ mark: [UInt8]) throws(StoreError) -> Int64 {
        let words = [save.author.app, save.group?.token, save.group?.label, save.group?.takesBack]
        let bytes = words.reduce(Self.row) { $0 + Int64($1?.utf8.count ?? 0) }
        try db.statement(
            """
            INSERT INTO binSave (number, kind, time, portion, bytes, mark, app, strength, added, changed, deleted,
                groupToken, label, takesBack)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        .bind(1, save.number).bind(2, save.kind.rawValue).bind(3, save.time).bind(4, save.author.portion.rawValue)
        .bind(5, bytes).bind(6, mark).bind(7, save.author.app).bind(8, save.author.strength)
        .bind(9, Int64(save.added)).bind(10, Int64(save.changed)).bind(11, Int64(save.deleted))
        .bind(12, save.group?.token).bind(13, save.group?.label).bind(14, save.group?.takesBack).run()
        try db.statement("UPDATE book SET binSaves = ?").bind(1, save.number).run()
        return bytes
    }

    /// Notes that a backup replaced all contacts, so that they are not what the bin's saves left.
    func noteRestore(by author: ChangeAuthor, at seconds: Int64, _ bounds: SpaceBounds) throws(StoreError) {
        let (days, saves) = try settings(bounds, at: seconds)
        guard days.days > 0 else { return }
        let save = BinSave(
            number: saves + 1, kind: .restore, time: seconds, author: .person, added: 0, changed: 0, deleted: 0)
        try add(write(save, author.app), to: save.author.portion.rawValue)
    }

    /// Notes that an app has taken back a group of its saves, all of it. What that group took back itself, counts as made
    /// again, and so on.
    func noteTakenBack(_ group: String, by mark: [UInt8]) throws(StoreError) {
        let set = try db.statement("UPDATE binSave SET takenBack = ? WHERE mark = ? AND groupToken = ?")
        let select = try db.statement(
            "SELECT takesBack FROM binSave WHERE mark = ? AND groupToken = ? AND takesBack IS NOT NULL LIMIT 1")
        var (next, isTakenBack, noted) = (Optional(group), true, Set<String>())
        while let group = next, noted.count < 1_000, noted.insert(group).inserted {
            try set.bind(1, isTakenBack ? 1 : 0).bind(2, mark).bind(3, group).run()
            next = try select.bind(1, mark).bind(2, group).first { $0.text(0) }
            isTakenBack.toggle()
        }
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
                    try notePartial(former)
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
                try deleteContent(of: item, photo: former(of: item) == nil)
            }
        }
    }

    /// Deletes what all rows have of a contact. They stay, because they say who changed it.
    ///
    /// - Returns: the number of rows that could still have something.
    func removeContents(of record: RecordNumber) throws(StoreError) -> Int {
        let select = try db.statement(
            "SELECT number FROM binItem WHERE subject = 1 AND record = ? AND flags & \(Self.removed) = 0")
        let items = try select.bind(1, record.rawValue).all { $0.integer(0) }
        for item in items { try deleteContent(of: item, photo: true, flags: Self.removed) }
        return items.count
    }

    /// The flag of a contact's row from which the person removed the content. Unlike what was pushed out, it is no state
    /// that stands for later ones.
    static let removed: Int64 = 4

    private func deleteContent(of item: Int64, photo: Bool, flags: Int64 = 0) throws(StoreError) {
        if photo { try db.statement("DELETE FROM binPhoto WHERE item = ?").bind(1, item).run() }
        let bytes = Self.row + (try photoBytes(item))
        let former = try db.statement("SELECT portion, bytes FROM binItem WHERE number = ?").bind(1, item)
            .first { ($0.integer(0), $0.integer(1)) }
        if let former { try add(bytes - former.1, to: former.0) }
        try db.statement(
            """
            UPDATE binItem SET bytes = ?2, flags = flags | ?3, stored = NULL, checksum = NULL, apartStored = NULL,
                apartChecksum = NULL
            WHERE number = ?1
            """
        )
        .bind(1, item).bind(2, bytes).bind(3, flags).run()
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
                let save = try db.statement("SELECT save FROM binItem WHERE number = ?").bind(1, former)
                    .first { $0.integer(0) }
                if let save { try notePartial(save) }
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

    /// Notes that rows of a save have left the bin. If all have, another save of its group says so.
    private func notePartial(_ save: Int64, isGone: Bool = false) throws(StoreError) {
        guard isGone else {
            try db.statement("UPDATE binSave SET partial = 1 WHERE number = ?").bind(1, save).run()
            return
        }
        let select = try db.statement(
            "SELECT mark, groupToken FROM binSave WHERE number = ? AND groupToken IS NOT NULL")
        guard let (mark, group) = try select.bind(1, save).first({ ($0.bytes(0), $0.text(1)) }) else { return }
        try db.statement(
            """
            UPDATE binSave SET partial = 1 WHERE number = (SELECT number FROM binSave
                WHERE mark = ? AND groupToken = ? AND number <> ? ORDER BY number DESC LIMIT 1)
            """
        )
        .bind(1, mark).bind(2, group).bind(3, save).run()
    }

    /// Returns the row before this one that is about the same subject, unless the person removed its content.
    func former(of item: Int64) throws(StoreError) -> Int64? {
        try db.statement(
            """
            SELECT max(former.number) FROM binItem AS former JOIN binItem AS item USING (subject, record, member)
            WHERE item.number = ?1 AND former.number < ?1 AND former.flags & \(Self.removed) = 0
            """
        )
        .bind(1, item).first { $0.integerOrNil(0) }
    }

    private func removeIfEmpty(save: Int64) throws(StoreError) {
        guard try !db.statement("SELECT 1 FROM binItem WHERE save = ? LIMIT 1").bind(1, save).hasRow() else { return }
        try notePartial(save, isGone: true)
        let delete = try db.statement("DELETE FROM binSave WHERE number = ? RETURNING portion, bytes")
        let gone = try delete.bind(1, save).all { ($0.integer(0), $0.integer(1)) }
        for (portion, bytes) in gone { try add(-bytes, to: portion) }
    }
}
