import Synchronization

/// The time that one call of the app may still spend waiting. All parts of the call share the budget: the
/// prompt before the call, the retry after a broker restart, and the fetches after a save. Time that the app
/// itself spends meanwhile does not count.
final class WaitBudget: Sendable {
    private let remaining: Mutex<Duration>

    init(_ time: Duration) {
        remaining = Mutex(time)
    }

    /// The time left; zero or negative when it is used up.
    var left: Duration { remaining.withLock { $0 } }

    /// Runs a body that may wait for at most the time left, then subtracts the time that the body took.
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

    /// The budget of the call that this thread or task is making; `nil` outside of calls.
    static var current: WaitBudget? { ofCall }

    /// Runs a body that the app sees as one call. Nested calls share one budget.
    static func forOneCall<Answer, Failure>(
        _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try with(current ?? WaitBudget(BrokerCalls.bound), body)
    }

    /// Runs a body with this budget, or without one.
    static func with<Answer, Failure>(
        _ budget: WaitBudget?, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try $ofCall.withValue(budget) { Result { () throws(Failure) in try body() } }.get()
    }
}
