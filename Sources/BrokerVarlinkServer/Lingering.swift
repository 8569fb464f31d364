import Glibc

/// Decides whether the loop briefly polls for the next call of the caller that it just answered.
///
/// A program that calls in sequence sends its next call about 20 to 60 µs after a reply. Sleeping in between costs
/// more: another processor must wake up for the call, and this one returns with cold caches. So the loop polls its
/// descriptors briefly before it sleeps, as long as that pays off. It does not pay off if nobody calls, or if both
/// share one processor, so that the peer cannot run. Then it is tried only for one reply in hundreds.
///
/// It delays nobody, since all descriptors are served meanwhile. It is not done while several callers are served,
/// because they need the processor.
///
/// The rest of the server uses only ``answered(_:bytes:)`` and ``listen(until:_:)``. Without them everything works the
/// same, but each reply waits for a processor to wake up.
struct Lingering {
    private var audience = Audience()
    /// The size of the last reply, in bytes.
    private var replySize = 0
    /// Rises with each call that came in time, and falls with each poll that found none.
    private var credit = 0
    private var untried = 0

    /// Notes that a process was admitted, got its last pending reply of that many bytes, or closed its connection. Its
    /// next action may be worth a short poll.
    mutating func answered(_ process: pid_t, bytes: Int = 0) {
        audience.answered(process)
        replySize = bytes
    }

    /// Polls for events for a short time, if that is likely to pay off. Stops when the next timer is due.
    ///
    /// - Parameter poll: returns the number of events now.
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

    /// How long to poll after a reply of that many bytes. A program needs longer to parse a long one: about 125 MB of
    /// JSON per second.
    static func window(after bytes: Int) -> Duration {
        .nanoseconds(80_000 + 8 * min(bytes, longReply))
    }

    /// In bytes. A longer reply does not extend the poll.
    private static let longReply = 40_000
    private static let mostCredit = 32
    /// The credit for a call in time: one success in four polls keeps polling on.
    private static let gain = 4
    /// Replies without a poll before it is tried again.
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

/// Tells whether only one process is being answered, in this iteration and in the last one with replies.
///
/// It tracks a process, not a connection, since some programs open one for each call. A process that was admitted is
/// about to call. A process that closed its connection after a reply may connect again.
struct Audience {
    private enum Answered: Equatable {
        case nobody
        case one(pid_t)
        case several
    }

    private var now = Answered.nobody
    /// In the last iteration with replies.
    private var before = Answered.nobody

    mutating func answered(_ process: pid_t) {
        let one = Answered.one(process)
        now = now == .nobody || now == one ? one : .several
    }

    /// Called at the end of each iteration.
    mutating func isOne() -> Bool {
        defer { now = .nobody }
        guard now != .nobody else { return false }
        defer { before = now }
        return now != .several && now == before
    }
}
