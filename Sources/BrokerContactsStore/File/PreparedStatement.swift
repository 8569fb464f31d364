import BrokerSQLite

extension Statement<StoreError> {
    /// A part of these bytes, which are UTF-8.
    func bind(_ index: Int32, text: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) {
        bind(index, utf8: Self.part(text, of: bytes))
    }

    /// A part of these bytes.
    func bind(_ index: Int32, blob: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) {
        bind(index, blob: Self.part(blob, of: bytes))
    }

    private static func part(_ text: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) -> UnsafeRawBufferPointer {
        precondition(text.start >= 0 && text.count >= 0 && text.start + text.count <= bytes.count)
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[text.start..<text.start + text.count])
    }

    func bindNull(_ index: Int32) { bind(index, Int64?.none) }

    func bind(_ values: [Binding], from first: Int32 = 1) {
        var index = first
        for value in values {
            switch value {
            case .integer(let integer): bind(index, integer)
            case .text(let text): bind(index, text)
            case .bytes(let bytes): bind(index, bytes)
            }
            index += 1
        }
    }
}

/// A value for a place in a statement.
enum Binding: Hashable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
