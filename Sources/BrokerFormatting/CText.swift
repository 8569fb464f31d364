/// Text that a function in C writes.
enum CText {
    /// Longest text that is taken, in bytes; a name of a country or a phone number is far shorter.
    static let capacity = 512

    /// - Parameter write: fills what it is given and returns the size of the whole; -1 for none.
    /// - Returns: `nil` for none, and for one that is too long.
    static func read(_ write: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> String? {
        var bytes = [CChar](repeating: 0, count: capacity)
        let count = bytes.withUnsafeMutableBufferPointer { write($0.baseAddress, $0.count) }
        guard (0...capacity).contains(count) else { return nil }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
