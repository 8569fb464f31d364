import CBrokerCrypto

/// Authenticates the lines of a backup, in pieces. Each piece has a code that depends on the broker's key, on its
/// lines and on the pieces before it. So no piece can be changed, left out or exchanged, except that the end can be
/// cut off, which the last line of a backup shows.
public struct BackupSeal: Sendable {
    /// Bytes in a key.
    public static let keySize = 32
    private let key: [UInt8]
    /// The code of the piece before.
    private var last = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))

    /// Returns `nil` if the key is not ``keySize`` bytes long.
    public init?(key: [UInt8]) {
        guard key.count == Self.keySize else { return nil }
        self.key = key
    }

    /// Returns a random key; `nil` if the system has no randomness.
    public static func randomKey() -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: keySize)
        return ccrypto_random(&key, key.count) == 1 ? key : nil
    }

    /// Returns the code of the next piece; `nil` if libcrypto fails.
    public mutating func seal(_ lines: [BackupLine]) -> String? {
        guard let code = code(lines.map(\.json)) else { return nil }
        last = code
        return Hexadecimal.text(code)
    }

    /// Whether a code is that of the next piece. If not, no later code is valid either.
    public mutating func accepts(_ code: String, for lines: [[UInt8]]) -> Bool {
        guard let expected = self.code(lines), let given = Hexadecimal.bytes(code), given.count == expected.count,
            ccrypto_equal(expected, given, given.count) == 1
        else { return false }
        last = expected
        return true
    }

    private func code(_ lines: [[UInt8]]) -> [UInt8]? {
        var bytes = last
        bytes.reserveCapacity(lines.reduce(last.count) { $0 + $1.count + 8 })
        for line in lines {
            // With its length before each line, the lines cannot be divided differently.
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: line.count >> shift)) }
            bytes += line
        }
        var code = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        return ccrypto_hmac(key, key.count, bytes, bytes.count, &code) == 1 ? code : nil
    }
}

/// A line of a backup, which is a JSON object. Only ``Disclosure/backUp(_:_:)`` makes lines with a contact.
public struct BackupLine: Hashable, Sendable {
    @_spi(Disclosed) public let json: [UInt8]
    public let hasContact: Bool

    public init(withoutContact json: [UInt8]) { (self.json, hasContact) = (json, false) }

    init(disclosing json: [UInt8]) { (self.json, hasContact) = (json, true) }

    /// The size in bytes.
    public var size: Int { json.count }
}
