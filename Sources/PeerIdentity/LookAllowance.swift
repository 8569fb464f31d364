/// How much of its time a loop may spend on looking at processes itself (``EvidenceSource/recognize(_:)``).
///
/// A crowd that connects must not keep it from those who are connected. And should a look ever take long, for a reason
/// that nobody has thought of, that user's processes are looked at elsewhere for a while. It lives on the loop.
public final class LookAllowance {
    /// One part in so many of the time.
    static let share: Int64 = 4
    /// Nanoseconds that may be spent at once: ten looks or so.
    static let most: Int64 = 250_000
    /// Nanoseconds. A look that took longer has waited for something, if only for a processor.
    static let longest: Int64 = 2_000_000
    /// Nanoseconds for which that user's processes are not looked at on the loop afterwards.
    static let rest: Int64 = 10_000_000_000
    /// Users who rest at a time; where there are as many, everybody does.
    static let mostResting = 64

    /// Nanoseconds; below 0 where a look took more than there was.
    private var left = most
    private var counted: Int64?
    /// Until when.
    private var resting: [UInt32: Int64] = [:]

    public init() {}

    /// Whether there may be a look at a process of that user now.
    ///
    /// - Parameter now: nanoseconds on a clock that nobody can set.
    public func permits(_ uid: UInt32, at now: Int64) -> Bool {
        left = min(Self.most, left + (now - (counted ?? now)) / Self.share)
        counted = now
        if !resting.isEmpty {
            resting = resting.filter { $0.value > now }
            guard resting[uid] == nil, resting.count < Self.mostResting else { return false }
        }
        return left > 0
    }

    /// To be told of each that there was, whatever came of it.
    public func spent(_ uid: UInt32, from start: Int64, to end: Int64) {
        left -= end - start
        if end - start > Self.longest { resting[uid] = end + Self.rest }
    }
}
