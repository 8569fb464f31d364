import Glibc
import Synchronization

/// Interrupts a bounded read that takes too long, and every read after ``close()``.
///
/// Both the steps of SQLite's virtual machine and the time are bounded, because in a large book one step can
/// read a page from the disk.
final class ReadBound: Sendable {
    /// The number of steps of a statement between two checks.
    static let steps: Int32 = 500
    private let most: Int
    private let longest: Int64
    private let left = Atomic(Int.max)
    /// The deadline, in nanoseconds of the monotonic clock.
    private let end = Atomic(Int64.max)
    private let isClosing = Atomic(false)

    /// - Parameters:
    ///   - most: the maximum number of steps of a bounded read.
    ///   - longest: the maximum time of a bounded read, in nanoseconds.
    init(most: Int = .max, longest: Int64 = .max) {
        self.most = most
        self.longest = longest
    }

    /// Call this before each read.
    func begin(isBounded: Bool) {
        left.store(isBounded ? most / Int(Self.steps) : .max, ordering: .relaxed)
        if isBounded { end.store(longest == .max ? .max : Self.now() + longest, ordering: .relaxed) }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    var isClosed: Bool { isClosing.load(ordering: .acquiring) }

    /// Interrupts the running read and every later one. Callable from any thread.
    func close() { isClosing.store(true, ordering: .releasing) }

    /// Whether to interrupt the running statement. SQLite calls this every ``steps`` steps. A read that
    /// exceeds its bound is interrupted only once, so its cleanup can run.
    func isSpent() -> Bool {
        if isClosed { return true }
        let left = self.left.load(ordering: .relaxed)
        guard left != .max else { return false }
        let end = self.end.load(ordering: .relaxed)
        let isOver = left == 0 || end != .max && Self.now() > end
        self.left.store(isOver ? .max : left - 1, ordering: .relaxed)
        return isOver
    }
}
