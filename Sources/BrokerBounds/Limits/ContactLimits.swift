/// Bounds on the values that a client writes. The contact's other values do not count. If they did, an app
/// could measure values that it may not see, by enlarging a value that it may see.
public struct ContactLimits: Hashable, Sendable {
    /// UTF-8 bytes of one text, such as a note, a street or a content line.
    public var value = 1_048_576
    /// Values of one key.
    public var values = 1_000
    /// UTF-8 bytes of all texts of one key. With ``value`` this bounds the whole contact.
    public var key = 4 * 1_048_576
    /// Bytes of a photo, once decoded.
    public var photo = 8 * 1_048_576

    public init() {}
}

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
