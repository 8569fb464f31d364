import Normalization

/// Rows by which contacts are found, gathered over a save and written table by table in the order of the index.
///
/// Contact by contact they would fall all over every index, and a page would be looked for and changed anew for each of its
/// rows. What is gathered is in no table yet.
struct FormRows {
    struct Word {
        let record: Int64
        let word: String
        let key: Int64
    }

    struct Email {
        let record: Int64
        let address: String
    }

    struct Phone {
        let record: Int64
        let national: String
        let country: Int64
        let extensionDigits: String
        let digits: String
    }

    struct Beginning {
        let ordering: Int64
        let letters: String
        let nameKey: [UInt8]
        let record: Int64
        let keys: Int64
    }

    private var words = Rows<Word>()
    private var emails = Rows<Email>()
    private var phones: [(record: Int64, number: String)] = []
    private var beginnings = Rows<Beginning>()
    private var records: Set<Int64> = []

    /// More are not kept: a book that is made anew has any number.
    static let most = 65_536

    var isEmpty: Bool { count == 0 }
    var count: Int { words.count + emails.count + phones.count + beginnings.count }

    /// To be called before rows of a record are appended.
    mutating func begin(_ record: Int64) { records.insert(record) }

    /// Whether there may be any: whoever takes away those in the tables would miss these.
    func hasRows(of record: Int64) -> Bool { records.contains(record) }

    mutating func append(_ row: Word) { words.append(row, Prefix(row.word.utf8).number, UInt64(row.key)) }

    mutating func append(_ row: Email) {
        let prefix = Prefix(row.address.utf8)
        emails.append(row, prefix.number, prefix.next)
    }

    mutating func append(_ record: Int64, number: String) { phones.append((record, number)) }

    mutating func append(_ row: Beginning) {
        let letters = Prefix(row.letters.utf8).number >> 8
        beginnings.append(row, UInt64(row.ordering) << 56 | letters, Prefix(row.nameKey).number)
    }

    /// Gives what was gathered but the phone numbers, and keeps nothing of it.
    mutating func take(
        word: (Word) throws(StoreError) -> Void, email: (Email) throws(StoreError) -> Void,
        beginning: (Beginning) throws(StoreError) -> Void
    ) throws(StoreError) {
        let taken = self
        self = FormRows()
        phones = taken.phones
        try taken.words.inOrder(word)
        try taken.emails.inOrder(email)
        try taken.beginnings.inOrder(beginning)
    }

    /// Gives the phone numbers, and keeps none.
    ///
    /// - Parameter known: keys of numbers that were read before, by the numbers' bytes.
    mutating func takePhones(
        _ known: [[UInt8]: PhoneMatchKey?], _ normalizer: Normalizer, _ body: (Phone) throws(StoreError) -> Void
    ) throws(StoreError) {
        var rows = Rows<Phone>()
        for (record, number) in phones {
            guard let key = known[Array(number.utf8)] ?? PhoneMatchKey(number, normalizer) else { continue }
            let prefix = Prefix(key.national.utf8)
            let row = Phone(
                record: record, national: key.national, country: Int64(key.country),
                extensionDigits: key.extensionDigits, digits: PhoneDigits(number)?.reversed ?? "")
            rows.append(row, prefix.number, prefix.next)
        }
        phones = []
        try rows.inOrder(body)
    }

    /// Rows with what decides their order, or nearly: where rows stand among their neighbours does not matter.
    private struct Rows<Row> {
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

        func inOrder(_ body: (Row) throws(StoreError) -> Void) throws(StoreError) {
            let sorted = places.sorted { ($0.first, $0.second, $0.index) < ($1.first, $1.second, $1.index) }
            for place in sorted { try body(rows[place.index]) }
        }
    }

    /// A text's first bytes as numbers, which compare faster than the text and mostly say the same.
    private struct Prefix {
        /// Of the first eight bytes.
        private(set) var number: UInt64 = 0
        /// Of those behind.
        private(set) var next: UInt64 = 0

        init(_ bytes: some Sequence<UInt8>) {
            var count = 0
            for byte in bytes {
                let shifted = UInt64(byte) << UInt64(56 - count % 8 * 8)
                if count < 8 { number |= shifted } else { next |= shifted }
                count += 1
                if count == 16 { break }
            }
        }
    }
}
