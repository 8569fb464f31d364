import Glibc

/// Decides whether the loop polls briefly for the next call of the caller that it just answered.
///
/// A program that calls in sequence sends its next call about 20 to 60 µs after a reply. Sleeping in between
/// costs more: a processor must wake up for the call and continues with cold caches. The loop therefore polls
/// its descriptors briefly before it sleeps, as long as polling pays off. Polling does not pay off if no
/// program calls. Nor does it if both programs share one processor, because the peer cannot run while the loop
/// polls. The loop then polls only after one reply in hundreds.
///
/// Polling delays no caller, because each poll checks all descriptors. The loop does not poll while it
/// serves several callers, because they need the processor.
///
/// The rest of the server uses only ``answered(_:bytes:)`` and ``listen(until:_:)``. Without them everything
/// works the same, but each call waits for a processor to wake up.
struct Lingering {
    private var audience = Audience()
    /// The size of the last reply, in bytes.
    private var replySize = 0
    /// Increases with each call that a poll found, and decreases with each poll that found none.
    private var credit = 0
    private var untried = 0

    /// Call this when a process was admitted, got its last pending reply, or closed its connection. The loop may
    /// then poll for the next action of this process.
    ///
    /// - Parameter bytes: the size of the reply.
    mutating func answered(_ process: pid_t, bytes: Int = 0) {
        audience.answered(process)
        replySize = bytes
    }

    /// Polls for events for a short time, if that is likely to pay off. Stops when the next timer is due.
    ///
    /// - Parameter poll: returns the number of events that are ready.
    /// - Returns: the number of events; `nil` if the loop should sleep.
    mutating func listen(until timer: Uptime?, _ poll: () -> Int) -> Int? {
        guard audience.isOne(), begins() else { return nil }
        let end = min(Uptime.now() + Self.window(after: replySize), timer ?? Uptime(nanoseconds: .max))
        repeat {
            let count = poll()
            if count > 0 {
                ended(found: true)
                return count
            }
        } while Uptime.now() < end
        ended(found: false)
        return nil
    }

    /// Returns how long to poll after a reply of that many bytes. A program needs longer to parse a long
    /// reply: it parses about 125 MB of JSON per second.
    static func window(after bytes: Int) -> Duration {
        .nanoseconds(80_000 + 8 * min(bytes, longReply))
    }

    /// In bytes. The part of a reply beyond this length does not extend the poll.
    private static let longReply = 40_000
    private static let mostCredit = 32
    /// The credit for a call that a poll found. One success in four polls is enough to continue.
    private static let gain = 4
    /// The number of replies without a poll before the loop polls again.
    private static let pause = 512

    /// Whether to poll after this reply.
    mutating func begins() -> Bool {
        if credit > 0 { return true }
        untried += 1
        guard untried >= Self.pause else { return false }
        untried = 0
        return true
    }

    mutating func ended(found: Bool) {
        credit = found ? min(Self.mostCredit, credit + Self.gain) : max(0, credit - 1)
    }
}

/// Determines whether the loop answered only one process, in this iteration and in the last one with replies.
///
/// It tracks processes, not connections, because some programs open a connection for each call. A process
/// that was admitted is about to call. A process that closed its connection after a reply may connect again.
struct Audience {
    private enum Answered: Equatable {
        case nobody
        case one(pid_t)
        case several
    }

    private var now = Answered.nobody
    /// The processes answered in the last iteration with replies.
    private var before = Answered.nobody

    mutating func answered(_ process: pid_t) {
        let one = Answered.one(process)
        now = now == .nobody || now == one ? one : .several
    }

    /// Whether only one process was answered, in this iteration and in the last one with replies. Call this at
    /// the end of each iteration.
    mutating func isOne() -> Bool {
        defer { now = .nobody }
        guard now != .nobody else { return false }
        defer { before = now }
        return now != .several && now == before
    }
}
