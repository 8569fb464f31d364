import BrokerModel
import BrokerSQLite

/// What became of a contact since a group of saves first changed it: alternately by saves of the group, and by others.
struct ContactRuns {
    /// What saves of one side together did.
    struct Run {
        let isOwn: Bool
        /// The contact before the first of these saves, and after the last one.
        let before: Contact
        let after: Contact
        /// Where the photos of then are; `nil` if there was none.
        let photoBefore: Photo?
        let photoAfter: Photo?

        /// The keys that differ.
        var changed: ContactKeySet {
            let changed = after.keys(differingFrom: before, of: ContactKeySet.all.subtracting(.images))
            return photoBefore == photoAfter ? changed : changed.union(ContactKeySet(.imageData))
        }
    }

    /// Where a photo is. Two photos in different places can be equal, but that is looked up only for the one that comes back.
    enum Photo: Hashable {
        case inBin(Int64)
        case present
    }

    /// More states of one contact are not looked at.
    private static let most = 1_000

    let runs: [Run]
    let now: Contact
    private let record: RecordNumber
    private let db: Database

    /// - Parameters:
    ///   - number: the row of the bin to begin with.
    ///   - own: the rows of the group.
    /// - Returns: `nil` if the bin has some of it no more, or the contact is damaged.
    init?(
        of record: RecordNumber, from number: Int64, own: Set<Int64>, _ reader: BookReader
    ) throws {
        let db = reader.database
        let select = try db.statement(
            """
            SELECT number, existed FROM binItem WHERE subject = 1 AND record = ? AND member = 0 AND number >= ?
            ORDER BY number LIMIT ?
            """)
        let rows = try select.bind(1, record.rawValue).bind(2, number).bind(3, Int64(Self.most))
            .all { (item: $0.integer(0), existed: $0.integer(1) == 1) }
        guard rows.count < Self.most, let now = try reader.contact(record.rawValue).flatMap({ Contact($0) }) else {
            return nil
        }
        var states: [(item: Int64, contact: Contact?)] = []
        for row in rows {
            let contact = row.existed ? try FormerContact.card(row.item, record, db).flatMap { Contact($0) } : nil
            guard !row.existed || contact != nil else { return nil }
            // Where there was no contact, it had come to what it was when it was deleted.
            states.append((row.item, contact ?? states.last?.contact))
        }
        states.append((.max, now))
        let mayDiffer =
            try Self.hasPhotos(record, from: number, db)
            || Set(states.map { $0.contact?.imageDataAvailable }).count > 1
        func photo(_ state: (item: Int64, contact: Contact?)) throws -> Photo? {
            guard mayDiffer, state.contact?.imageDataAvailable == true else { return nil }
            return try FormerContact.photoItem(state.item, record, db).map { .inBin($0) } ?? .present
        }
        var runs: [Run] = []
        var start = 0
        while start < rows.count {
            let isOwn = own.contains(rows[start].item)
            var end = start + 1
            while end < rows.count, own.contains(rows[end].item) == isOwn { end += 1 }
            if let after = states[end].contact {
                let before = states[start].contact ?? after
                runs.append(
                    Run(
                        isOwn: isOwn, before: before, after: after,
                        photoBefore: states[start].contact == nil ? try photo(states[end]) : try photo(states[start]),
                        photoAfter: try photo(states[end])))
            }
            start = end
        }
        (self.runs, self.now, self.record, self.db) = (runs, now, record, db)
    }

    private static func hasPhotos(_ record: RecordNumber, from number: Int64, _ db: Database) throws -> Bool {
        try db.statement(
            "SELECT 1 FROM binItem JOIN binPhoto ON item = number WHERE subject = 1 AND record = ? AND number >= ? LIMIT 1"
        )
        .bind(1, record.rawValue).bind(2, number).hasRow()
    }

    /// The keys that others changed.
    var changedByOthers: ContactKeySet {
        runs.filter { !$0.isOwn }.reduce(into: []) { $0.formUnion($1.changed) }
    }

    /// What takes back the keys that the group changed, as far as they are not as before already.
    ///
    /// - Parameter keys: the keys that may be taken back.
    /// - Returns: also whether others have changed some of these keys since.
    func inverse(_ keys: ContactKeySet) throws -> (patch: Contact, keys: ContactKeySet, isConflict: Bool) {
        var (patch, changed, conflicts) = (Contact(), ContactKeySet(), ContactKeySet())
        var former: Photo?
        for run in runs {
            let ours = run.changed.intersection(keys)
            if run.isOwn {
                let new = ours.subtracting(changed)
                patch = patch.applying(run.before, keys: new.subtracting(.images))
                if new.contains(.imageData) { former = run.photoBefore }
                changed.formUnion(new)
            } else {
                conflicts.formUnion(ours.intersection(changed))
            }
        }
        var wanted = now.keys(differingFrom: patch, of: changed.subtracting(.images))
        if changed.contains(.imageData) {
            patch.imageData = try photo(former)
            if try patch.imageData != photo(now.imageDataAvailable ? .present : nil) {
                wanted.formUnion(ContactKeySet(.imageData))
            }
        }
        return (patch, wanted, !conflicts.isDisjoint(with: wanted))
    }

    /// Returns a photo in base64; empty if there is none.
    private func photo(_ place: Photo?) throws -> String {
        let bytes: [UInt8]?
        switch place {
        case nil: return ""
        case .inBin(let item):
            bytes = try db.statement("SELECT imageData FROM binPhoto WHERE item = ?").bind(1, item).first {
                $0.bytes(0)
            }
        case .present:
            bytes = try db.statement("SELECT imageData FROM image WHERE record = ?").bind(1, record.rawValue)
                .first { $0.bytes(0) }
        }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }
}
