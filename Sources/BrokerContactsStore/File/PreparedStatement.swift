import BrokerModel
import BrokerSQLite

typealias PreparedStatement = Statement<StoreError>

extension Statement<StoreError> {
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
