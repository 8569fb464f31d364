import BrokerModel
import Synchronization

/// A cached list of records in an order, for one state of the book.
struct KeptPlaces {
    /// Identifies the records of a list.
    enum Subject: Hashable {
        /// The contacts of a scope. The keys are the visible name keys, by which the contacts are sorted.
        case scope(RecordScope, ContactKeySet)
        /// The matches of the person's search.
        case search(String, RecordScope, excluding: Set<RecordNumber>)
    }

    let subject: Subject
    let order: ContactOrder
    /// The book's state when the list was made. Any connection that sees the same state may use the list.
    let state: State
    let records: [Int64]

    /// What the order of a list depends on.
    struct State: Hashable {
        /// The number of the book's last change.
        let lastChange: Int64
        /// Identifies the sort keys.
        let keys: UInt32
    }

    /// The maximum number of lists in the cache (`mostLists`), and of records in all lists together (`most`).
    /// Each record takes 8 bytes.
    static let mostLists = 16
    static let most = 1_000_000
}

/// A cache of sorted lists, so that the next page of a list needs no sort. The event loop and workers share
/// one cache.
final class KeptLists: Sendable {
    /// The most recently used list is last.
    private let lists = Mutex<[KeptPlaces]>([])

    /// Returns the records of a cached list; `nil` if there is none for the state that the reader sees.
    func records(of subject: KeptPlaces.Subject, _ order: ContactOrder, at state: KeptPlaces.State) -> [Int64]? {
        lists.withLock { lists in
            // Only reads that began earlier can still see an older state.
            lists.removeAll { $0.state.lastChange < state.lastChange }
            guard
                let place = lists.firstIndex(where: {
                    $0.order == order && $0.state == state && $0.subject == subject
                })
            else { return nil }
            let kept = lists.remove(at: place)
            lists.append(kept)
            return kept.records
        }
    }

    func keep(_ new: KeptPlaces) {
        guard new.records.count <= KeptPlaces.most else { return }
        lists.withLock { lists in
            lists.removeAll { $0.order == new.order && $0.subject == new.subject }
            lists.append(new)
            while lists.count > KeptPlaces.mostLists
                || lists.reduce(0, { $0 + $1.records.count }) > KeptPlaces.most
            {
                lists.removeFirst()
            }
        }
    }

    /// Whether there is such a list, for any state.
    func has(_ subject: KeptPlaces.Subject, _ order: ContactOrder) -> Bool {
        lists.withLock { $0.contains { $0.order == order && $0.subject == subject } }
    }

    /// Releases the memory of long lists.
    func releaseMemory() { lists.withLock { $0.removeAll { $0.records.count > ContactQuery.mostOnLoop } } }
}
