/// The result of reading one piece of evidence.
///
/// After `absent`, the judge goes on to the next identity strength. After `unreadable`, it refuses the caller.
public enum Observation<Value: Hashable & Sendable>: Hashable, Sendable {
    case found(Value)
    /// The kernel reported that it does not exist.
    case absent
    /// Unknown; `errno` says why.
    case unreadable(errno: CInt)
}
