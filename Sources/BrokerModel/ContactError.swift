/// Why a contact from a client is rejected. Each case is one of the interface's errors.
public enum ContactError: Error, Hashable, Sendable {
    /// A field that the interface does not have, or one of the wrong type (varlink.org, `InvalidParameter`).
    case invalidParameter(String)
    /// A value that the key cannot have. The reason is for developers and never repeats the value.
    case invalidContact(key: String, reason: String)
    /// The name of a bound of ``ContactLimits``, and its value.
    case limitExceeded(limit: String, maximum: Int)
}

/// Bounds on what a client writes. The contact's other values do not count: otherwise an app could measure values it
/// may not see by enlarging one it may.
public struct ContactLimits: Hashable, Sendable {
    /// UTF-8 bytes of one text: a note, a street, a content line.
    public var value = 1_048_576
    /// Values of one key.
    public var values = 1_000
    /// UTF-8 bytes of all texts of one key. With ``value`` this bounds the whole contact.
    public var key = 4 * 1_048_576
    /// Bytes of a photo, once decoded.
    public var photo = 8 * 1_048_576

    public init() {}
}
