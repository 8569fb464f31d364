/// Why a contact from a client is rejected. Each case corresponds to one of the interface's errors.
public enum ContactError: Error, Hashable, Sendable {
    /// A field is missing, is not in the interface or has the wrong type (varlink.org, `InvalidParameter`).
    case invalidParameter(String)
    /// The key cannot have this value. The reason is for developers and never repeats the value.
    case invalidContact(key: String, reason: String)
    /// A value exceeds a bound of ``ContactLimits``. `limit` is the name of the bound, and `maximum` its value.
    case limitExceeded(limit: String, maximum: Int)
}

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
    /// The base64 length of the largest photo: four characters for three bytes.
    var photoBase64: Int { (photo + 2) / 3 * 4 }

    public init() {}
}
