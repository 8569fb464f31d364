/// One thing that was looked for, and what came of it.
///
/// Kept apart because they are answered apart: what is definitely not there lets a judge go on to the next kind of
/// identity; what could not be read makes it refuse.
public enum Reading<Value: Hashable & Sendable>: Hashable, Sendable {
    case found(Value)
    /// Looked for, and definitely not there.
    case absent
    /// Not known either way; `errno` says why.
    case unreadable(errno: CInt)
}
