/// Whether a connected process still runs the executable that it ran when it was identified.
public enum ExecutableCheck: Hashable, Sendable {
    case same
    /// It runs another file, or the same file under another path, or it has ended.
    case changed
    /// Unknown, for example because `contactbroker-identify` did not answer in time. It proves nothing, so it permits
    /// nothing.
    case unknown
}
