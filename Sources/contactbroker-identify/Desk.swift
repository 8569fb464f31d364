import CBrokerIdentify
import Glibc

/// Takes requests, and has each looked into by a process of its own, which was forked before and waits. This one opens no
/// file: what a peer puts in its way holds up a worker, which is then killed.
struct Desk {
    /// Looked at at once for one user, so that a user whose processes hold workers up holds up nobody else's.
    private static let perUser = 2
    private static let atOnce = 16
    /// Waiting for one user, and in all: what comes beyond is told so.
    private static let waitingPerUser = 64
    private static let waitingAtMost = 512
    /// Only the executable is asked for: a call of somebody already connected waits for it, so that it does not stand behind
    /// whole looks.
    private static let quickAtOnce = 8
    /// Milliseconds within which a request comes, once connected.
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

    /// A worker that has not been told anything.
    private struct Ready {
        let worker: CInt
        let channel: CInt
    }

    private let listener: CInt
    private let uid: UInt32
    private var silent: [Silent] = []
    private var waiting: [Waiting] = []
    private var running: [Running] = []
    private var ready: [Ready] = []
    /// False after a worker could not be made, until something else has happened.
    private var mayMake = true

    init(listener: CInt, uid: UInt32) {
        self.listener = listener
        self.uid = uid
    }

    /// Until it is killed.
    mutating func serve() -> Never {
        while true {
            start()
            // In this order: who hangs up, the silent, the workers, those that wait, the door.
            var watched = waiting.map { pollfd(fd: $0.connection, events: 0, revents: 0) }
            watched += silent.map { pollfd(fd: $0.connection, events: Int16(POLLIN), revents: 0) }
            watched += running.map { pollfd(fd: $0.worker, events: Int16(POLLIN), revents: 0) }
            watched += ready.map { pollfd(fd: $0.worker, events: Int16(POLLIN), revents: 0) }
            if waiting.count + silent.count < Self.waitingAtMost {
                watched.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            }
            // Ahead of need, and only when nothing else is to be done: somebody may be waiting for those who work.
            let isAhead = mayMake && running.isEmpty && ready.count < Int(IDENTIFY_READY_WORKERS)
            let pause = ready.count < Int(IDENTIFY_FEW_WORKERS) ? 0 : IDENTIFY_PAUSE_MILLISECONDS
            let isAheadFirst = isAhead && (timeout < 0 || pause < timeout)
            let count = poll(&watched, nfds_t(watched.count), isAheadFirst ? pause : timeout)
            guard count >= 0 || errno == EINTR else { stop("could not wait: \(reason(-errno))") }
            if count == 0, isAheadFirst {
                mayMake = make()
                continue
            }
            mayMake = mayMake || count > 0
            let told = count > 0 ? watched.map { $0.revents != 0 } : watched.map { _ in false }
            let (first, second) = (waiting.count, waiting.count + silent.count)
            let third = second + running.count
            let fourth = third + ready.count
            end(told[second..<third])
            dismiss(told[third..<fourth])
            forget(told[..<first])
            listen(to: told[first..<second])
            if fourth < told.count, told[fourth] { accept() }
        }
    }

    private var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Until the next deadline; a worker that was killed is waited for without one.
    private var timeout: CInt {
        let deadlines = silent.map(\.deadline) + running.filter { !$0.isKilled }.map(\.deadline)
        return deadlines.min().map { CInt(max(0, $0 - now)) } ?? -1
    }

    private mutating func accept() {
        // A few at a time: who is here already is not to wait for all who come.
        for _ in 0..<16 {
            let connection = identify_accept(listener, uid)
            if connection == -EACCES { continue }
            guard connection >= 0 else { return }
            take(Silent(connection: connection, deadline: now + Self.patience))
        }
    }

    /// Hears a connection, or keeps it until it says something.
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

    /// Who hung up needs no answer.
    private mutating func forget(_ ready: ArraySlice<Bool>) {
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

    /// Starts what may be started, in the order in which it came.
    private mutating func start() {
        var left: [Waiting] = []
        for one in waiting {
            guard mayStart(one) else {
                left.append(one)
                continue
            }
            let worker = handOver(one)
            close(one.pidfd)
            guard let worker else {
                answer(one.connection, IDENTIFY_FAILED)
                continue
            }
            running.append(
                Running(
                    worker: worker, connection: one.connection, uid: one.request.uid, isQuick: one.isQuick,
                    deadline: now + Int64(IDENTIFY_WORKER_MILLISECONDS)))
        }
        waiting = left
    }

    /// To one that waits, or to a new one. A worker gets one request, and no other ever.
    private mutating func handOver(_ one: Waiting) -> CInt? {
        var request = one.request
        // Those that wait, and a new one.
        for _ in 0...ready.count {
            guard let next = take() else { return nil }
            let result = identify_hand_over(next.channel, &request, one.connection, one.pidfd)
            close(next.channel)
            if result == 0 { return next.worker }
            // Something has ended it: it has nobody's request, and the next one may be well.
            identify_kill(next.worker)
            _ = identify_reap(next.worker)
            close(next.worker)
        }
        return nil
    }

    private mutating func take() -> Ready? {
        if ready.isEmpty, !make() { return nil }
        // The one whose memory is the warmest.
        return ready.removeLast()
    }

    private mutating func make() -> Bool {
        var (worker, channel): (CInt, CInt) = (-1, -1)
        guard identify_make_worker(&worker, &channel) > 0 else { return false }
        ready.append(Ready(worker: worker, channel: channel))
        return true
    }

    /// Takes leave of those that have ended before they were told anything.
    private mutating func dismiss(_ told: ArraySlice<Bool>) {
        guard told.contains(true) else { return }
        let all = ready
        ready = []
        for (one, hasEnded) in zip(all, told) {
            guard hasEnded else {
                ready.append(one)
                continue
            }
            _ = identify_reap(one.worker)
            close(one.worker)
            close(one.channel)
        }
        // One that ends so would be made again for ever.
        mayMake = false
    }

    private func mayStart(_ one: Waiting) -> Bool {
        if one.isQuick { return running.count(where: \.isQuick) < Self.quickAtOnce }
        return running.count { !$0.isQuick } < Self.atOnce
            && running.count { !$0.isQuick && $0.uid == one.request.uid } < Self.perUser
    }

    /// Takes leave of workers that have ended, and kills those whose time is over.
    private mutating func end(_ ready: ArraySlice<Bool>) {
        let all = running
        running = []
        for (var one, hasEnded) in zip(all, ready) {
            if hasEnded {
                let isWell = identify_reap(one.worker) == 1
                close(one.worker)
                // One that ended well has answered.
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
