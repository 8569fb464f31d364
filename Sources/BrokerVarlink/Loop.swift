/// The one thread on which a server lives: its connections, and whatever owns state on their behalf.
///
/// What lives on the loop is not `Sendable` and needs no locks. What was sent away (to a queue, to a timer)
/// comes back through ``execute(_:)``.
public protocol Loop: Sendable {
    /// Whether the caller is on the loop.
    var isCurrent: Bool { get }

    /// Runs the work on the loop, after what it is doing now, in the order of the calls.
    ///
    /// Called on the loop itself, it runs once all connections that had something to say in this turn were heard.
    func execute(_ work: @escaping @Sendable () -> Void)

    /// Runs the work on the loop after a time.
    @discardableResult
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Scheduled
}

/// Work that waits for its time.
public protocol Scheduled: Sendable {
    /// Gives the work up if it has not begun.
    func cancel()
}

/// Lets a value that lives on the loop be carried, unread, through places that are not on it.
///
/// `@unchecked` is sound: the value is reachable through ``value`` alone, which stops the program off the loop,
/// and through `init`, which does the same.
public struct LoopBound<Value>: @unchecked Sendable {
    private let loop: any Loop
    private let bound: Value

    public init(_ value: Value, loop: any Loop) {
        precondition(loop.isCurrent, "a value is bound to the loop on the loop")
        self.loop = loop
        bound = value
    }

    /// The value; only for callers on the loop.
    public var value: Value {
        precondition(loop.isCurrent, "what lives on the loop is used on the loop")
        return bound
    }
}
