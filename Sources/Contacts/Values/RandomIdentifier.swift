import Foundation

/// Makes temporary identifiers for records and values that the broker has not saved yet.
enum RandomIdentifier {
    /// Returns a UUID of version 4 (RFC 9562 §5.4). This does not call Foundation's `UUID()`, which opens a
    /// file for each UUID on Linux.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let (high, low): (UInt64, UInt64) = (generator.next(), generator.next())
        return UUID(high & ~0xF000 | 0x4000, low & ~(0b11 << 62) | 0b10 << 62).uuidString
    }
}

extension UUID {
    /// Creates the UUID of these sixteen bytes, the most significant first.
    init(_ high: UInt64, _ low: UInt64) {
        // Sound: the source and `uuid_t` are sixteen bytes long, any sixteen bytes are a valid `uuid_t`, and
        // the pointer does not leave the closure.
        let uuid = unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            unsafe $0.loadUnaligned(as: uuid_t.self)
        }
        self.init(uuid: uuid)
    }
}
