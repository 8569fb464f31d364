import Glibc
import NIOCore

/// Waits awake, for a moment, for the next call of whoever was just answered.
///
/// A program that asks one thing after the other sends its next call some 20 to 60 µs after a reply. Going to sleep in between
/// costs more than that: another processor has to be woken for the call, and this one comes back with cold caches. So the
/// loop looks at that one socket for a moment before it goes to sleep, as long as that keeps paying: where nothing comes
/// (because nobody asks, or because both share one processor, so that the peer cannot run meanwhile) it is tried for one
/// reply in hundreds.
///
/// Nobody waits longer for it than ``window``, and it is not done while several are served.
struct Lingering {
    /// How long, in nanoseconds.
    static let window: Int64 = 80_000
    /// Rises with each call that came in time, and falls with each that did not.
    private var credit = 0
    private var untried = 0

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

    /// Looks at a socket until it can be read or the time is over.
    ///
    /// - Returns: whether it can be read.
    static func hears(_ descriptor: CInt) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let end = NIODeadline.now() + .nanoseconds(window)
        repeat {
            if poll(&waiting, 1, 0) > 0 { return true }
        } while NIODeadline.now() < end
        return false
    }
}
