import BrokerModel
import CBrokerCrypto

/// Makes the pseudonyms of one user's contacts in the audit. A contact has the same pseudonym for every app,
/// so the administrator can find the apps that saw it. Without the user's key, nobody can tell which contact
/// a pseudonym stands for.
///
/// A pseudonym is one encrypted AES-128 block that contains the record number and zeros. The key is used for
/// nothing else.
final class Pseudonyms {
    let key: [UInt8]
    private let blocks: OpaquePointer
    static let keySize = 16
    static let size = Int(CCRYPTO_BLOCK_SIZE)

    /// Returns `nil` if the key is not ``keySize`` bytes long or libcrypto is out of memory.
    init?(key: [UInt8]) {
        guard key.count == Self.keySize, let blocks = ccrypto_blocks_make(key) else { return nil }
        self.key = key
        self.blocks = blocks
    }

    deinit { ccrypto_blocks_free(blocks) }

    /// Returns the pseudonyms, concatenated; `nil` if libcrypto fails.
    func pseudonyms(of records: [RecordNumber]) -> [UInt8]? {
        guard !records.isEmpty else { return [] }
        var plain = [UInt8](repeating: 0, count: records.count * Self.size)
        for (index, record) in records.enumerated() {
            for byte in 0..<8 {
                plain[index * Self.size + byte] = UInt8(truncatingIfNeeded: record.rawValue >> (8 * byte))
            }
        }
        var sealed = plain
        return ccrypto_blocks_encrypt(blocks, plain, &sealed, records.count) == 1 ? sealed : nil
    }
}
