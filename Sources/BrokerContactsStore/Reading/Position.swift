import BrokerModel
import BrokerNormalization

/// A cursor: the position after one contact in an order. It stays valid when that contact moves or is
/// deleted.
///
/// A cursor contains the beginning of the contact's sort key. An app must not see that key, so encrypt
/// ``bytes``.
public struct Position: Hashable, Sendable {
    public let order: ContactOrder
    /// Identifies the sort keys of the book, which change with the owner's language; 0 for ``ContactOrder/none``.
    let keys: UInt32
    let key: [UInt8]
    public let record: RecordNumber

    init(order: ContactOrder, keys: UInt32, key: [UInt8], record: RecordNumber) {
        self.order = order
        self.keys = keys
        self.key = key
        self.record = record
    }

    /// The length of ``bytes``, the same for every cursor.
    public static let size = 2 + CollationKey.maximumSize + 8 + 4

    /// The stored form: order, length of the key, key, zeros, record number and sort keys (big endian).
    public var bytes: [UInt8] {
        var bytes: [UInt8] = [order.rawValue, UInt8(key.count)]
        bytes.reserveCapacity(Self.size)
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: repeatElement(0, count: CollationKey.maximumSize - key.count))
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: record.rawValue >> Int64(shift)))
        }
        for shift in stride(from: 24, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: keys >> UInt32(shift)))
        }
        return bytes
    }

    /// Decodes ``bytes``; `nil` if they are malformed.
    public init?(bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.size, let order = ContactOrder(rawValue: bytes[0]) else { return nil }
        let count = Int(bytes[1])
        guard count <= CollationKey.maximumSize,
            bytes[(2 + count)..<(Self.size - 12)].allSatisfy({ $0 == 0 })
        else { return nil }
        self.order = order
        key = Array(bytes[2..<2 + count])
        record = RecordNumber(bytes[(Self.size - 12)..<(Self.size - 4)].reduce(0) { $0 << 8 | Int64($1) })
        keys = bytes[(Self.size - 4)...].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
