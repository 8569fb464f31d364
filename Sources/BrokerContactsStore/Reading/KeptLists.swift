import BrokerModel
import Synchronization

/// Some records in an order, as the book was at one of its changes.
struct KeptPlaces {
    /// What they are.
    enum Subject: Hashable {
        /// Those of a scope, by what some keys say of them.
        case scope(RecordScope, ContactKeySet)
        /// Those whom the person's search finds.
        case search(String, RecordScope, excluding: Set<RecordNumber>)
    }

    let subject: Subject
    let order: ContactOrder
    /// The number of the book's last change then: whichever connection made them, they are good for any that sees the same.
    let lastChange: Int64
    let records: [Int64]

    /// So many lists are kept at once, of so many records in all: 8 bytes each.
    static let mostLists = 16
    static let most = 1_000_000
}

/// What was put in order for one page of a list, for its next: by a read on the loop or beside it, for either.
final class KeptLists: Sendable {
    /// The one that was asked for last comes last.
    private let lists = Mutex<[KeptPlaces]>([])

    /// The records, if the list is of the state that the reader sees.
    func records(of subject: KeptPlaces.Subject, _ order: ContactOrder, at lastChange: Int64) -> [Int64]? {
        lists.withLock { lists in
            // Nobody will see an older state again but who sees it now.
            lists.removeAll { $0.lastChange < lastChange }
            guard
                let place = lists.firstIndex(where: {
                    $0.order == order && $0.lastChange == lastChange && $0.subject == subject
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

    /// Whether there is such a list, of whatever state.
    func has(_ subject: KeptPlaces.Subject, _ order: ContactOrder) -> Bool {
        lists.withLock { $0.contains { $0.order == order && $0.subject == subject } }
    }

    /// Gives back the memory of long lists.
    func rest() { lists.withLock { $0.removeAll { $0.records.count > ContactQuery.mostOnLoop } } }
}
