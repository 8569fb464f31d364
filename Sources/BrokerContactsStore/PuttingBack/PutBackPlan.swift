import BrokerModel
import BrokerSQLite

/// The rows of the bin that answer a request, without those in conflict.
struct PutBackPlan {
    private(set) var steps: [FormerState] = []
    private(set) var items: [PutBackResult.Item] = []
    private let db: Database
    /// The number of the last restored backup; `nil` if there is none.
    private let restore: Int64?

    /// - Parameter isForced: whether conflicts are put back, too.
    init(_ db: Database, _ request: PutBackRequest, isForced: Bool) throws {
        self.db = db
        restore = try db.statement("SELECT max(number) FROM binSave WHERE kind = 2").first { $0.integerOrNil(0) }
        let found = try found(request)
        // What became of a contact after the same request's save had added it does not matter.
        let added = found.compactMap(\.addedNumbers)
        for step in try found.flatMap(split)
        where step.item == nil || step.subject != .contact
            || !added.contains(where: { $0.contains(step.record.rawValue) })
        {
            let isConflict = try !isForced && isChanged(step)
            if !isConflict { steps.append(step) }
            guard let outcome = try outcome(step) else { continue }
            items.append(
                PutBackResult.Item(
                    record: step.record, isGroup: step.subject == .group,
                    outcome: isConflict ? .conflict : outcome))
        }
    }

    private func found(_ request: PutBackRequest) throws -> [FormerState] {
        let columns = "subject, record, member, existed, former, save, mark"
        let table = "FROM binItem JOIN binSave ON binSave.number = save"
        switch request {
        case .contact(let record, let save): return Self.steps(try found(.save(save)), of: record)
        case .save(let save):
            let select = "SELECT binItem.number, \(columns) \(table) WHERE save = ? ORDER BY binItem.number"
            return try db.statement(select).bind(1, save).all(Self.step).compactMap(\.self)
        case .app(let app, let strength, let since):
            // The other columns are those of the row with the lowest number (sqlite.org/lang_select.html, bare columns). Rows
            // whose content the person removed come last, so a state from after that is put back.
            let select = """
                SELECT binItem.number, \(columns), min((flags & \(BinRows.removed)) << 56 | binItem.number) AS first \(table)
                WHERE time >= ?1 AND kind = 0 AND app = ?2 AND (?3 IS NULL OR strength = ?3)
                GROUP BY subject, record, member ORDER BY first
                """
            return try db.statement(select).bind(1, since).bind(2, app).bind(3, strength).all(Self.step)
                .compactMap(\.self)
        }
    }

    private static func step(_ row: PreparedStatement) -> FormerState? {
        BinSubject(rawValue: row.integer(1)).map {
            FormerState(
                item: row.integer(0), subject: $0, record: RecordNumber(row.integer(2)),
                member: RecordNumber(row.integer(3)), existed: row.integer(4) != 0, former: row.record(5),
                save: row.integer(6), mark: row.bytes(7), place: row.integer(0))
        }
    }

    /// Returns those steps that concern one contact.
    private static func steps(_ steps: [FormerState], of record: RecordNumber) -> [FormerState] {
        let set = steps.first { $0.subject == .handLink && $0.record == record }
        return steps.compactMap { step in
            switch step.subject {
            case .contact: step.record == record ? step : nil
            case .added: step.record <= record && record <= step.member ? step.added(record) : nil
            case .member: step.member == record ? step : nil
            case .unlike: step.record == record || step.member == record ? step : nil
            // The others of the set that the contact was in. Those that were in none have nothing to do with it.
            case .handLink: step.record == record || step.former != nil && step.former == set?.former ? step : nil
            case .me: step.former == record ? step : nil
            case .group, .subgroup, .container: nil
            }
        }
    }

    /// Returns a step for each contact that a save added.
    private func split(_ step: FormerState) throws(StoreError) -> [FormerState] {
        guard step.subject == .added else { return [step] }
        return try db.statement("SELECT record FROM contact WHERE record BETWEEN ? AND ?")
            .bind(1, step.record.rawValue).bind(2, step.member.rawValue).records().map(step.added)
    }

    /// Whether another author has changed a step's subject since, other than by putting it back, or a backup was restored.
    private func isChanged(_ step: FormerState) throws(StoreError) -> Bool {
        if let restore, restore > step.save { return true }
        let select = try db.statement(
            """
            SELECT 1 FROM binItem JOIN binSave ON binSave.number = save
            WHERE subject = ? AND record = ? AND member = ? AND binItem.number > ? AND mark <> ? AND kind <> 1
            """)
        return try select.bind(1, step.subject.rawValue).bind(2, step.record.rawValue).bind(3, step.member.rawValue)
            .bind(4, step.place).bind(5, step.mark).hasRow()
    }

    /// Returns `nil` for a step that is no contact and no group, or has nothing to do.
    private func outcome(_ step: FormerState) throws(StoreError) -> PutBackResult.Item.Outcome? {
        let isThere: Bool
        switch step.subject {
        case .contact: isThere = try db.hasContact(step.record)
        case .group:
            isThere = try db.statement("SELECT 1 FROM contactGroup WHERE record = ?").bind(1, step.record.rawValue)
                .hasRow()
        case .member, .subgroup, .handLink, .unlike, .me, .container, .added: return nil
        }
        guard step.existed else { return isThere ? .removed : nil }
        if step.subject == .contact, let item = step.item, try FormerContact.read(item, step.record, db) == nil {
            return .lost
        }
        return isThere ? .changed : .returned
    }
}
