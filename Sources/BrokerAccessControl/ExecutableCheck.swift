/// Whether a connected process still runs the executable that it ran when it was identified.
public enum ExecutableCheck: Hashable, Sendable {
    case same
    /// The process runs a different file, runs the same file under a different path, or has ended.
    case changed
    /// Unknown, for example because `contactbroker-identify` did not answer in time. The broker then
    /// permits nothing.
    case unknown
}
