import Dispatch
import Glibc
import Synchronization

/// A process that was looked at before.
///
/// What is kept of it is its directory below `/proc`, by which nothing is ever read of another process, and what was
/// read last: all of that is read again at its next connection and compared (`identify_is_as_known`), so that only
/// the reading as text is spared. What exec, setns(2), chroot(2), a move to another group, a new session or a changed file
/// alters is seen by that, and then everything is looked at as at first sight.
struct Acquaintance: Sendable {
    let process: ProcessDirectory
    let startTime: UInt64
    let sight: Sight
    /// `nil` where its number told the path.
    let controlGroup: ControlGroupReading?
}

/// The processes that connected last, by their numbers. Safe to use from several threads, and from the loop: no system
/// call is made while others wait.
final class Acquaintances: Sendable {
    /// Each holds three descriptors, and some 10 KB.
    static let capacity = 64
    /// So many more than that, and as many are forgotten at once.
    static let surplus = 16

    private let entries = Mutex(Entries())
    /// Where they are forgotten: closing the files of a process that has ended is work that nobody need wait for.
    private static let forgetting = DispatchQueue(label: "forgetting", qos: .utility)

    private struct Entries {
        var processes: [Int32: (process: Acquaintance, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    /// Whoever had that number: it may have ended.
    func of(_ pid: Int32) -> Acquaintance? {
        entries.withLock { entries in
            entries.uses += 1
            entries.processes[pid]?.lastUse = entries.uses
            return entries.processes[pid]?.process
        }
    }

    func keep(_ process: Acquaintance, as pid: Int32) {
        let (replaced, isTooMany) = entries.withLock { entries in
            entries.uses += 1
            let replaced = entries.processes.updateValue((process, entries.uses), forKey: pid)
            return (replaced?.process, entries.processes.count == Self.capacity + Self.surplus)
        }
        // Not before: closing is not for whoever holds the lock.
        withExtendedLifetime(replaced) {}
        if isTooMany { Self.forgetting.async { self.forgetSurplus() } }
    }

    /// Those that were not asked for longest.
    private func forgetSurplus() {
        let forgotten = entries.withLock { entries in
            let uses = entries.processes.values.map(\.lastUse).sorted()
            guard uses.count > Self.capacity else { return [Acquaintance]() }
            let oldest = uses[uses.count - Self.capacity]
            let pids = entries.processes.filter { $0.value.lastUse < oldest }.keys
            return pids.compactMap { entries.processes.removeValue(forKey: $0)?.process }
        }
        withExtendedLifetime(forgotten) {}
    }
}

/// `/proc/PID/cgroup`, as it was read and what it says.
struct ControlGroupReading: Hashable, Sendable {
    private let text: Reading<[UInt8]>
    /// In the unified hierarchy.
    let path: Reading<String>

    static func == (one: Self, other: Self) -> Bool { one.text == other.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    init(of process: ProcessDirectory, known: ControlGroupReading?) {
        let text = process.controlGroup()
        if let known, known.text == text {
            self = known
            return
        }
        self.text = text
        switch text {
        case .found(let bytes): path = ControlGroup.unifiedPath(in: bytes).map { .found($0) } ?? .absent
        // The file is always there while the process is: its absence proves nothing.
        case .absent: path = .unreadable(errno: ENOENT)
        case .unreadable(let errno): path = .unreadable(errno: errno)
        }
    }
}
