import Glibc

/// Whether to wait awake, for a moment, for the next call of whoever was just answered.
///
/// A program that asks one thing after the other sends its next call some 20 to 60 µs after a reply. Going to sleep in between
/// costs more than that: another processor has to be woken for the call, and this one comes back with cold caches. So the
/// loop looks at its descriptors for a moment before it goes to sleep, as long as that keeps paying: where nothing comes
/// (because nobody asks, or because both share one processor, so that the peer cannot run meanwhile) it is tried for one
/// reply in hundreds.
///
/// Nobody waits for it: everybody is heard meanwhile. It is not done while several are served, who need the processor.
///
/// ``answered(_:bytes:)`` and ``listen(until:_:)`` are all that the rest of the server sees of it. Without it everything works the same,
/// and each answer waits for a processor to wake up.
struct Lingering {
    private var audience = Audience()
    /// Bytes of the reply that was sent last.
    private var replySize = 0
    /// Rises with each call that came in time, and falls with each that did not.
    private var credit = 0
    private var untried = 0

    /// A process was let in, was sent its last reply for now, of so many bytes, or hung up: what it does next may be worth a
    /// moment's waiting.
    mutating func answered(_ process: pid_t, bytes: Int = 0) {
        audience.answered(process)
        replySize = bytes
    }

    /// Waits awake, if that is likely to pay, for a moment that ends when the next timer is due.
    ///
    /// - Parameter look: how many events there are now.
    /// - Returns: how many there are; `nil` where it is time to sleep.
    mutating func listen(until timer: Uptime?, _ look: () -> Int) -> Int? {
        guard audience.isOne(), begins() else { return nil }
        let end = min(Uptime.now() + Self.window(after: replySize), timer ?? Uptime(nanoseconds: .max))
        repeat {
            let count = look()
            if count > 0 {
                ended(heard: true)
                return count
            }
        } while Uptime.now() < end
        ended(heard: false)
        return nil
    }

    /// How long after a reply of so many bytes. A long one takes a program longer to read before it goes on: at some
    /// 125 MB a second, as JSON is read.
    static func window(after bytes: Int) -> Duration {
        .nanoseconds(80_000 + 8 * min(bytes, longReply))
    }

    /// Bytes; a longer reply is no page that somebody leafs through.
    private static let longReply = 40_000
    private static let mostCredit = 32
    /// What a call in time earns: one in four of them is enough to go on.
    private static let gain = 4
    /// Replies after which it is tried again.
    private static let pause = 512

    /// Whether to wait after this reply.
    mutating func begins() -> Bool {
        if credit > 0 { return true }
        untried += 1
        guard untried >= Self.pause else { return false }
        untried = 0
        return true
    }

    mutating func ended(heard: Bool) {
        credit = heard ? min(Self.mostCredit, credit + Self.gain) : max(0, credit - 1)
    }
}

/// Whether one process alone is being answered, now and in the turn before.
///
/// A process, not a connection: some programs connect anew for each call. Whoever was let in is about to call, and whoever
/// hung up after an answer may be about to connect again.
struct Audience {
    private enum Answered: Equatable {
        case nobody
        case one(pid_t)
        case several
    }

    private var now = Answered.nobody
    /// In the last turn in which anybody was.
    private var before = Answered.nobody

    mutating func answered(_ process: pid_t) {
        let one = Answered.one(process)
        now = now == .nobody || now == one ? one : .several
    }

    /// Called at the end of each turn.
    mutating func isOne() -> Bool {
        defer { now = .nobody }
        guard now != .nobody else { return false }
        defer { before = now }
        return now != .several && now == before
    }
}
