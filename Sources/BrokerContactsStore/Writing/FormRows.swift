import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// Rows of search terms, gathered during a save and written table by table in index order.
///
/// If rows were written contact by contact, each contact would touch pages throughout each index. Until
/// gathered rows are written, queries do not find them and deletions do not remove them.
struct FormRows {
    struct Word {
        let record: Int64
        let word: Text
        let key: Int64
    }

    struct Email {
        let record: Int64
        let address: Text
    }

    struct Phone {
        let record: Int64
        let national: Text
        let country: Int64
        let extensionDigits: Text
        let digits: Text
    }

    struct Beginning {
        let ordering: Int64
        let letters: Text
        let nameKey: Text
        let record: Int64
    }

    /// The range of a row's text or key in ``bytes``. Rows without object references are cheap to copy and
    /// sort.
    struct Text {
        let start: Int
        let count: Int
    }

    private(set) var words = Rows<Word>()
    private(set) var emails = Rows<Email>()
    private(set) var beginnings = Rows<Beginning>()
    private(set) var phones = Rows<Phone>()
    /// The bytes of all rows' texts.
    private(set) var bytes: [UInt8] = []
    private var records: Set<Int64> = []

    /// The number of gathered rows at which they are written. Without this limit, rebuilding a book would
    /// gather the rows of all contacts.
    static let most = 65_536

    var isEmpty: Bool { count == 0 }
    var count: Int { words.count + emails.count + phones.count + beginnings.count }

    /// Whether there may be gathered rows of this record. Deleting the record's rows from the tables does not
    /// delete gathered ones.
    func hasRows(of record: Int64) -> Bool { records.contains(record) }

    /// - Parameter ordering: the order in which name beginnings are indexed.
    mutating func append(_ record: Int64, _ forms: ContactForms, _ ordering: ContactOrder) {
        records.insert(record)
        for (word, key) in forms.words {
            let text = append(word.utf8)
            let prefix = prefix(text)
            words.append(
                Word(record: record, word: text, key: key), UInt64(key) << 56 | prefix.number >> 8, prefix.next)
        }
        for address in forms.emails {
            let text = append(address.utf8)
            let prefix = prefix(text)
            emails.append(Email(record: record, address: text), prefix.number, prefix.next)
        }
        for (key, digits) in forms.phones {
            let national = append(key.national.utf8)
            let prefix = prefix(national)
            let row = Phone(
                record: record, national: national, country: Int64(key.country),
                extensionDigits: append(key.extensionDigits.utf8), digits: append(digits.utf8))
            phones.append(row, prefix.number, prefix.next)
        }
        guard ordering != .none, !forms.beginnings.isEmpty else { return }
        let nameKey = append((ordering == .familyName ? forms.names.familyName : forms.names.givenName).bytes)
        let place = prefix(nameKey).number
        for letters in forms.beginnings {
            let row = Beginning(
                ordering: Int64(ordering.rawValue), letters: append(letters.utf8), nameKey: nameKey, record: record)
            beginnings.append(row, UInt64(row.ordering) << 56 | prefix(row.letters).number >> 8, place)
        }
    }

    private mutating func append(_ text: some Sequence<UInt8>) -> Text {
        let start = bytes.count
        bytes.append(contentsOf: text)
        return Text(start: start, count: bytes.count - start)
    }

    /// Rows with an approximate sort key, because the order among close neighbours does not matter.
    struct Rows<Row> {
        private struct Place {
            let first: UInt64
            let second: UInt64
            let index: Int
        }

        private var rows: [Row] = []
        private var places: [Place] = []

        var count: Int { rows.count }

        mutating func append(_ row: Row, _ first: UInt64, _ second: UInt64) {
            places.append(Place(first: first, second: second, index: rows.count))
            rows.append(row)
        }

        func inOrder() -> [Row] {
            places.sorted { ($0.first, $0.second, $0.index) < ($1.first, $1.second, $1.index) }.map { rows[$0.index] }
        }
    }

    /// Returns a text's first eight bytes, and the eight after them, as numbers. Numbers compare faster than
    /// texts, and usually with the same result.
    private func prefix(_ text: Text) -> (number: UInt64, next: UInt64) {
        (number(text.start, to: text.start + text.count), number(text.start + 8, to: text.start + text.count))
    }

    private func number(_ start: Int, to end: Int) -> UInt64 {
        var number: UInt64 = 0
        for place in 0..<8 {
            number <<= 8
            if start + place < end { number |= UInt64(bytes[start + place]) }
        }
        return number
    }
}

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
}
