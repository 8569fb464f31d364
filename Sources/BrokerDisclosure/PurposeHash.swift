import BrokerAccessControl

/// Returns the hash that the audit stores instead of an app's purpose. It shows whether two purposes are
/// equal, but not their text.
///
/// - Returns: the first 64 bits of the SHA-256 of the UTF-8 text, in hexadecimal digits; `nil` if libcrypto fails.
public func purposeHash(of words: String) -> String? {
    IdentifierCipher.digest(Array(words.utf8)).map { Hexadecimal.text($0[..<8]) }
}
