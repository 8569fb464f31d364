/// For how many days the bin keeps what a save changed.
public struct BinDays: Hashable, Sendable {
    /// A shorter time that the person chose. Until it takes effect, another choice replaces it.
    public struct Shorter: Hashable, Sendable {
        public let days: Int64
        /// When it takes effect, in seconds since 1970.
        public let time: Int64
    }

    /// 0: the bin keeps nothing.
    public let days: Int64
    public let shorter: Shorter?
}
