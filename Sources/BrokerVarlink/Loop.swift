/// The event loop: the one thread that serves all connections and owns all mutable state.
///
/// State of the loop is not `Sendable` and needs no locks. Other threads pass results back through ``execute(_:)``.
public protocol Loop: Sendable {
    /// Whether the current thread is the loop's thread.
    var isCurrent: Bool { get }

    /// Queues work for the loop, which runs queued work in order.
    ///
    /// The loop runs the work after it has served the ready connections of an iteration, even if this is called
    /// on the loop.
    func execute(_ work: @escaping @Sendable () -> Void)

    /// Runs the work on the loop after a delay.
    @discardableResult
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Scheduled
}

/// Work that runs after a delay.
public protocol Scheduled: Sendable {
    /// Cancels the work, if it has not begun.
    func cancel()
}

/// Contains a value that belongs to the loop. Code on other threads can pass it on, but cannot read it.
///
/// `@unchecked` is sound: only ``value`` and `init` access the value, and both trap on any other thread.
public struct LoopBound<Value>: @unchecked Sendable {
    private let loop: any Loop
    private let bound: Value

    public init(_ value: Value, loop: any Loop) {
        precondition(loop.isCurrent, "must be called on the event loop")
        self.loop = loop
        bound = value
    }

    /// The value. Reading it traps unless the current thread is the loop's thread.
    public var value: Value {
        precondition(loop.isCurrent, "the value may be used only on the event loop")
        return bound
    }
}
