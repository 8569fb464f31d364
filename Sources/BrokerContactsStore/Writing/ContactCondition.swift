import BrokerModel
import BrokerSQLite

/// A contact that a save changes only if it is as the author saw it.
public struct ContactCondition: Sendable {
    /// The index of the step in the author's save.
    let step: Int
    let record: RecordNumber
    /// Whether the contact is unified: all visible cards that are linked with the record then count.
    let isUnified: Bool
    let scope: RecordScope
    let keys, images: ContactKeySet
    let isMet: @Sendable ([(record: RecordNumber, contact: StoredContact, images: ContactImages)]) -> Bool

    /// - Parameters:
    ///   - scope: the cards that the author sees.
    ///   - keys: the keys to read; links count as a reader of them sees them.
    ///   - isMet: whether the author saw the contact like this. It runs on the user's queue, within the save's transaction.
    public init(
        step: Int, record: RecordNumber, isUnified: Bool, scope: RecordScope, keys: ContactKeySet,
        images: ContactKeySet,
        isMet: @escaping @Sendable ([(record: RecordNumber, contact: StoredContact, images: ContactImages)]) -> Bool
    ) {
        self.step = step
        self.record = record
        self.isUnified = isUnified
        self.scope = scope
        self.keys = keys
        self.images = images
        self.isMet = isMet
    }
}

extension ContactWriter {
    /// Throws if the contact of a condition is not as its author saw it. A contact that does not exist is left to the change
    /// that concerns it.
    func check(_ condition: ContactCondition, _ links: BookLinks) throws {
        var cards: [(record: RecordNumber, contact: StoredContact, images: ContactImages)] = []
        let members =
            condition.isUnified
            ? links.seeing(condition.keys).members(of: condition.record, within: condition.scope) : [condition.record]
        for record in members {
            guard let stored = try contact(record.rawValue, condition.keys)?.stored else { continue }
            let images = try condition.images.isEmpty ? nil : photos(record.rawValue, condition.images)
            cards.append((record, stored, images ?? .none))
        }
        guard cards.isEmpty || condition.isMet(cards) else { throw ChangeError.recordChanged(step: condition.step) }
    }

    private func photos(_ record: Int64, _ keys: ContactKeySet) throws(StoreError) -> ContactImages? {
        try db.statement(ReadSQL.images(keys)).bind(1, record).first { row in
            ContactImages(
                thumbnailImageData: row.isNull(1) ? nil : ContactImages.member(.thumbnailImageData, row.bytes(1)),
                imageData: row.isNull(0) ? nil : ContactImages.member(.imageData, row.bytes(0)))
        }
    }
}
