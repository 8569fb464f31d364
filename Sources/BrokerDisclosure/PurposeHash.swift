import BrokerAccessControl
import CBrokerCrypto

/// What the audit keeps of the reason that an app gave: whether it is the same as another time, and not what it says.
///
/// - Returns: the first 64 bits of the SHA-256 of its UTF-8, in hexadecimal digits; `nil` where it cannot be computed.
public func purposeHash(of words: String) -> String? {
    let bytes = Array(words.utf8)
    var digest = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
    guard ccrypto_sha256(bytes, bytes.count, &digest) == 1 else { return nil }
    return digest.prefix(8).map { byte in
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }.joined()
}
