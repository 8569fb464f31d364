/// The queued work of the event loop, in order. The queue is used only on the event loop.
struct WorkQueue {
    /// The work in `works[..<head]` was already taken.
    private var works: [(() -> Void)?] = []
    private var head = 0

    var isEmpty: Bool { head == works.count }

    mutating func append(_ work: @escaping () -> Void) { works.append(work) }

    mutating func takeFirst() -> (() -> Void)? {
        guard head < works.count else { return nil }
        let work = works[head].take()
        head += 1
        if head == works.count {
            works.removeAll(keepingCapacity: works.capacity <= Self.keptCapacity)
            head = 0
        } else if head >= Self.keptCapacity, head > works.count / 2 {
            works.removeSubrange(..<head)
            head = 0
        }
        return work
    }

    private static let keptCapacity = 1_024
}
