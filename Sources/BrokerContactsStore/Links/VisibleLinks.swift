import BrokerModel
import Synchronization

/// A cache of the links that apps with limited access see, so that a read looks up only links between cards
/// of the granted set. Otherwise the time of a read would reveal how many hidden cards a visible card is
/// linked with.
final class VisibleLinks: Sendable {
    private struct Entry {
        let all: ContactLinks
        let scope: Set<RecordNumber>
        let visible: ContactLinks
    }

    /// The most recently used entry is last.
    private let entries = Mutex<[Entry]>([])
    /// The maximum number of entries.
    private static let most = 16

    /// Returns the links between the cards of a scope. Comparing with the entries is fast, because unchanged
    /// links and unchanged sets share their storage with those of the last call.
    func links(_ all: ContactLinks, within scope: Set<RecordNumber>) -> ContactLinks {
        entries.withLock { entries in
            if let place = entries.lastIndex(where: { $0.scope == scope && $0.all == all }) {
                let entry = entries.remove(at: place)
                entries.append(entry)
                return entry.visible
            }
            let visible = all.within(scope)
            entries.append(Entry(all: all, scope: scope, visible: visible))
            if entries.count > Self.most { entries.removeFirst() }
            return visible
        }
    }
}
