import BrokerModel

/// Record numbers as one byte string: 8 bytes each, little endian.
enum RecordNumbers {
    static func encode(_ records: [RecordNumber]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.count * 8)
        for record in records {
            withUnsafeBytes(of: record.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// `nil` where the bytes are no whole numbers.
    static func decode(_ bytes: [UInt8]) -> [RecordNumber]? {
        guard bytes.count.isMultiple(of: 8) else { return nil }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            var number: UInt64 = 0
            for byte in 0..<8 { number |= UInt64(bytes[start + byte]) << UInt64(8 * byte) }
            return RecordNumber(Int64(bitPattern: number))
        }
    }
}
