import BrokerVarlink
import Dispatch

/// For callers on the loop: what is given runs on it too, and may use what lives there.
extension Loop {
    /// Runs the body in another turn: others are heard first.
    func later(_ body: @escaping () -> Void) {
        let bound = LoopBound(body, loop: self)
        execute { bound.value() }
    }

    /// Runs the body after a time.
    @discardableResult
    func later(after delay: Duration, _ body: @escaping () -> Void) -> any Scheduled {
        let bound = LoopBound(body, loop: self)
        return schedule(after: delay) { bound.value() }
    }

    /// Does the work on a queue, and goes on with what came of it on the loop.
    func run<Value: Sendable, Failure: Error>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws(Failure) -> Value,
        then: @escaping (Result<Value, Failure>) -> Void
    ) {
        let bound = LoopBound(then, loop: self)
        queue.async {
            let result = Result(catching: work)
            execute { bound.value(result) }
        }
    }
}
