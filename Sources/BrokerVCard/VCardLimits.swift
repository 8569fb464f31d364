/// Bounds on the memory that one card may use.
public struct VCardLimits: Hashable, Sendable {
    /// Bytes of one card. A photo of 8 MiB in base64 fits.
    public var cardSize = 16 * 1_048_576
    /// Unfolded lines of one card.
    public var cardLines = 10_000
    /// Nesting depth of cards (AGENT in vCard 2.1).
    public var depth = 8
    /// Bytes of one kept property; the same bound as the broker's.
    public var keptSize = 1_048_576

    public init() {}
}
