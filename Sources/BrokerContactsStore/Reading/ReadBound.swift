import BrokerModel
import BrokerNormalization
import Glibc
import Synchronization

/// How long a read may be, and on which connection it is made.
public enum ReadingManner: Hashable, Sendable {
    /// On the loop's connection, however long it takes.
    case whole
    /// On the loop's connection. A read that would keep the loop for more than a millisecond or two is given up, with
    /// ``StoreError/takesLong``: it is to be made ``beside``.
    case bounded
    /// On a connection of its own, which keeps no other read waiting. Not for the loop.
    case beside
}

/// Gives up a read that takes too long for where it is made, and one that nobody waits for any more.
///
/// Counted are steps of SQLite's virtual machine and time: a step in a large book can be a page from the disk.
final class ReadBound: Sendable {
    /// Steps of one statement between two questions whether it is to go on.
    static let steps: Int32 = 500
    private let most: Int
    private let longest: Int64
    private let left = Atomic(Int.max)
    /// Nanoseconds on the clock.
    private let end = Atomic(Int64.max)
    private let isClosing = Atomic(false)

    /// - Parameters:
    ///   - most: steps of a read that is bounded.
    ///   - longest: nanoseconds of one.
    init(most: Int = .max, longest: Int64 = .max) {
        self.most = most
        self.longest = longest
    }

    /// To be called before each read.
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

    /// Ends the read that is on its way, and every later one. From any thread.
    func close() { isClosing.store(true, ordering: .releasing) }

    /// Asked once for so many ``steps``. One read is given up once: what is cleaned up after it is let through.
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

extension ContactQuery {
    /// Whether it looks at so much that it is not worth beginning on the loop.
    ///
    /// - Parameter size: of the book.
    func isLong(size: Int) -> Bool {
        let ordered = order == .none || CollationKey.keys.isSubset(of: matchKeys)
        let count: Int
        switch (scope, predicate) {
        case (.all, .records(let records)): count = records.count
        case (.all, _): count = ordered ? 0 : size
        case (.only(let scope), .records(let records)): count = min(scope.count, records.count)
        case (.only(let scope), _): count = scope.count
        }
        // Names that may not be seen whole are put in order one by one.
        return count > (ordered ? Self.mostOnLoop : Self.mostOnLoop / 10)
    }

    /// What is kept in order for the pages of this query.
    ///
    /// - Parameter scope: what of its scope they are of.
    func keptSubject(_ scope: RecordScope) -> KeptPlaces.Subject {
        .scope(scope, order == .none ? [] : matchKeys.intersection(CollationKey.keys))
    }

    /// Records that are looked at one by one.
    static let mostOnLoop = 2_000
}
