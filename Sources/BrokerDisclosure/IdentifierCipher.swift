import BrokerAccessControl
import BrokerModel
import CBrokerCrypto

/// The kinds of record that have identifiers. An identifier of one kind is invalid as any other kind.
public enum RecordKind: UInt8, CaseIterable, Sendable {
    case contact = 1
    case unifiedContact
    case group
    case container
    case pickedRow
    case agentRow
}

/// Converts record numbers into identifiers under one principal's key, and back.
///
/// An identifier is one encrypted AES-128 block in 32 hexadecimal digits. The block contains a kind, the
/// record number and zeros. Apps do not have the keys, so two apps cannot tell whether their identifiers name
/// the same record. An invented identifier decrypts to a valid block of a given kind with a probability of
/// 2^-64, and otherwise names nothing.
///
/// Only the event loop uses it.
public final class IdentifierCipher {
    /// Bytes in a key.
    public static let keySize = 16
    private let key: [UInt8]
    private let blocks: OpaquePointer
    /// The token keys made so far; see ``tokenKey(_:)``.
    private var tokenKeys: [TokenPurpose: [UInt8]] = [:]
    private static let blockSize = Int(CCRYPTO_BLOCK_SIZE)

    /// Returns `nil` if the key is not ``keySize`` bytes long or libcrypto is out of memory.
    public init?(key: [UInt8]) {
        guard key.count == Self.keySize, let blocks = ccrypto_blocks_make(key) else { return nil }
        self.key = key
        self.blocks = blocks
    }

    deinit { ccrypto_blocks_free(blocks) }

    /// Returns a random key; `nil` if the system has no randomness.
    public static func randomKey() -> [UInt8]? { random(keySize) }

    /// Returns so many random bytes; `nil` if the system has no randomness.
    public static func random(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return ccrypto_random(&bytes, bytes.count) == 1 ? bytes : nil
    }

    public func identifier(of record: RecordNumber, as kind: RecordKind) -> String {
        String(decoding: identifiers(of: [record], as: kind), as: UTF8.self)
    }

    /// Returns the identifiers of many records, concatenated, 32 hexadecimal digits each.
    func identifiers(of records: [RecordNumber], as kind: RecordKind) -> [UInt8] {
        guard !records.isEmpty else { return [] }
        var plain = [UInt8](repeating: 0, count: records.count * Self.blockSize)
        for (index, record) in records.enumerated() {
            let start = index * Self.blockSize
            plain[start] = kind.rawValue
            for byte in 0..<8 { plain[start + 1 + byte] = UInt8(truncatingIfNeeded: record.rawValue >> (8 * byte)) }
        }
        var sealed = plain
        // AES on valid memory cannot fail. If it did, the plain record number must not be sent.
        precondition(
            ccrypto_blocks_encrypt(blocks, plain, &sealed, records.count) == 1, "libcrypto could not encrypt")
        return Hexadecimal.digits(of: sealed)
    }

    /// Returns the record that an identifier names; `nil` if the identifier is malformed or invented, belongs
    /// to a different app, or names a different kind of record.
    public func record(_ identifier: String, as kind: RecordKind) -> RecordNumber? {
        guard let named = named(identifier), named.kind == kind else { return nil }
        return named.record
    }

    /// Returns the kind and the record that an identifier names; `nil` if the identifier is not valid under
    /// this key.
    public func named(_ identifier: String) -> (kind: RecordKind, record: RecordNumber)? {
        guard identifier.utf8.count == 2 * Self.blockSize, let sealed = Hexadecimal.bytes(identifier) else {
            return nil
        }
        var plain = sealed
        guard ccrypto_blocks_decrypt(blocks, sealed, &plain, 1) == 1 else { return nil }
        var rest: UInt8 = 0
        for place in 9..<Self.blockSize { rest |= plain[place] }
        guard let kind = RecordKind(rawValue: plain[0]), rest == 0 else { return nil }
        var number: UInt64 = 0
        for byte in 0..<8 { number |= UInt64(plain[1 + byte]) << UInt64(8 * byte) }
        return (kind, RecordNumber(Int64(bitPattern: number)))
    }

    /// The key of ``ContactRevisions``; `nil` if libcrypto fails.
    var revisionKey: [UInt8]? { Self.digest(Array("revision".utf8) + [0] + key) }

    // MARK: Tokens

    /// Seals bytes that the app keeps for the broker, such as a cursor. The token reveals their length, so
    /// use the same length for all tokens of a purpose.
    ///
    /// - Returns: `nil` if the system has no randomness or libcrypto fails.
    public func seal(_ bytes: [UInt8], as purpose: TokenPurpose) -> String? {
        guard let key = tokenKey(purpose), let nonce = nonce(for: bytes, key, purpose) else { return nil }
        var sealed = [UInt8](repeating: 0, count: bytes.count + Int(CCRYPTO_TAG_SIZE))
        guard ccrypto_seal(key, nonce, bytes, bytes.count, &sealed) == 1 else { return nil }
        return Hexadecimal.text(nonce + sealed)
    }

    /// Returns the bytes in a token; `nil` unless this key sealed the token for this purpose.
    public func open(_ token: String, as purpose: TokenPurpose) -> [UInt8]? {
        let nonceSize = Int(CCRYPTO_NONCE_SIZE)
        guard token.utf8.count <= 2_048, let bytes = Hexadecimal.bytes(token),
            bytes.count >= nonceSize + Int(CCRYPTO_TAG_SIZE), let key = tokenKey(purpose)
        else { return nil }
        let sealed = Array(bytes[nonceSize...])
        var plain = [UInt8](repeating: 0, count: sealed.count)
        guard ccrypto_open(key, Array(bytes[..<nonceSize]), sealed, sealed.count, &plain) == 1 else { return nil }
        return Array(plain.dropLast(Int(CCRYPTO_TAG_SIZE)))
    }

    private func nonce(for bytes: [UInt8], _ key: [UInt8], _ purpose: TokenPurpose) -> [UInt8]? {
        switch purpose {
        case .page:
            var nonce = [UInt8](repeating: 0, count: Int(CCRYPTO_NONCE_SIZE))
            return ccrypto_random(&nonce, nonce.count) == 1 ? nonce : nil
        case .history:
            // The nonce is derived from the bytes to seal (as in RFC 8452). Equal bytes therefore always give the
            // same token, and no nonce is used for two different texts.
            let digest = Self.digest(Array("nonce".utf8) + [0] + key + bytes)
            return digest.map { Array($0[..<Int(CCRYPTO_NONCE_SIZE)]) }
        }
    }

    static func digest(_ bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        return ccrypto_sha256(bytes, bytes.count, &digest) == 1 ? digest : nil
    }

    /// Identifies the app inside the broker without naming it: 16 bytes derived from this key.
    public var mark: [UInt8] {
        // SHA-256 on valid memory cannot fail. If it did, the broker could confuse two apps.
        guard let digest = Self.digest(Array("mark".utf8) + [0] + key) else {
            preconditionFailure("libcrypto could not hash")
        }
        return Array(digest[..<16])
    }

    /// Returns the key for a purpose. Each purpose has its own key, so a token is valid for one purpose only.
    private func tokenKey(_ purpose: TokenPurpose) -> [UInt8]? {
        if let known = tokenKeys[purpose] { return known }
        let made = Self.digest(Array(purpose.rawValue.utf8) + [0] + key)
        tokenKeys[purpose] = made
        return made
    }
}

/// The purpose of a sealed token.
public enum TokenPurpose: String, Sendable {
    /// A cursor in an ordered list.
    case page
    /// A history token.
    case history
}
