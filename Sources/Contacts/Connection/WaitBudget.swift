import Synchronization

/// How long a call may still wait, over all its parts: the prompt before it, its retry after a broker restart, and
/// fetches after it. Time that the app itself spends meanwhile is not counted.
final class WaitBudget: Sendable {
    private let remaining: Mutex<Duration>

    init(_ time: Duration) {
        remaining = Mutex(time)
    }

    /// The time left; zero or negative when it is used up.
    var left: Duration { remaining.withLock { $0 } }

    /// Runs a body that waits at most for the time left, and subtracts the time it took.
    func wait<Answer, Failure>(_ body: (_ left: Duration) throws(Failure) -> Answer) throws(Failure) -> Answer {
        let start = ContinuousClock.now
        defer {
            let waited = start.duration(to: .now)
            remaining.withLock { $0 -= waited }
        }
        return try body(left)
    }

    // MARK: For the running call

    @TaskLocal private static var ofCall: WaitBudget?

    /// The budget of the call that this thread or task is in; `nil` between calls.
    static var current: WaitBudget? { ofCall }

    /// Runs a body that is one call for the app, whatever it consists of. Nested calls share one budget.
    static func forOneCall<Answer, Failure>(
        _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try with(current ?? WaitBudget(BrokerCalls.bound), body)
    }

    /// Runs a body with its own budget, or with none.
    static func with<Answer, Failure>(
        _ budget: WaitBudget?, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try $ofCall.withValue(budget) { Result { () throws(Failure) in try body() } }.get()
    }
}
