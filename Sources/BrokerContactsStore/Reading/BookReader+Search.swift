import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// A search by the person at the agent, and the range of rows to return.
public struct PersonSearch: Hashable, Sendable {
    public var text: String
    /// Only these records are searched.
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

/// The result of the person's search.
public struct PersonFound: Sendable {
    /// The requested rows.
    public let rows: [(RecordNumber, StoredContact)]
    /// The total number of matches.
    public let total: Int

    public init(rows: [(RecordNumber, StoredContact)] = [], total: Int = 0) {
        self.rows = rows
        self.total = total
    }
}

extension BookReader {
    func search(_ search: PersonSearch) throws -> PersonFound {
        try inOneRead {
            let subject = KeptPlaces.Subject.search(search.text, search.scope, excluding: search.excluding)
            let found = try records(of: subject, search.order) { try everybody(for: search) }
            var rows: [(RecordNumber, StoredContact)] = []
            for record in found.dropFirst(max(0, search.offset)).prefix(max(0, search.limit)) {
                guard let contact = try contact(record) else { continue }
                rows.append((RecordNumber(record), contact))
            }
            return PersonFound(rows: rows, total: found.count)
        }
    }

    /// Returns all matches of the person's search, in order.
    private func everybody(for search: PersonSearch) throws -> [Int64] {
        let match = Match.terms(search.text, normalizer)
        switch search.scope {
        case .only(let scope):
            return try matching(match, amongst: scope.subtracting(search.excluding)).map { record in
                let key = search.order == .none ? nil : try sortKey(record, search.order, seeing: .all)
                return Place(key: key ?? [], record: record)
            }.sorted().map(\.record)
        case .all:
            var sql = ReadSQL.everybody(search.order)
            var bindings: [Binding] = []
            if let match {
                guard let condition = Condition(match) else { return [] }
                sql = ReadSQL.sorted(condition, search.order, after: nil, limit: nil)
                bindings = condition.bindings
            }
            return try statement(sql).bind(bindings).all { $0.integer(0) }
                .filter { !search.excluding.contains(RecordNumber($0)) }
        }
    }

    func photoSize(of records: Set<RecordNumber>, _ keys: ContactKeySet) throws -> Int {
        let sizes = try statement(ReadSQL.imageSizes(keys))
        return try records.reduce(0) { size, record in
            size + (try sizes.bind(1, record.rawValue).first { Int($0.integer(0) + $0.integer(1)) } ?? 0)
        }
    }
}
