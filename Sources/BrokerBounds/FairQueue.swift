/// A value that can wait under a key of ``RoundRobin``.
public protocol Waiting {
    init()
    var isEmpty: Bool { get }
}

extension Array: Waiting {}
extension ArraySlice: Waiting {}

/// Keys that take turns: a served key goes to the end. A key exists only while its value is not empty.
public struct RoundRobin<Key: Hashable, Value: Waiting>: Waiting {
    /// The keys of `values`, each once.
    private var order: [Key] = []
    private var values: [Key: Value] = [:]

    public init() {}

    public var isEmpty: Bool { order.isEmpty }

    public mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        let isNew = values[key] == nil
        body(&values[key, default: Value()])
        if values[key]?.isEmpty == true {
            values[key] = nil
            if !isNew { order.removeAll { $0 == key } }
        } else if isNew {
            order.append(key)
        }
    }

    /// Takes from the first key, in order, for which `take` does not return `nil`.
    public mutating func next<Taken>(_ take: (Key, inout Value) -> Taken?) -> Taken? {
        for index in order.indices {
            let key = order[index]
            guard let taken = take(key, &values[key, default: Value()]) else { continue }
            order.remove(at: index)
            if values[key]?.isEmpty == true { values[key] = nil } else { order.append(key) }
            return taken
        }
        return nil
    }
}

/// A fair queue of jobs that wait for a worker. It has no clock and no thread, and does not limit the number of waiting
/// jobs.
///
/// Lanes take turns, and at most so many jobs of one lane run at once. A lane with many waiting jobs therefore delays the
/// others no longer than a lane with one. A value orders the jobs within its lane.
public struct FairQueue<Lane: Hashable, Value: Waiting> {
    private let perLane: Int
    private var waiting = RoundRobin<Lane, Value>()
    private var running: [Lane: Int] = [:]

    public init(perLane: Int) { self.perLane = perLane }

    public var isEmpty: Bool { waiting.isEmpty }
    /// The number of lanes with a running job.
    public var busyLanes: Int { running.count }

    public func isBusy(_ lane: Lane) -> Bool { running[lane] != nil }

    /// Adds jobs to a lane, or removes waiting ones.
    public mutating func change(_ lane: Lane, _ body: (inout Value) -> Void) { waiting.change(lane, body) }

    /// Takes the next job, which counts as running until ``ended(_:)`` is called. Returns `nil` if no job may begin.
    ///
    /// - Parameter take: removes a job of this lane, or returns `nil` if none of them may begin.
    public mutating func next<Job>(_ take: (Lane, inout Value) -> Job?) -> (job: Job, lane: Lane)? {
        let (running, perLane) = (running, perLane)
        let next = waiting.next { lane, value in
            running[lane, default: 0] < perLane ? take(lane, &value).map { (job: $0, lane: lane) } : nil
        }
        if let next { self.running[next.lane, default: 0] += 1 }
        return next
    }

    /// Call this when a job of the lane has ended.
    public mutating func ended(_ lane: Lane) {
        let rest = running[lane, default: 1] - 1
        running[lane] = rest > 0 ? rest : nil
    }
}
