/// The event loop: the one thread that serves all connections and owns all mutable state.
///
/// State of the loop is not `Sendable` and needs no locks. Other threads pass results back through ``execute(_:)``.
public protocol Loop: Sendable {
    /// Whether the caller runs on the loop.
    var isCurrent: Bool { get }

    /// Runs the work on the loop, after the work that is already running, in the order of the calls.
    ///
    /// If called on the loop, the work runs after all ready connections of this iteration were served.
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

/// Carries a value of the loop through code on other threads, which cannot read it.
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

    /// The value. Reading it traps unless the caller runs on the loop.
    public var value: Value {
        precondition(loop.isCurrent, "the value may be used only on the event loop")
        return bound
    }
}
