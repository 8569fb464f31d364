import BrokerModel
import BrokerSQLite

typealias PreparedStatement = Statement<StoreError>

extension Statement<StoreError> {
    /// Binds a range of these UTF-8 bytes as a text.
    @discardableResult
    func bind(_ index: Int32, text: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) -> PreparedStatement {
        bind(index, utf8: Self.part(text, of: bytes))
    }

    /// Binds a range of these bytes as a blob.
    @discardableResult
    func bind(_ index: Int32, blob: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) -> PreparedStatement {
        bind(index, blob: Self.part(blob, of: bytes))
    }

    private static func part(_ text: FormRows.Text, of bytes: UnsafeBufferPointer<UInt8>) -> UnsafeRawBufferPointer {
        precondition(text.start >= 0 && text.count >= 0 && text.start + text.count <= bytes.count)
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[text.start..<text.start + text.count])
    }

    @discardableResult
    func bind(_ values: [Binding], from first: Int32 = 1) -> PreparedStatement {
        for (index, value) in zip(first..., values) {
            switch value {
            case .integer(let integer): bind(index, integer)
            case .text(let text): bind(index, text)
            case .bytes(let bytes): bind(index, bytes)
            }
        }
        return self
    }

    /// The record number in a column; `nil` for NULL.
    func record(_ column: Int32) -> RecordNumber? { isNull(column) ? nil : RecordNumber(integer(column)) }

    /// Returns the record numbers in the first column of all rows.
    func records() throws(StoreError) -> [RecordNumber] { try all { RecordNumber($0.integer(0)) } }
}

/// A value for a statement's parameter.
enum Binding: Hashable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
