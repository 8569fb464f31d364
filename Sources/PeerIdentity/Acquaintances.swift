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

/// The processes that connected last, by their numbers. Safe to use from several threads.
final class Acquaintances: Sendable {
    /// Each holds three descriptors, and some 10 KB.
    static let capacity = 64

    private let entries = Mutex(Entries())

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
        entries.withLock { entries in
            entries.uses += 1
            entries.processes[pid] = (process, entries.uses)
            guard entries.processes.count > Self.capacity,
                let oldest = entries.processes.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            else { return }
            entries.processes[oldest] = nil
        }
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
