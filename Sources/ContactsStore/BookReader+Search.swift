import ContactsModel
import Normalization

extension BookReader {
    func search(
        _ text: String, scope: RecordScope, excluding: Set<RecordNumber>, order: ContactOrder, offset: Int, limit: Int
    ) throws(StoreError) -> (rows: [FetchedContact], total: Int) {
        try onConnection { connection in
            let match = Match.terms(text, normalizer)
            let records: [Int64]
            switch scope {
            case .only(let scope):
                var places: [Place] = []
                for record in scope.subtracting(excluding) where try connection.matches(record.rawValue, match) {
                    guard try connection.exists(record.rawValue) else { continue }
                    let key = order == .none ? [] : try connection.sortKey(record.rawValue, order, seeing: .all)
                    places.append(Place(key: key ?? [], record: record.rawValue))
                }
                records = places.sorted().map(\.record)
            case .all:
                let sql: String
                let bindings: [Binding]
                if let match {
                    guard let condition = Condition(match) else { return ([], 0) }
                    sql = ReadSQL.sorted(condition, order, after: nil, limit: nil)
                    bindings = condition.bindings
                } else {
                    sql = ReadSQL.everybody(order)
                    bindings = []
                }
                let statement = try connection.statement(sql)
                statement.bind(bindings)
                defer { statement.reset() }
                var found: [Int64] = []
                while try statement.step() {
                    let record = statement.integer(0)
                    if !excluding.contains(RecordNumber(record)) { found.append(record) }
                }
                records = found
            }
            var rows: [FetchedContact] = []
            for record in records.dropFirst(max(0, offset)).prefix(max(0, limit)) {
                guard let contact = try connection.contact(record) else { continue }
                rows.append(FetchedContact(record: RecordNumber(record), contact: contact, images: nil))
            }
            return (rows, records.count)
        }
    }

    func existing(_ records: [RecordNumber]) throws(StoreError) -> Set<RecordNumber> {
        try onConnection { connection in
            var found = Set<RecordNumber>()
            for record in records where try connection.exists(record.rawValue) { found.insert(record) }
            return found
        }
    }
}
