import AccessControl
import ContactsModel

extension AccessStore {
    /// Record numbers that no record has ever had: the time in microseconds since 1970, or one more than the last.
    ///
    /// By the time, so that none is used again even after an older copy of the file was restored.
    public func takeRecordNumbers(_ count: Int, now: Int64) -> [RecordNumber] {
        guard count > 0 else { return [] }
        let first = max(now, counters.recordNumber + 1)
        counters.recordNumber = first + Int64(count) - 1
        return (first...counters.recordNumber).map { RecordNumber($0) }
    }

    /// Records that contacts are about to be added; a limited app's set is widened by them.
    ///
    /// Commit and sync this before the contacts are written: after a crash between the two, the set names
    /// records that do not exist, which is harmless, and the intent tells of a save that did not happen.
    ///
    /// - Parameter isKeptToSingle: the policy keeps the app to single contacts, whatever it was granted: what it adds is its own.
    /// - Returns: the intent, for ``endSave(_:)``.
    public func beginSave(
        uid: UInt32, principal: Principal, adds: [RecordNumber], isKeptToSingle: Bool = false
    ) -> Int64 {
        counters.intent += 1
        let id = counters.intent
        touch(id)
        intents[id] = SaveIntent(id: id, uid: uid, principal: principal, adds: adds)
        unwrittenIntents.insert(id)
        noteOwner(of: uid)
        widen(principal, with: Set(adds))
        if isKeptToSingle { addOwn(Set(adds), to: principal) }
        return id
    }

    /// The contacts are in the book, or it is certain that they never will be.
    public func endSave(_ intent: Int64) {
        guard intents[intent] != nil else { return }
        touch(intent)
        intents[intent] = nil
        unwrittenIntents.insert(intent)
    }

    /// Saves without an end, oldest first: after a start, what a crash cut short.
    public func openIntents() -> [SaveIntent] { intents.values.sorted { $0.id < $1.id } }

    /// Ends a save that a crash cut short: what is not in the book leaves the sets again.
    ///
    /// - Parameter existing: the records of ``SaveIntent/adds`` that are in the book.
    public func resolveSave(_ intent: Int64, existing: Set<RecordNumber>) {
        guard let open = intents[intent] else { return }
        unwiden(Set(open.adds).subtracting(existing), uid: open.uid)
        endSave(intent)
    }

    private func touch(_ intent: Int64) {
        guard batch.intents[intent] == nil else { return }
        batch.intents[intent] = .some(intents[intent])
    }
}
