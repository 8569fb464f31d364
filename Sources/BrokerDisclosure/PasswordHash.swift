/// The hash by which the broker knows the password of a connection. Such a password is random and long, so the hash has no salt.
public enum PasswordHash {
    /// Returns the SHA-256 of the UTF-8 text; `nil` if libcrypto fails.
    public static func of(_ password: String) -> [UInt8]? { IdentifierCipher.digest(Array(password.utf8)) }

    /// Compares two hashes in a time that does not depend on where they differ.
    public static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        var difference: UInt8 = one.count == other.count ? 0 : 1
        for (left, right) in zip(one, other) { difference |= left ^ right }
        return difference == 0
    }
}
