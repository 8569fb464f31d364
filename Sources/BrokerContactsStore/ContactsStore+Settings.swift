import BrokerModel
import Synchronization

extension ContactsStore {
    /// The owner's preferences, from the cache.
    public var settings: BookSettings { kept.withLock { $0.settings } }

    /// Stores and syncs the owner's preferences, and sorts the book again if the language has changed. Do not call this on
    /// the event loop.
    public func set(_ settings: BookSettings) throws(StoreError) {
        let former = endBeginnings(unlessIn: settings.sortOrder)
        do throws(StoreError) {
            try write { try $0.set(settings) }
        } catch {
            kept.withLock { $0.beginnings = former }
            throw error
        }
        kept.withLock {
            $0.settings = settings
            $0.beginnings = settings.sortOrder
        }
        try useLanguage()
    }

    /// The locale whose alphabet determines the order now, as ICU names it: `sv_SE`; empty for the root locale.
    public var locale: String { kept.withLock { $0.locale } }

    /// Rebuilds the sort keys, once, if they were made for another language than the owner's. Reads go on meanwhile, by the
    /// former keys.
    func useLanguage() throws(StoreError) {
        let locale = try write { writer in
            try writer.useLanguage()
            return writer.locale
        }
        kept.withLock { $0.locale = locale }
    }

    /// Makes reads use no beginnings unless the order stays the same, and returns the order of those that are stored.
    func endBeginnings(unlessIn order: ContactOrder?) -> ContactOrder? {
        // While both readers' locks are held, no running read uses the former beginnings. Later reads use no
        // beginnings until the new order is stored.
        longReads.between {
            reader.withLock { _ in
                kept.withLock { kept in
                    defer { if kept.beginnings != order { kept.beginnings = nil } }
                    return kept.beginnings
                }
            }
        }
    }
}
