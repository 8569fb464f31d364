/// How much of a file is held at a time.
public struct VCardLimits: Hashable, Sendable {
    /// Bytes of one card. A photo of 8 MiB in base64 fits.
    public var cardSize = 16 * 1_048_576
    /// Unfolded lines of one card.
    public var cardLines = 10_000
    /// Cards within one another (AGENT in vCard 2.1).
    public var depth = 8
    /// Bytes of one property that is kept as it stands: as many as the broker takes.
    public var keptSize = 1_048_576

    public init() {}
}
