import BrokerModel
import Synchronization

extension ContactsStore {
    /// Adds parts of a backup, or none of them, to a book that nobody uses yet. Do not call this on the event loop.
    ///
    /// - Parameter seconds: the creation date of contacts that have none.
    public func restore(_ parts: [RestoredPart], at seconds: Int64) throws(ChangeError) {
        try change { try $0.restore(parts, at: seconds) }
    }

    /// Replaces everything in this book except its change history by a book that was restored from a backup, or
    /// changes nothing. Do not call this on the event loop.
    ///
    /// - Parameters:
    ///   - folder: the folder of the restored book, which must be closed.
    ///   - entry: the outbox entry, which is stored in the same transaction.
    ///   - mustBeEmpty: whether to throw if this book has contacts.
    /// - Returns: the new entries of the change history.
    public func replace(
        byBookIn folder: String, by author: ChangeAuthor, at seconds: Int64, outbox entry: OutgoingEntry,
        mustBeEmpty: Bool
    ) throws(ChangeError) -> [BookChange] {
        let former = endBeginnings(unlessIn: nil)
        do throws(ChangeError) {
            let (made, links, settings) = try change { writer in
                let made = try writer.replace(
                    by: BookFile(folder: folder).path, by: author, at: seconds, outbox: entry,
                    mustBeEmpty: mustBeEmpty)
                return (made, writer.links, try writer.settings())
            }
            kept.withLock {
                $0.note(made, links)
                $0.settings = settings
                $0.beginnings = settings.sortOrder
            }
            // If the order cannot be changed now, it stays until the book is opened again.
            try? useLanguage()
            try? checkpoint()
            return made
        } catch {
            kept.withLock { $0.beginnings = former }
            throw error
        }
    }
}
