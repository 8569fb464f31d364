import BrokerVarlink
import Dispatch

/// Helpers for code on the event loop. Their callbacks also run on the event loop, so the callbacks may use
/// objects that live there.
extension Loop {
    /// Runs the body in a later event loop iteration. The loop serves other callers first.
    package func later(_ body: @escaping () -> Void) {
        let bound = LoopBound(body, loop: self)
        execute { bound.value() }
    }

    /// Runs the body after a delay.
    @discardableResult
    package func later(after delay: Duration, _ body: @escaping () -> Void) -> any Scheduled {
        let bound = LoopBound(body, loop: self)
        return schedule(after: delay) { bound.value() }
    }

    /// Runs the body for each element, and then `done`. After each `size` elements, the loop serves other callers.
    package func inBatches<Element>(
        _ elements: ArraySlice<Element>, of size: Int, _ body: @escaping (Element) -> Void,
        then done: @escaping () -> Void
    ) {
        for element in elements.prefix(size) { body(element) }
        let rest = elements.dropFirst(size)
        guard !rest.isEmpty else { return done() }
        later { inBatches(rest, of: size, body, then: done) }
    }

    /// Runs the work on a queue, and passes the result to `then` on the event loop.
    package func run<Value: Sendable, Failure: Error>(
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
