import CBrokerLinux

/// The kinds of readiness of a descriptor.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: UInt32(CLINUX_READABLE))
    static let writable = Readiness(rawValue: UInt32(CLINUX_WRITABLE))
    /// The peer has closed the connection, or the descriptor failed. epoll reports it even if the watcher did
    /// not request it.
    static let hungUp = Readiness(rawValue: UInt32(CLINUX_HUNG_UP))
}

/// Receives the readiness of a descriptor.
protocol Watcher: AnyObject {
    func isReady(_ readiness: Readiness)
}

/// A watched descriptor.
struct Watching {
    let descriptor: CInt
    fileprivate let token: UInt64
}

/// The watched descriptors and their watchers. The list is used only on the event loop.
///
/// A token consists of an index and its generation. An event for a removed descriptor therefore reaches no
/// watcher, even if a new connection reuses the descriptor's number and the index.
struct Watchlist {
    private struct Place {
        var generation: UInt32 = 0
        var watcher: (any Watcher)?
    }

    private let epoll: CInt
    private var places: [Place] = []
    private var free: [Int] = []

    init(epoll: CInt) { self.epoll = epoll }

    /// - Returns: `nil` if the kernel cannot watch another descriptor.
    mutating func add(_ descriptor: CInt, _ readiness: Readiness, _ watcher: any Watcher) -> Watching? {
        let index = free.popLast() ?? places.count
        if index == places.count { places.append(Place()) }
        let token = UInt64(places[index].generation) << 32 | UInt64(index)
        guard clinux_epoll_add(epoll, descriptor, readiness.rawValue, token) == 0 else {
            free.append(index)
            return nil
        }
        places[index].watcher = watcher
        return Watching(descriptor: descriptor, token: token)
    }

    func change(_ watching: Watching, to readiness: Readiness) {
        let result = clinux_epoll_change(epoll, watching.descriptor, readiness.rawValue, watching.token)
        precondition(result == 0, "epoll_ctl(2) fails only for a closed descriptor, and changing needs no memory")
    }

    /// Must be called before the descriptor is closed.
    mutating func remove(_ watching: Watching) {
        guard watcher(of: watching.token) != nil else { return }
        _ = clinux_epoll_remove(epoll, watching.descriptor)
        let index = Int(UInt32(truncatingIfNeeded: watching.token))
        places[index].watcher = nil
        places[index].generation &+= 1
        free.append(index)
    }

    func watcher(of token: UInt64) -> (any Watcher)? {
        let index = Int(UInt32(truncatingIfNeeded: token))
        guard index < places.count, places[index].generation == UInt32(token >> 32) else { return nil }
        return places[index].watcher
    }

    /// The token of the eventfd that wakes the event loop. No watcher has it, because the list never has so
    /// many entries.
    static let bell = UInt64.max
}
