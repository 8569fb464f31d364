/// Work for the loop, in order. It lives on the loop.
struct WorkQueue {
    /// `works[..<head]` were taken.
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
