/// Text that a C function writes into a buffer.
enum CText {
    /// The maximum size of a text, in bytes. Names of countries and phone numbers are much shorter.
    static let capacity = 512

    /// - Parameter write: fills the buffer and returns the text's whole size in bytes; -1 for no text.
    /// - Returns: `nil` if there is no text or it exceeds ``capacity``.
    static func read(_ write: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> String? {
        var bytes = [CChar](repeating: 0, count: capacity)
        let count = bytes.withUnsafeMutableBufferPointer { write($0.baseAddress, $0.count) }
        guard (0...capacity).contains(count) else { return nil }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
