import BrokerBounds

/// Why a contact from a client is rejected. Each case corresponds to one of the interface's errors.
public enum ContactError: Error, Hashable, Sendable {
    /// A field is missing, is not in the interface or has the wrong type (varlink.org, `InvalidParameter`).
    case invalidParameter(String)
    /// The key cannot have this value. The reason is for developers and never repeats the value.
    case invalidContact(key: String, reason: String)
    /// A value exceeds a bound of ``ContactLimits``. `limit` is the name of the bound, and `maximum` its value.
    case limitExceeded(limit: String, maximum: Int)
}

extension ContactLimits {
    /// The base64 length of the largest photo: four characters for three bytes.
    var photoBase64: Int { (photo + 2) / 3 * 4 }
}
