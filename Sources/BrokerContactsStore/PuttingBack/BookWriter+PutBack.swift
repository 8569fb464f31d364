import BrokerBounds
import BrokerModel
import BrokerSQLite

extension BookWriter {
    /// See ``ContactsStore/putBack(_:isForced:asOf:at:outbox:)``.
    func putBack(
        _ request: PutBackRequest, isForced: Bool, asOf: Int64?, at seconds: Int64, outbox entry: OutgoingEntry?
    ) throws -> PutBackResult {
        var result = PutBackResult()
        let made = try transaction { db in
            guard try asOf.map({ try db.lastChange() == $0 }) ?? true else { throw ChangeError.changedMeanwhile }
            let size = try db.bytesInUse()
            let plan = try PutBackPlan(db, request, isForced: isForced)
            let bin = try BinWriter(db, .putBack, of: .person, by: .nobody, isLimited: false, at: seconds, space.bounds)
            let save = try BookSave(
                db, ContactWriter(db, ordering: ordering), Linking(db, maker.normalizer, links, isEvidence: true, bin),
                maker, nil, by: .nobody, .full, keeping: [], at: seconds, perChange: space.bounds.change, bin)
            try save.putBack(plan.steps)
            let links = try save.finish()
            if try bin?.finish(save.changes, &binSpace) == true { leavesText = true }
            if let entry, !save.changes.isEmpty { try write(entry) }
            try space.check(save.use, by: .nobody, .full, before: size, at: seconds, db)
            result.items = plan.items
            result.changes = save.changes
            return links
        }
        links = made
        return result
    }

    /// See ``ContactsStore/wouldPutBack(_:isForced:)``.
    func wouldPutBack(_ request: PutBackRequest, isForced: Bool) throws -> PutBackResult {
        var result = PutBackResult()
        result.items = try PutBackPlan(database, request, isForced: isForced).items
        return result
    }
}
