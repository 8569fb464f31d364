/// Bounds on the memory that one card may use.
public struct VCardLimits: Hashable, Sendable {
    /// The maximum size of a card, in bytes. A photo of 8 MiB in base64 fits.
    public var cardSize = 16 * 1_048_576
    /// The maximum number of unfolded lines in a card.
    public var cardLines = 10_000
    /// The maximum nesting depth of cards (AGENT in vCard 2.1).
    public var depth = 8
    /// The maximum size of a kept property, in bytes. The broker has the same bound.
    public var keptSize = 1_048_576

    public init() {}
}
