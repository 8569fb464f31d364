/// The result of reading one piece of evidence.
///
/// Evidence that is `absent` normally rules out an identity strength, and the judge tries the next one.
/// Evidence that is `unreadable` rules out nothing, so the judge normally refuses the caller.
public enum Observation<Value: Hashable & Sendable>: Hashable, Sendable {
    case found(Value)
    /// The kernel reported that there is no such thing.
    case absent
    /// Unknown; `errno` says why.
    case unreadable(errno: CInt)
}
