import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// What the person looks for at the agent, and which rows of what is found.
public struct PersonSearch: Hashable, Sendable {
    public var text: String
    /// Nothing outside it is looked at.
    public var scope: RecordScope
    public var excluding: Set<RecordNumber>
    public var order: ContactOrder
    public var offset: Int
    public var limit: Int

    public init(
        _ text: String, scope: RecordScope, excluding: Set<RecordNumber> = [], order: ContactOrder, offset: Int,
        limit: Int
    ) {
        self.text = text
        self.scope = scope
        self.excluding = excluding
        self.order = order
        self.offset = offset
        self.limit = limit
    }
}

/// What was found for the person.
public struct PersonFound: Sendable {
    /// The rows that were asked for.
    public let rows: [(RecordNumber, StoredContact)]
    /// How many there are in all.
    public let total: Int

    public init(rows: [(RecordNumber, StoredContact)] = [], total: Int = 0) {
        self.rows = rows
        self.total = total
    }
}

extension BookReader {
    func search(_ search: PersonSearch, isBounded: Bool) throws(StoreError) -> PersonFound {
        try onConnection(isBounded: isBounded) { connection in
            try connection.inOneRead {
                let subject = KeptPlaces.Subject.search(search.text, search.scope, excluding: search.excluding)
                let found = try connection.records(of: subject, search.order) {
                    try connection.found(search.text, search.scope, search.excluding, search.order)
                }
                var rows: [(RecordNumber, StoredContact)] = []
                for record in found.dropFirst(max(0, search.offset)).prefix(max(0, search.limit)) {
                    guard let contact = try connection.contact(record) else { continue }
                    rows.append((RecordNumber(record), contact))
                }
                return PersonFound(rows: rows, total: found.count)
            }
        }
    }

    func photoSize(of records: Set<RecordNumber>, _ keys: ContactKeySet) throws(StoreError) -> Int {
        try onConnection { connection in
            let statement = try connection.statement(ReadSQL.imageSizes(keys))
            defer { statement.reset() }
            var size: Int64 = 0
            for record in records {
                statement.bind(1, record.rawValue)
                if try statement.step() { size += statement.integer(0) + statement.integer(1) }
                statement.reset()
            }
            return Int(size)
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
            for record in try matching(match, amongst: scope.subtracting(excluding)) {
                let key = order == .none ? [] : try sortKey(record, order, seeing: .all)
                places.append(Place(key: key ?? [], record: record))
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
