import Synchronization

/// How far a read of the audit is, and whether its result is still wanted. The event loop and the worker share it.
public final class AuditProgress: Sendable {
    private let first: Int64
    private let last: Int64
    private let position: Atomic<Int64>
    private let ended = Atomic(false)

    /// - Parameters:
    ///   - first: the last record that retention removed, or 0.
    ///   - last: the last record.
    init(after first: Int64, upTo last: Int64) {
        self.first = first
        self.last = last
        position = Atomic(first)
    }

    /// Whether the read has ended. A worker that finds this set stops, and what it returns is not used.
    public var isOver: Bool { ended.load(ordering: .relaxed) }

    public func end() { ended.store(true, ordering: .relaxed) }

    /// How much was read, in percent.
    public var percent: Int {
        let read = min(position.load(ordering: .relaxed), last) - first
        return last > first ? Int(max(0, read) * 100 / (last - first)) : 0
    }

    /// Notes that the records up to this one were read.
    public func reached(_ sequence: Int64) { position.store(sequence, ordering: .relaxed) }

    /// Notes that the records from this one on were read.
    func reached(backTo sequence: Int64) { reached(first + max(0, last - sequence)) }
}
