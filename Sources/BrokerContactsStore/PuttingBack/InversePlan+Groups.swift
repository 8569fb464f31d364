import BrokerModel
import BrokerSQLite

/// Groups and containers.
extension InversePlan {
    /// The name of a group that exists.
    func name(ofGroup record: RecordNumber) throws -> String? {
        try db.statement("SELECT name FROM contactGroup WHERE record = ?").bind(1, record.rawValue).first { $0.text(0) }
    }

    /// Whether the app added a group. The bin knows that of a group that is gone.
    private func isOwn(_ group: RecordNumber) throws -> Bool {
        try db.statement(
            """
            SELECT 1 FROM contactGroup WHERE record = ?1 AND owner = ?2
            UNION ALL SELECT 1 FROM binItem WHERE subject = 2 AND record = ?1 AND maker = ?2 LIMIT 1
            """
        )
        .bind(1, group.rawValue).bind(2, view.seen.app).hasRow()
    }

    /// Whether the app sees a group, or would if the group came back.
    mutating func sees(group: RecordNumber) throws -> Bool {
        guard try isOwn(group) else { return view.seen.groupOwner == nil }
        made.ownGroups.insert(group)
        return true
    }

    mutating func plan(group subject: Subject) throws {
        let (record, rows) = (subject.record, rows(subject))
        guard try sees(group: record) else { return miss() }
        guard let first = rows.first?.state, let last = rows.last?.state, first.existed, let item = first.item else {
            return
        }
        let select = try db.statement("SELECT name FROM binItem WHERE number = ?")
        let next = try db.statement(
            "SELECT existed FROM binItem WHERE subject = 2 AND record = ? AND number > ? ORDER BY number LIMIT 1"
        )
        .bind(1, record.rawValue).bind(2, last.place).first { $0.integer(0) == 1 }
        guard let now = try name(ofGroup: record) else {
            guard last.existed, next == nil || next == false, let item = last.item,
                try !isChanged(subject, after: item), let name = try select.bind(1, item).first({ $0.text(0) })
            else { return miss() }
            take(\.groups, Self.back(.group(name: name), last))
            guard !made.hasMore else { return }
            returnedGroups.insert(record)
            deletions[record] = last.save
            if rows.count > 1 { again = true }
            return
        }
        // It came back meanwhile, and its members may come back yet.
        if last.existed, next == false { deletions[record] = last.save }
        let former = try select.bind(1, item).first { $0.text(0) } ?? now
        let later = try db.statement(
            "SELECT name FROM binItem WHERE subject = 2 AND record = ? AND existed = 1 AND number > ? ORDER BY number LIMIT 1"
        )
        let after = try later.bind(1, record.rawValue).bind(2, last.place).first { $0.text(0) } ?? now
        guard former != after, former != now else { return }
        guard view.isForced || now == after else { return made.groupConflicts.append(record) }
        take(\.groups, .group(.rename(record, name: former)))
    }

    /// A group that the app added goes, unless others use it by now.
    mutating func planRemoval(ofGroup subject: Subject) throws {
        let record = subject.record
        guard try sees(group: record), try name(ofGroup: record) != nil else { return }
        if !view.isForced {
            let first = rows(subject)[0]
            let isOthers = try isUsedByOthers(record, since: first)
            guard !isOthers || view.seesEverything else { return miss() }
            if try isOthers || isUsedLater(record, after: first.state.place) {
                return made.groupConflicts.append(record)
            }
        }
        take(\.groups, .group(.delete(record)))
    }

    /// Whether other authors have changed a group, or what is in it, or what it is in, since a save.
    private func isUsedByOthers(_ group: RecordNumber, since row: Row) throws -> Bool {
        try db.statement(
            """
            SELECT 1 FROM change JOIN author ON author.id = change.author
            WHERE record = ?1 AND app <> ?2 AND change.number >= ?3
            UNION ALL SELECT 1 FROM binItem JOIN binSave ON binSave.number = save
            WHERE subject IN (2, 3, 4) AND record = ?1 AND binItem.number > ?4 AND mark <> ?2
            UNION ALL SELECT 1 FROM subgroup JOIN binItem ON subject = 4 AND record = parent AND member = child
            JOIN binSave ON binSave.number = save WHERE child = ?1 AND binItem.number > ?4 AND mark <> ?2 LIMIT 1
            """
        )
        .bind(1, group.rawValue).bind(2, view.seen.app).bind(3, BookChange.lowestNumber(at: row.time))
        .bind(4, row.state.place).hasRow()
    }

    /// Whether the app itself has used a group in other saves since, which it did not take back.
    private func isUsedLater(_ group: RecordNumber, after number: Int64) throws -> Bool {
        try db.statement(
            """
            SELECT 1 FROM binItem JOIN binSave ON binSave.number = save
            WHERE subject IN (2, 3, 4) AND record = ?1 AND binItem.number > ?2
            AND groupToken IS NOT ?3 AND takenBack = 0 AND takesBack IS NULL LIMIT 1
            """
        )
        .bind(1, group.rawValue).bind(2, number).bind(3, self.group).hasRow()
    }

    // MARK: Containers

    private func name(ofContainer record: RecordNumber) throws -> String? {
        try db.statement("SELECT name FROM container WHERE record = ?").bind(1, record.rawValue).first { $0.text(0) }
    }

    mutating func plan(container subject: Subject) throws {
        guard view.seesEverything else { return miss() }
        let first = rows(subject)[0].state
        guard first.existed, try name(ofContainer: first.record) == nil else { return }
        guard let item = first.item,
            let name = try db.statement("SELECT name FROM binItem WHERE number = ?").bind(1, item).first({ $0.text(0) })
        else { return miss() }
        take(\.others, Self.back(.container(name: name), first))
    }

    /// A container that the app added goes if nothing else is in it.
    mutating func planRemoval(ofContainer subject: Subject) throws {
        let record = subject.record
        guard view.seesEverything, !rows(subject)[0].state.existed, try name(ofContainer: record) != nil else { return }
        let inside = try ["contact", "contactGroup"].flatMap { table in
            try db.statement("SELECT record FROM \(table) WHERE container = ?").bind(1, record.rawValue).records()
        }
        guard inside.allSatisfy({ isAdded($0) || addedGroups.contains($0) }) else { return miss() }
        take(\.others, .container(.delete(record)))
    }
}
