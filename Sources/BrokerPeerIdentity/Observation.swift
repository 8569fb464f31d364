/// The result of reading one thing.
///
/// The cases lead to different results: with `absent` the judge goes on to the next identity strength, with
/// `unreadable` it refuses.
public enum Observation<Value: Hashable & Sendable>: Hashable, Sendable {
    case found(Value)
    /// Looked up and definitely not there.
    case absent
    /// Unknown; `errno` says why.
    case unreadable(errno: CInt)
}
