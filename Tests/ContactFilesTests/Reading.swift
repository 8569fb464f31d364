@testable import BrokerContactFiles

/// All items that a reader gives for these bytes, in chunks of this many bytes.
func rowItems(of bytes: [UInt8], from reader: some RowReader, chunk: Int) -> [RowItem] {
    var reader = reader
    var items: [RowItem] = []
    for start in stride(from: 0, to: bytes.count, by: chunk) {
        reader.append(Array(bytes[start..<min(start + chunk, bytes.count)]))
        while let item = reader.next() { items.append(item) }
    }
    reader.finish()
    while let item = reader.next() { items.append(item) }
    return items
}
