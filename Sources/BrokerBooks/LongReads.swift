import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerLedger
import BrokerVarlink
import Dispatch

/// Performs reads that would block the event loop too long. Each user has a serial queue, which performs them one
/// after the other. A restore uses this queue too, so it delays the user's reads. This class itself lives on the event
/// loop.
///
/// A user's apps take turns: one read per app. A grant may be revoked during a read, so the call must be
/// decided again before the reply.
package final class LongReads {
    private struct Job {
        let call: Call
        let run: () -> Void
        let giveUp: () -> Void
    }

    private let loop: any Loop
    /// How long the memory of a read is kept for the next read.
    private let releasesMemoryAfter: Duration
    /// The waiting reads of each user's apps.
    private var waiting = FairQueue<UInt32, RoundRobin<String, [Job]>>(perLane: 1)
    /// The timers after which a user's memory of reads is released.
    private var releases: [UInt32: any Scheduled] = [:]
    private var queues: [UInt32: DispatchQueue] = [:]

    private let problems: StoreProblems

    package init(loop: any Loop, releasesMemoryAfter: Duration, problems: StoreProblems) {
        self.loop = loop
        self.problems = problems
        self.releasesMemoryAfter = releasesMemoryAfter
    }

    /// Performs a read on the worker, and passes the result to `done` on the event loop.
    ///
    /// - Parameters:
    ///   - call: the call that needs the read. If the call is over when its turn comes, nothing is read.
    ///   - body: reads with ``ReadingManner/onWorker``.
    ///   - done: gets `nil` if nothing was read.
    package func read<Answer: Sendable>(
        _ book: ContactsStore, for call: Call, _ session: CallerSession,
        _ body: @escaping @Sendable (ContactsStore) throws(StoreError) -> Answer,
        done: @escaping (Result<Answer, StoreError>?) -> Void
    ) {
        let uid = session.caller.uid
        let job = Job(call: call) { [self] in
            loop.run(on: queue(of: uid)) { () throws(StoreError) in
                try body(book)
            } then: { [self] result in
                ended(uid, book)
                done(result)
            }
        } giveUp: {
            done(nil)
        }
        waiting.change(uid) { apps in apps.change(session.caller.app) { $0.append(job) } }
        beginMore()
    }

    /// The worker queue for one user's long reads.
    package func queue(of uid: UInt32) -> DispatchQueue {
        if let queue = queues[uid] { return queue }
        let queue = DispatchQueue(label: "long reads of \(uid)")
        queues[uid] = queue
        return queue
    }

    private func beginMore() {
        while let (job, uid) = waiting.next({ _, apps in apps.next { _, jobs in jobs.removeFirst() } }) {
            guard !job.call.isOver else {
                waiting.ended(uid)
                // A call that is over may ask for another read here.
                job.giveUp()
                continue
            }
            releases.removeValue(forKey: uid)?.cancel()
            job.run()
        }
    }

    private func ended(_ uid: UInt32, _ book: ContactsStore) {
        waiting.ended(uid)
        beginMore()
        guard !waiting.isBusy(uid) else { return }
        releases.removeValue(forKey: uid)?.cancel()
        releases[uid] = loop.later(after: releasesMemoryAfter) { [self] in release(uid, book) }
    }

    private func release(_ uid: UInt32, _ book: ContactsStore) {
        releases[uid] = nil
        queue(of: uid).async { book.releaseReadMemory() }
    }

    /// Performs a read on the worker for a call. If the book cannot be read, the call fails.
    ///
    /// - Parameter then: runs if the read succeeded and the call is not over.
    package func read<Answer: Sendable>(
        _ book: ContactsStore, for call: Call, _ session: CallerSession,
        _ body: @escaping @Sendable (ContactsStore) throws(StoreError) -> Answer,
        then: @escaping (Answer) -> Void
    ) {
        read(book, for: call, session, body) { [problems] result in
            guard let result, !call.isOver else { return }
            switch result {
            case .success(let answer): then(answer)
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }

    /// Opens the user's book if necessary, and then performs a read on the worker for a call.
    ///
    /// - Parameter then: gets `nil` if there is no book.
    package func read<Answer: Sendable>(
        _ books: Books, for call: Call, _ session: CallerSession,
        _ body: @escaping @Sendable (ContactsStore) throws(StoreError) -> Answer,
        then: @escaping (Answer?) -> Void
    ) {
        books.with(session.caller.uid) { [self] opened in
            guard !call.isOver else { return }
            switch opened {
            case .success(let book?): read(book, for: call, session, body, then: then)
            case .success(nil): then(nil)
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }
}
