import BrokerModel
import BrokerNormalization

/// How a read is bounded, and which connection it uses.
public enum ReadingManner: Hashable, Sendable {
    /// On the event loop's connection, without a bound.
    case whole
    /// On the event loop's connection. A read that exceeds the bound on steps or time throws
    /// ``StoreError/takesLong``. Repeat such a read with ``onWorker``.
    case bounded
    /// On a separate connection, without a bound. Does not block reads on the event loop. Do not use this on
    /// the event loop.
    case onWorker
}

extension ContactQuery {
    /// Whether the query reads so much that the event loop should not begin it.
    ///
    /// - Parameter size: the number of contacts in the book.
    func isLong(size: Int) -> Bool {
        let ordered = order == .none || CollationKey.keys.isSubset(of: matchKeys)
        let count: Int
        switch (scope, predicate) {
        case (.all, .records(let records)): count = records.count
        case (.all, _): count = ordered ? 0 : size
        case (.only(let scope), .records(let records)): count = min(scope.count, records.count)
        case (.only(let scope), _): count = scope.count
        }
        // If some name keys are hidden, the sort keys are made contact by contact.
        return count > (ordered ? Self.mostOnLoop : Self.mostOnLoop / 10)
    }

    /// Returns the key of this query's sorted list in the cache.
    ///
    /// - Parameter scope: the part of the query's scope that the list contains.
    func keptSubject(_ scope: RecordScope) -> KeptPlaces.Subject {
        .scope(scope, order == .none ? [] : matchKeys.intersection(CollationKey.keys))
    }

    /// The maximum number of records that the event loop may look up one by one.
    static let mostOnLoop = 2_000
}
