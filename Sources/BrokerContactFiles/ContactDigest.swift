/// Short hashes, which do not resist deliberate collisions.
public enum ContactDigest {
    /// Returns the 64-bit FNV-1a hash (draft-eastlake-fnv), in 16 hexadecimal digits.
    static func hash(of bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Returns the hash of a file's bytes, which shows whether the file was changed.
    public static func ofFile(_ bytes: [UInt8]) -> String { hash(of: bytes) }
}
