import BrokerBounds
import BrokerPeerIdentity
import BrokerVarlink
import Dispatch

/// Inspects processes on a few threads, in the order of an ``InspectionQueue``. This class itself lives on the event
/// loop.
///
/// A connection has at most one inspection at a time. Closing the connection cancels its inspection. The
/// number of connections therefore bounds the queue.
final class InspectionWorkers {
    private final class Ticket {
        var isWanted = true
    }

    private struct Job {
        let ticket: Ticket
        let begin: (_ thread: DispatchQueue) -> Void
    }

    private let loop: any Loop
    private var queue: InspectionQueue<Job>
    /// The idle workers. Each serial queue has its own thread while it works.
    private var idle: [DispatchQueue]
    /// How often inspections of one lane begin: a number of them at once, and then the same number in each second. A
    /// program that connects again and again, on purpose or because it is broken, then does not keep a processor busy
    /// that other users need.
    private var pace: Pace<InspectionPlace.Lane>?

    /// - Parameter perLane: the maximum number of concurrent inspections per ``InspectionPlace/Lane``. It
    ///   must be less than `count`, so that no user can keep every thread busy.
    /// - Parameter perSecond: `nil` if there is only one user, whom a pace would only delay.
    init(_ count: Int, perLane: Int, perSecond: Int? = nil, loop: any Loop) {
        precondition(perLane < count, "one user could keep every thread busy")
        self.loop = loop
        pace = perSecond.map { Pace(.init(amount: Int64($0), time: 1_000_000)) }
        queue = InspectionQueue(perLane: perLane)
        idle = (0..<count).map { DispatchQueue(label: "inspection \($0)") }
    }

    /// Runs `inspect` on a worker when its turn comes, and then passes the result to `done` on the event
    /// loop.
    ///
    /// - Returns: a function that cancels the inspection. After that, `done` does not run, and `inspect` runs
    ///   only if it has already begun.
    func inspect<Found: Sendable>(
        at place: InspectionPlace, _ inspect: @escaping @Sendable () -> Found, done: @escaping (Found) -> Void
    ) -> () -> Void {
        let ticket = Ticket()
        let bound = LoopBound((self, ticket, done), loop: loop)
        let begin = { [loop] (thread: DispatchQueue) in
            thread.async {
                let found = inspect()
                loop.execute {
                    let (workers, ticket, done) = bound.value
                    workers.ended(place, thread)
                    if ticket.isWanted { done(found) }
                }
            }
        }
        queue.add(Job(ticket: ticket, begin: begin), at: place)
        beginMore()
        return { [weak self] in
            ticket.isWanted = false
            self?.queue.remove(at: place) { $0.ticket === ticket }
        }
    }

    private func beginMore() {
        while let thread = idle.last, let (job, _) = queue.next() {
            idle.removeLast()
            job.begin(thread)
        }
    }

    private func ended(_ place: InspectionPlace, _ thread: DispatchQueue) {
        idle.append(thread)
        let wait = wait(after: place.lane)
        guard wait > 0 else { return release(place) }
        let bound = LoopBound(self, loop: loop)
        loop.schedule(after: .microseconds(wait)) { bound.value.release(place) }
        // The thread is free for other lanes.
        beginMore()
    }

    /// Counts an inspection that has ended, and returns for how long the lane must not begin another in its place.
    private func wait(after lane: InspectionPlace.Lane) -> Int64 {
        // Look-ups of names are quick, and those of strangers must not delay a person who is not known yet.
        guard lane != .newcomers else { return 0 }
        let now = Clock.uptime()
        pace?.add(1, to: lane, now: now)
        return pace?.wait(of: lane, now: now) ?? 0
    }

    private func release(_ place: InspectionPlace) {
        queue.ended(place)
        beginMore()
    }
}
