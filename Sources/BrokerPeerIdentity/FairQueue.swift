/// The process that an inspection is about, and the lane of a ``FairQueue`` in which the inspection waits.
public struct InspectionPlace: Hashable, Sendable {
    public enum Lane: Hashable, Sendable {
        /// A known user of this machine.
        case user(UInt32)
        /// User IDs that have not been looked up yet. Jobs in this lane only look up the user's name.
        case newcomers
        /// User IDs without an entry in the user database (sub-UIDs, containers). Together they count as one
        /// user.
        case strangers
    }

    public let lane: Lane
    public let uid: UInt32
    public let pid: Int32

    public init(_ lane: Lane, uid: UInt32, pid: Int32) {
        self.lane = lane
        self.uid = uid
        self.pid = pid
    }
}

/// A fair queue of jobs that wait for a worker, each about one process. It has no clock and no thread, and
/// does not limit the number of waiting jobs.
///
/// Lanes take turns. Within a lane user IDs take turns, and within a user ID processes do. A user with many
/// waiting jobs therefore delays other users no longer than a user with one waiting job. One slow process
/// delays no other process of its user, as long as ``perLane`` leaves room.
public struct FairQueue<Job> {
    /// The maximum number of jobs of one lane that may run at once.
    public let perLane: Int

    private var waiting = RoundRobin<InspectionPlace.Lane, RoundRobin<UInt32, RoundRobin<Int32, [Job]>>>()
    private var running: [InspectionPlace.Lane: Int] = [:]
    /// The processes of the running jobs.
    private var busy: Set<Int32> = []

    public init(perLane: Int) { self.perLane = perLane }

    public var isEmpty: Bool { waiting.isEmpty }

    public mutating func add(_ job: Job, at place: InspectionPlace) {
        waiting.change(place.lane) { users in
            users.change(place.uid) { processes in
                processes.change(place.pid) { $0.append(job) }
            }
        }
    }

    /// Removes the waiting jobs for which `isMeant` returns true. Running jobs are not affected.
    public mutating func remove(at place: InspectionPlace, where isMeant: (Job) -> Bool) {
        waiting.change(place.lane) { users in
            users.change(place.uid) { processes in
                processes.change(place.pid) { $0.removeAll(where: isMeant) }
            }
        }
    }

    /// Takes the next job, which counts as running until ``ended(_:)`` is called. Returns `nil` if no job may
    /// begin.
    public mutating func next() -> (job: Job, place: InspectionPlace)? {
        let perLane = perLane
        let (running, busy) = (running, busy)
        let next = waiting.next { lane, users -> (Job, InspectionPlace)? in
            guard running[lane, default: 0] < perLane else { return nil }
            return users.next { uid, processes in
                processes.next { pid, jobs in
                    busy.contains(pid) ? nil : (jobs.removeFirst(), InspectionPlace(lane, uid: uid, pid: pid))
                }
            }
        }
        guard let (job, place) = next else { return nil }
        self.running[place.lane, default: 0] += 1
        self.busy.insert(place.pid)
        return (job, place)
    }

    /// Call this when the job that ran at this place has ended.
    public mutating func ended(_ place: InspectionPlace) {
        let rest = running[place.lane, default: 1] - 1
        running[place.lane] = rest > 0 ? rest : nil
        busy.remove(place.pid)
    }
}

/// A value that can wait under a key of ``RoundRobin``.
private protocol Waiting {
    init()
    var isEmpty: Bool { get }
}

extension Array: Waiting {}

/// Keys that take turns: a served key goes to the end. A key exists only while its value is not empty.
private struct RoundRobin<Key: Hashable, Value: Waiting>: Waiting {
    /// The keys of `values`, each once.
    private var order: [Key] = []
    private var values: [Key: Value] = [:]

    var isEmpty: Bool { order.isEmpty }

    mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
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
    mutating func next<Taken>(_ take: (Key, inout Value) -> Taken?) -> Taken? {
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
