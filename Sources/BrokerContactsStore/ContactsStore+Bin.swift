import BrokerModel
import BrokerSQLite
import Synchronization

/// The bin keeps what saves changed and deleted. An app learns of it only what it may take back of its own saves.
extension ContactsStore {
    /// Returns saves of which the bin has something, the newest first. Do not call this on the event loop.
    public func savesInBin(_ query: BinQuery) throws(StoreError) -> [BinSave] {
        try write { try BinReader(db: $0.database).saves(query) }
    }

    /// Returns the first contacts that a save changed. Do not call this on the event loop.
    public func contactsInBin(of save: Int64, limit: Int) throws(StoreError) -> [BinContact] {
        try write { try BinReader(db: $0.database).contacts(of: save, limit: limit) }
    }

    /// Returns contacts as they are, or as they were when they were deleted. Damaged ones are left out. Do not call this on
    /// the event loop.
    public func namesInBin(of records: [RecordNumber]) throws(StoreError) -> [RecordNumber: StoredContact] {
        try write { try BinReader(db: $0.database).names(of: records) }
    }

    /// Makes what a request names as it was before, in one save of the person. Contacts keep their record numbers and
    /// their values' identifiers. Do not call this on the event loop.
    ///
    /// - Parameters:
    ///   - isForced: whether contacts that somebody else has changed since are put back, too.
    ///   - entry: the outbox entry, which is stored in the same transaction unless nothing changes.
    public func putBack(
        _ request: PutBackRequest, isForced: Bool = false, asOf: Int64? = nil, at seconds: Int64,
        outbox entry: OutgoingEntry? = nil
    ) throws(ChangeError) -> PutBackResult {
        try note {
            try $0.putBack(request, isForced: isForced, asOf: asOf, at: seconds, outbox: entry)
        } changes: {
            $0.changes
        }
    }

    /// Returns what ``putBack(_:isForced:asOf:at:outbox:)`` would do now. Do not call this on the event loop.
    public func wouldPutBack(_ request: PutBackRequest, isForced: Bool = false) throws(StoreError) -> PutBackResult {
        try write { try $0.wouldPutBack(request, isForced: isForced) }
    }

    /// Returns an app's groups of saves of which the bin has something, the last one first. Do not call this on the event
    /// loop.
    ///
    /// - Parameter mark: identifies the app, as ``ChangeAuthor/app`` does.
    public func saveGroups(of mark: [UInt8], limit: Int) throws(StoreError) -> [ListedSaveGroup] {
        try read(.onWorker) { try BinReader(db: $0.database).groups(of: mark, limit: limit) }
    }

    /// Returns the changes that take back what a group of an app's saves did. Do not call this on the event loop.
    ///
    /// - Parameter limit: the maximum number of changes; `nil` if they are only counted.
    /// - Returns: `nil` if the bin has nothing of such a group of this app.
    public func inverse(
        of group: String, _ view: InverseView, limit: Int?
    ) throws(StoreError) -> InverseSave? {
        try read(.onWorker) { reader in
            try reader.inOneRead { try InversePlan(reader, group, view, limit: limit)?.made }
        }
    }

    /// Returns for how many days the bin keeps what a save changed, and of how many saves it has something. Do not call this
    /// on the event loop.
    public func bin(at seconds: Int64) throws(StoreError) -> (days: BinDays, saves: Int) {
        try write { writer in
            let db = writer.database
            let saves = try db.integer("SELECT count(*) FROM binSave") ?? 0
            return (try BinRows(db: db).settings(writer.space.bounds, at: seconds).days, Int(saves))
        }
    }

    /// Sets for how many days the bin keeps what a save changed. More days take effect at once, and fewer after
    /// `SpaceBounds.binDelay`; with 0, the bin is then emptied and keeps nothing more. A choice that has not taken effect yet
    /// is replaced. Do not call this on the event loop.
    ///
    /// - Parameters:
    ///   - days: at most `SpaceBounds.mostBinDays`; `nil` for the default.
    ///   - mayShorten: whether they may be fewer than now.
    /// - Returns: `false` if they are fewer and may not be.
    public func set(binDays days: Int64?, mayShorten: Bool, at seconds: Int64) throws(StoreError) -> Bool {
        try leavingText { try $0.set(binDays: days, mayShorten: mayShorten, at: seconds) }
    }

    /// Deletes everything that the bin has. Do not call this on the event loop.
    public func emptyBin() throws(StoreError) { try leavingText { try $0.emptyBin() } }

    /// Deletes what the bin has of a contact, of all saves. Do not call this on the event loop.
    ///
    /// - Returns: of how many states.
    public func removeFromBin(_ record: RecordNumber) throws(StoreError) -> Int {
        try leavingText { try $0.removeFromBin(record) }
    }

    private func leavingText<Result: Sendable>(_ body: (BookWriter) throws -> Result) throws(StoreError) -> Result {
        let result = try write(body)
        kept.withLock { $0.leavesText = true }
        return result
    }

    /// Deletes from the bin what is older than its days. Do not call this on the event loop.
    ///
    /// - Returns: whether something was deleted. A checkpoint removes its text from the files.
    public func expireBin(at seconds: Int64) throws(StoreError) -> Bool {
        try write { try $0.expireBin(at: seconds) }
    }

    /// Whether text has left the bin since the last checkpoint, which removes it from the files.
    public var leavesText: Bool { kept.withLock { $0.leavesText } }
}
