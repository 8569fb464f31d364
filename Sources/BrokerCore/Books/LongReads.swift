import BrokerAccessControl
import BrokerContactsStore
import BrokerVarlink
import Dispatch

/// Performs reads that would block the event loop too long. Each user has a worker that performs them one
/// after the other. This class itself lives on the event loop.
///
/// A user's apps take turns: one read per app. A grant may be revoked during a read, so the call must be
/// decided again before the reply.
final class LongReads {
    private struct Job {
        let call: Call
        let run: () -> Void
        let giveUp: () -> Void
    }

    /// The waiting reads of one user's apps.
    private struct Line {
        var isBusy = false
        var jobs: [String: [Job]] = [:]
        /// The apps with waiting reads, the next one first, each once.
        var order: [String] = []
        var release: (any Scheduled)?

        /// Removes the next read; `nil` if none waits.
        mutating func takeNext() -> Job? {
            guard let app = order.first else { return nil }
            order.removeFirst()
            let job = jobs[app]?.removeFirst()
            if jobs[app]?.isEmpty == false { order.append(app) } else { jobs[app] = nil }
            return job
        }
    }

    private let loop: any Loop
    /// How long the memory of a read is kept for the next read.
    private let releasesMemoryAfter: Duration
    private var lines: [UInt32: Line] = [:]
    private var queues: [UInt32: DispatchQueue] = [:]

    private let problems: StoreProblems

    init(loop: any Loop, releasesMemoryAfter: Duration, problems: StoreProblems) {
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
    func read<Answer: Sendable>(
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
        let app = session.caller.app
        var line = lines[uid] ?? Line()
        if line.jobs[app, default: []].isEmpty { line.order.append(app) }
        line.jobs[app, default: []].append(job)
        lines[uid] = line
        next(uid)
    }

    /// The worker queue for one user's long reads.
    func queue(of uid: UInt32) -> DispatchQueue {
        if let queue = queues[uid] { return queue }
        let queue = DispatchQueue(label: "long reads of \(uid)")
        queues[uid] = queue
        return queue
    }

    private func next(_ uid: UInt32) {
        while lines[uid]?.isBusy == false, let job = lines[uid]?.takeNext() {
            // A call that is over may ask for another read here, which changes the line.
            guard !job.call.isOver else {
                job.giveUp()
                continue
            }
            lines[uid]?.isBusy = true
            lines[uid]?.release?.cancel()
            lines[uid]?.release = nil
            job.run()
        }
    }

    private func ended(_ uid: UInt32, _ book: ContactsStore) {
        lines[uid]?.isBusy = false
        next(uid)
        guard let line = lines[uid], !line.isBusy else { return }
        lines[uid]?.release = loop.later(after: releasesMemoryAfter) { [self] in release(uid, book) }
    }

    private func release(_ uid: UInt32, _ book: ContactsStore) {
        guard lines[uid]?.isBusy == false else { return }
        lines[uid] = nil
        queue(of: uid).async { book.releaseReadMemory() }
    }

    /// Performs a read on the worker for a call. If the book cannot be read, the call fails.
    ///
    /// - Parameter then: runs if the read succeeded and the call is not over.
    func read<Answer: Sendable>(
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
    func read<Answer: Sendable>(
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
