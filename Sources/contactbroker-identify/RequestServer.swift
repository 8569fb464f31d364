import CBrokerIdentify
import Glibc

/// Receives requests and starts a worker process for each. This process opens no file of a peer. A peer can
/// therefore block only a worker process, which this process then kills.
struct RequestServer {
    /// The maximum numbers of concurrent full inspections, per user and in total. The limit per user prevents a
    /// user whose processes block workers from delaying other users.
    private static let perUser = 2
    private static let atOnce = 16
    /// The maximum numbers of waiting requests, per user and in total. The limit per user applies separately to
    /// full inspections and to requests for the executable only; beyond it the helper answers `IDENTIFY_BUSY`.
    /// The total includes connections without a request yet; beyond it the helper accepts no connection.
    private static let waitingPerUser = 64
    private static let waitingAtMost = 512
    /// The maximum number of concurrent requests for the executable only. A connected app's call waits for such
    /// a request, so these requests do not queue behind full inspections.
    private static let quickAtOnce = 8
    /// How long a new connection may take to send its request, in milliseconds.
    private static let patience: Int64 = 1_000

    private struct Silent {
        let connection: CInt
        let deadline: Int64
    }

    private struct Waiting {
        let connection: CInt
        let pidfd: CInt
        let request: identify_request
        var isQuick: Bool { request.wants & IDENTIFY_WANTS_EXECUTABLE_ONLY != 0 }
    }

    private struct Running {
        let worker: CInt
        let connection: CInt
        let uid: UInt32
        let isQuick: Bool
        let deadline: Int64
        var isKilled = false
    }

    private let listener: CInt
    private let uid: UInt32
    private var silent: [Silent] = []
    private var waiting: [Waiting] = []
    private var running: [Running] = []

    init(listener: CInt, uid: UInt32) {
        self.listener = listener
        self.uid = uid
    }

    /// Serves until the process is killed.
    mutating func serve() -> Never {
        while true {
            start()
            // In this order: waiting connections (to notice hang-ups), silent connections, workers, the listener.
            var watched = waiting.map { pollfd(fd: $0.connection, events: 0, revents: 0) }
            watched += silent.map { pollfd(fd: $0.connection, events: Int16(POLLIN), revents: 0) }
            watched += running.map { pollfd(fd: $0.worker, events: Int16(POLLIN), revents: 0) }
            if waiting.count + silent.count < Self.waitingAtMost {
                watched.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            }
            let count = poll(&watched, nfds_t(watched.count), timeout)
            guard count >= 0 || errno == EINTR else { stop("could not wait for requests: \(reason(-errno))") }
            let ready = count > 0 ? watched.map { $0.revents != 0 } : watched.map { _ in false }
            let (first, second) = (waiting.count, waiting.count + silent.count)
            let third = second + running.count
            end(ready[second..<third])
            remove(ready[..<first])
            listen(to: ready[first..<second])
            if third < ready.count, ready[third] { accept() }
        }
    }

    private var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Milliseconds to the next deadline; -1 if there is none. A killed worker has no deadline.
    private var timeout: CInt {
        let deadlines = silent.map(\.deadline) + running.filter { !$0.isKilled }.map(\.deadline)
        return deadlines.min().map { CInt(max(0, $0 - now)) } ?? -1
    }

    private mutating func accept() {
        // A few at a time, so that many new connections do not delay waiting requests.
        for _ in 0..<16 {
            let connection = identify_accept(listener, uid)
            if connection == -EACCES { continue }
            guard connection >= 0 else { return }
            take(Silent(connection: connection, deadline: now + Self.patience))
        }
    }

    /// Receives the request. If it has not arrived yet, the connection stays in `silent`.
    private mutating func take(_ one: Silent) {
        var request = identify_request()
        var pidfd: CInt = -1
        switch identify_receive(one.connection, &request, &pidfd) {
        case 0:
            let new = Waiting(connection: one.connection, pidfd: pidfd, request: request)
            let before = waiting.count { $0.request.uid == request.uid && $0.isQuick == new.isQuick }
            guard before < Self.waitingPerUser else {
                close(pidfd)
                return answer(one.connection, IDENTIFY_BUSY)
            }
            waiting.append(new)
        case -EAGAIN where one.deadline > now: silent.append(one)
        default: answer(one.connection, IDENTIFY_MALFORMED)
        }
    }

    private mutating func listen(to ready: ArraySlice<Bool>) {
        let all = silent
        silent = []
        for (one, isReady) in zip(all, ready) {
            if isReady || one.deadline <= now { take(one) } else { silent.append(one) }
        }
    }

    /// Drops the requests whose connections the broker has closed.
    private mutating func remove(_ ready: ArraySlice<Bool>) {
        let all = waiting
        waiting = []
        for (one, hasGone) in zip(all, ready) {
            if hasGone {
                close(one.connection)
                close(one.pidfd)
            } else {
                waiting.append(one)
            }
        }
    }

    /// Starts as many requests as the limits allow, in order of arrival.
    private mutating func start() {
        var left: [Waiting] = []
        for one in waiting {
            guard mayStart(one) else {
                left.append(one)
                continue
            }
            var request = one.request
            var worker: CInt = -1
            let result = identify_start_worker(&request, one.connection, one.pidfd, &worker)
            close(one.pidfd)
            guard result > 0 else {
                answer(one.connection, IDENTIFY_FAILED)
                continue
            }
            running.append(
                Running(
                    worker: worker, connection: one.connection, uid: request.uid, isQuick: one.isQuick,
                    deadline: now + Int64(IDENTIFY_WORKER_MILLISECONDS)))
        }
        waiting = left
    }

    private func mayStart(_ one: Waiting) -> Bool {
        if one.isQuick { return running.count(where: \.isQuick) < Self.quickAtOnce }
        return running.count { !$0.isQuick } < Self.atOnce
            && running.count { !$0.isQuick && $0.uid == one.request.uid } < Self.perUser
    }

    /// Reaps workers that have ended, and kills workers past their deadline.
    private mutating func end(_ ready: ArraySlice<Bool>) {
        let all = running
        running = []
        for (var one, hasEnded) in zip(all, ready) {
            if hasEnded {
                let isWell = identify_reap(one.worker) == 1
                close(one.worker)
                // A worker that exited with 0 has answered the request itself.
                if isWell {
                    close(one.connection)
                } else {
                    answer(one.connection, one.isKilled ? IDENTIFY_TIMED_OUT : IDENTIFY_FAILED)
                }
                continue
            }
            if !one.isKilled, one.deadline <= now {
                identify_kill(one.worker)
                one.isKilled = true
            }
            running.append(one)
        }
    }

    private func answer(_ connection: CInt, _ outcome: identify_outcome) {
        identify_refuse(connection, outcome)
        close(connection)
    }
}
