import BrokerBounds

/// The process that an inspection is about, and the lane of an ``InspectionQueue`` in which the inspection waits.
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

/// The inspections that wait for a worker.
///
/// Lanes take turns. Within a lane user IDs take turns, and within a user ID processes do. One slow process delays no
/// other process of its user, as long as a lane may run more than one job at once.
public struct InspectionQueue<Job> {
    private var queue: FairQueue<InspectionPlace.Lane, RoundRobin<UInt32, RoundRobin<Int32, [Job]>>>
    /// The processes of the running jobs.
    private var busy: Set<Int32> = []

    public init(perLane: Int) { queue = FairQueue(perLane: perLane) }

    public var isEmpty: Bool { queue.isEmpty }

    public mutating func add(_ job: Job, at place: InspectionPlace) { change(place) { $0.append(job) } }

    /// Removes the waiting jobs for which `isMeant` returns true. Running jobs are not affected.
    public mutating func remove(at place: InspectionPlace, where isMeant: (Job) -> Bool) {
        change(place) { $0.removeAll(where: isMeant) }
    }

    private mutating func change(_ place: InspectionPlace, _ body: (inout [Job]) -> Void) {
        queue.change(place.lane) { users in
            users.change(place.uid) { processes in
                processes.change(place.pid, body)
            }
        }
    }

    /// Takes the next job, which counts as running until ``ended(_:)`` is called. Returns `nil` if no job may
    /// begin.
    public mutating func next() -> (job: Job, place: InspectionPlace)? {
        let busy = busy
        let next = queue.next { lane, users in
            users.next { uid, processes in
                processes.next { pid, jobs in
                    busy.contains(pid)
                        ? nil : (job: jobs.removeFirst(), place: InspectionPlace(lane, uid: uid, pid: pid))
                }
            }
        }
        if let next { self.busy.insert(next.job.place.pid) }
        return next?.job
    }

    /// Call this when the job that ran at this place has ended.
    public mutating func ended(_ place: InspectionPlace) {
        queue.ended(place.lane)
        busy.remove(place.pid)
    }
}
