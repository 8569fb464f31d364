import ContactsModel
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

    private(set) var words = Rows<Word>()
    private(set) var emails = Rows<Email>()
    private(set) var beginnings = Rows<Beginning>()
    private(set) var phones = Rows<Phone>()
    private var records: Set<Int64> = []

    /// More are not kept: a book that is made anew has any number.
    static let most = 65_536

    var isEmpty: Bool { count == 0 }
    var count: Int { words.count + emails.count + phones.count + beginnings.count }

    /// Whether there may be any: whoever takes away those in the tables would miss these.
    func hasRows(of record: Int64) -> Bool { records.contains(record) }

    /// - Parameter ordering: the order in which beginnings are kept.
    mutating func append(_ record: Int64, _ forms: ContactForms, _ ordering: ContactOrder) {
        records.insert(record)
        for (word, key) in forms.words {
            words.append(Word(record: record, word: word, key: key), Prefix(word.utf8).number, UInt64(key))
        }
        for address in forms.emails {
            let prefix = Prefix(address.utf8)
            emails.append(Email(record: record, address: address), prefix.number, prefix.next)
        }
        for (key, digits) in forms.phones {
            let prefix = Prefix(key.national.utf8)
            let row = Phone(
                record: record, national: key.national, country: Int64(key.country),
                extensionDigits: key.extensionDigits, digits: digits)
            phones.append(row, prefix.number, prefix.next)
        }
        guard ordering != .none else { return }
        let nameKey = (ordering == .familyName ? forms.names.familyName : forms.names.givenName).bytes
        let place = Prefix(nameKey).number
        for (letters, keys) in forms.beginnings {
            let row = Beginning(
                ordering: Int64(ordering.rawValue), letters: letters, nameKey: nameKey, record: record,
                keys: Int64(bitPattern: keys.rawValue))
            beginnings.append(row, UInt64(row.ordering) << 56 | Prefix(letters.utf8).number >> 8, place)
        }
    }

    /// Gives what was gathered, and keeps nothing of it.
    mutating func take() -> FormRows {
        defer { self = FormRows() }
        return self
    }

    /// Rows with what decides their order, or nearly: where rows stand among their neighbours does not matter.
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

        func inOrder() -> some Collection<Row> {
            places.sorted { ($0.first, $0.second, $0.index) < ($1.first, $1.second, $1.index) }.lazy.map {
                rows[$0.index]
            }
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
