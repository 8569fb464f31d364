/// Why a contact that a client sent is not taken. Each case is one of the interface's errors.
public enum ContactError: Error, Hashable, Sendable {
    /// A field that the interface does not have, or that has another type there (varlink.org, `InvalidParameter`).
    case invalidParameter(String)
    /// A value that the key cannot have. The reason is for a developer to read, and never repeats the value.
    case invalidContact(key: String, reason: String)
    /// The name of a bound of ``ContactLimits``, and the most it allows.
    case limitExceeded(limit: String, maximum: Int)
}

/// How much one contact may hold. What a client writes is measured, never what else the contact has: else growing a
/// value that one may see would measure those that one may not.
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
