import ContactsModel
import Normalization

extension BookReader {
    func search(
        _ text: String, scope: RecordScope, excluding: Set<RecordNumber>, order: ContactOrder, offset: Int, limit: Int
    ) throws(StoreError) -> (rows: [FetchedContact], total: Int) {
        try onConnection { connection in
            try connection.inOneRead {
                let found = try connection.found(text, scope, excluding, order)
                var rows: [FetchedContact] = []
                for record in found.dropFirst(max(0, offset)).prefix(max(0, limit)) {
                    guard let contact = try connection.contact(record) else { continue }
                    rows.append(FetchedContact(record: RecordNumber(record), contact: contact, images: nil))
                }
                return (rows, found.count)
            }
        }
    }

    func existing(_ records: [RecordNumber]) throws(StoreError) -> Set<RecordNumber> {
        try onConnection { connection in
            try connection.inOneRead {
                var found = Set<RecordNumber>()
                for record in records where try connection.exists(record.rawValue) { found.insert(record) }
                return found
            }
        }
    }
}

extension BookReader.Connection {
    /// Everybody whom the person's search finds, in order.
    fileprivate func found(
        _ text: String, _ scope: RecordScope, _ excluding: Set<RecordNumber>, _ order: ContactOrder
    ) throws -> [Int64] {
        let match = Match.terms(text, normalizer)
        switch scope {
        case .only(let scope):
            var places: [Place] = []
            for record in scope.subtracting(excluding) where try matches(record.rawValue, match) {
                guard try exists(record.rawValue) else { continue }
                let key = order == .none ? [] : try sortKey(record.rawValue, order, seeing: .all)
                places.append(Place(key: key ?? [], record: record.rawValue))
            }
            return places.sorted().map(\.record)
        case .all:
            var sql = ReadSQL.everybody(order)
            var bindings: [Binding] = []
            if let match {
                guard let condition = Condition(match) else { return [] }
                sql = ReadSQL.sorted(condition, order, after: nil, limit: nil)
                bindings = condition.bindings
            }
            let statement = try statement(sql)
            statement.bind(bindings)
            defer { statement.reset() }
            var found: [Int64] = []
            while try statement.step() {
                let record = statement.integer(0)
                if !excluding.contains(RecordNumber(record)) { found.append(record) }
            }
            return found
        }
    }
}
