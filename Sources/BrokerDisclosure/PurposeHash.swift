import BrokerAccessControl

/// What the audit keeps of the reason that an app gave: whether it is the same as another time, and not what it says.
///
/// - Returns: the first 64 bits of the SHA-256 of its UTF-8, in hexadecimal digits; `nil` where it cannot be computed.
public func purposeHash(of words: String) -> String? {
    IdentifierCipher.digest(Array(words.utf8)).map { Hexadecimal.text($0[..<8]) }
}
