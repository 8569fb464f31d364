import Synchronization

/// How long a call may still wait, over all that it is made of: the question before it, its repetition when the broker was
/// restarted, what is fetched after it. What the app does meanwhile is not counted.
final class WaitBudget: Sendable {
    private let remaining: Mutex<Duration>

    init(_ time: Duration) {
        remaining = Mutex(time)
    }

    /// What is left; zero or less when the time is over.
    var left: Duration { remaining.withLock { $0 } }

    /// Does what waits for this long at most, and counts how long it waited.
    func wait<Answer, Failure>(_ body: (_ left: Duration) throws(Failure) -> Answer) throws(Failure) -> Answer {
        let start = ContinuousClock.now
        defer {
            let waited = start.duration(to: .now)
            remaining.withLock { $0 -= waited }
        }
        return try body(left)
    }

    // MARK: Of the running call

    @TaskLocal private static var ofCall: WaitBudget?

    /// Of the call that this thread or task is in; `nil` between calls.
    static var current: WaitBudget? { ofCall }

    /// Does something that is one call for the app, whatever it consists of. Within such a call the time goes on.
    static func forOneCall<Answer, Failure>(
        _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try with(current ?? WaitBudget(BrokerCalls.bound), body)
    }

    /// Does something with a time of its own, or with none.
    static func with<Answer, Failure>(
        _ budget: WaitBudget?, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try $ofCall.withValue(budget) { Result { () throws(Failure) in try body() } }.get()
    }
}
