/// What a second look at a connected process found: whether it still runs the file that it ran when it was identified.
public enum ExecutableCheck: Hashable, Sendable {
    case same
    /// It runs another file, or the same one under another path, or it has ended.
    case changed
    /// Nobody could tell, for example because `contactbroker-identify` did not answer in time. It proves nothing, so it allows nothing.
    case unknown
}
