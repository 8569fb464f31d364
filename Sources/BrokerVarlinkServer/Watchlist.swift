import CBrokerLinux

/// What a descriptor can be ready for.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: UInt32(CLINUX_READABLE))
    static let writable = Readiness(rawValue: UInt32(CLINUX_WRITABLE))
    /// The other end is gone for good, or the descriptor has failed; told to everybody who watches one.
    static let hungUp = Readiness(rawValue: UInt32(CLINUX_HUNG_UP))
}

/// Whoever waits for a descriptor.
protocol Watcher: AnyObject {
    func isReady(_ readiness: Readiness)
}

/// One descriptor that is waited for.
struct Watching {
    let descriptor: CInt
    fileprivate let token: UInt64
}

/// Who waits for which descriptor. It lives on the loop.
///
/// A token is a place and how often that was taken before: an event that was told of a descriptor reaches nobody once
/// it was forgotten, though its number and its place may be another connection's by then.
struct Watchlist {
    private struct Place {
        var generation: UInt32 = 0
        var watcher: (any Watcher)?
    }

    private let epoll: CInt
    private var places: [Place] = []
    private var free: [Int] = []

    init(epoll: CInt) { self.epoll = epoll }

    /// - Returns: `nil` where the kernel has no room for another one.
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
        precondition(result == 0, "who is watched is open, and a change needs no memory")
    }

    /// To be called before the descriptor is closed.
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

    /// Nobody's token: a list never has so many places.
    static let bell = UInt64.max
}
