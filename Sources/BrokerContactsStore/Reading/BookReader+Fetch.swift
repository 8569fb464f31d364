import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// One page of a fetch, and whether more contacts follow.
struct FetchedPage: Sendable {
    var rows: [FetchedContact] = []
    var last: Position?
    var hasMore = false
    fileprivate var bytes = 0
}

/// The cached values about the book that a read uses.
struct KnownOfBook {
    /// The links that unify contacts; `nil` if each card is its own contact.
    let links: ContactLinks?
    /// The order whose name beginnings are indexed; `nil` while it changes.
    let beginnings: ContactOrder?
    let effort: SearchEffort
    /// Whether the event loop must not sort the query's contacts. It may still use a sorted list from the
    /// cache.
    let mayNotSort: Bool
}

/// A contact's number and its sort key.
struct Place: Comparable {
    let key: [UInt8]
    let record: Int64
    /// The key's first bytes as a number, which decides most comparisons.
    private let beginning: UInt64

    init(key: [UInt8], record: Int64) {
        self.key = key
        self.record = record
        var beginning: UInt64 = 0
        for index in 0..<8 { beginning = beginning << 8 | (index < key.count ? UInt64(key[index]) : 0) }
        self.beginning = beginning
    }

    static func < (left: Place, right: Place) -> Bool {
        if left.beginning != right.beginning { return left.beginning < right.beginning }
        if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
        return left.record < right.record
    }
}

extension BookReader {
    func fetch(_ query: ContactQuery, _ known: KnownOfBook) throws -> FetchedPage {
        guard query.limit > 0 else { return FetchedPage() }
        guard query.order != .none else { return try page(query, known) }
        return try inOneRead {
            try useStoredForms()
            if let after = query.after, after.order == query.order, after.keys != order { throw StoreError.otherOrder }
            return try page(query, known)
        }
    }

    private func page(_ query: ContactQuery, _ known: KnownOfBook) throws -> FetchedPage {
        let linked = known.links.map { LinkedRecords(reader: self, links: $0, query: query) }
        let fetch = Fetch(reader: self, query: query, known: known, linked: linked)
        switch (query.scope, query.predicate) {
        case (.all, nil): return try fetch.everybody()
        case (.all, .records(let records)): return try fetch.some(firsts(of: records, linked))
        case (.only(let scope), nil): return try fetch.some(scope)
        case (.only(let scope), .records(let records)):
            return try fetch.some(firsts(of: scope.intersection(records), linked))
        case (.all, .some(let predicate)):
            let match = Match(predicate, seeing: query.matchKeys, normalizer)
            return try inOneRead { try fetch.found(match) }
        case (.only(let scope), .some(let predicate)):
            let match = Match(predicate, seeing: query.matchKeys, normalizer)
            return try inOneRead { try fetch.some(scope, matching: match) }
        }
    }

    private func firsts(
        of records: some Sequence<RecordNumber>, _ linked: LinkedRecords?
    ) throws -> Set<RecordNumber> {
        guard let linked else { return Set(records) }
        return try Set(records.map(linked.first))
    }

    /// Returns the given records that match, in ascending order. Looks up only these records, one by one. A
    /// record that is not in the book never matches.
    func matching(_ match: Match?, amongst records: some Sequence<RecordNumber>) throws -> [Int64] {
        // Sorted, because neighbouring rows share pages.
        var left = records.map(\.rawValue).sorted()
        switch match {
        case nil: return try left.filter(exists)
        case .words(let words, let keys):
            let statement = try statement(ReadSQL.wordOfRecord(keys))
            for word in words {
                statement.bind(2, word).bind(3, Match.end(of: word))
                left = try left.filter { try statement.bind(1, $0).hasRow() }
            }
            return left
        case .some(let match): return try left.filter { try matches($0, match) }
        }
    }

    /// Whether one record matches. Looks up only that record.
    func matches(_ record: Int64, _ match: Match) throws -> Bool {
        switch match {
        case .nobody: return false
        case .words(let words, let keys):
            let stored = try wordOfRecord(keys)
            return try words.allSatisfy { try stored.has($0, record) }
        case .email(let address):
            return try statement(ReadSQL.emailOfRecord).bind(1, record).bind(2, address).hasRow()
        case .phone(let key):
            return try hasPhone(record) {
                key.matches(
                    PhoneMatchKey(
                        national: $0.text(0), country: Int32(truncatingIfNeeded: $0.integer(1)),
                        extensionDigits: $0.text(2)))
            }
        case .container(let container):
            return try statement(ReadSQL.containerOfContact).bind(1, record).first { $0.record(0) == container }
                ?? false
        case .terms(let terms, let keys):
            let stored = try wordOfRecord(keys)
            return try terms.allSatisfy { term in
                if try stored.has(term, record) { return true }
                guard let part = Match.phonePart(term) else { return false }
                return try hasPhone(record) { $0.text(3).contains(part) }
            }
        }
    }

    func wordOfRecord(_ keys: ContactKeySet) throws -> WordOfRecord {
        WordOfRecord(statement: try statement(ReadSQL.wordOfRecord(keys)))
    }

    private func hasPhone(_ record: Int64, _ matches: (PreparedStatement) -> Bool) throws -> Bool {
        try statement(ReadSQL.phonesOfRecord).bind(1, record).all(matches).contains(true)
    }
}

/// Looks up words of single contacts, in the keys for which it was made.
struct WordOfRecord {
    fileprivate let statement: PreparedStatement

    /// Whether the contact has a word that begins with this one.
    func has(_ word: String, _ record: Int64) throws -> Bool {
        try statement.bind(1, record).bind(2, word).bind(3, Match.end(of: word)).hasRow()
    }
}

/// Reads one page of a query.
struct Fetch {
    let reader: BookReader
    let query: ContactQuery
    let known: KnownOfBook
    /// `nil` if each card is its own contact.
    let linked: LinkedRecords?

    private var seesNames: Bool { query.order == .none || CollationKey.keys.isSubset(of: query.matchKeys) }

    /// The cursor. A cursor of a different order is ignored.
    private var after: Position? { query.after.flatMap { $0.order == query.order ? $0 : nil } }

    /// Reads contacts of the whole book in order.
    func everybody() throws -> FetchedPage {
        guard seesNames else {
            // The indexes sort by all name keys, some of which are hidden from this reader. The contacts must
            // therefore be sorted by the visible keys.
            return try reader.inOneRead {
                try self.page(ofKept: kept { try records(ReadSQL.everybody(.none), []) })
            }
        }
        var page = FetchedPage()
        page.rows.reserveCapacity(min(query.limit, 256))
        var lastKey: [UInt8] = []
        for (part, bindings) in parts() where !page.hasMore {
            let statement = try reader.statement(ReadSQL.page(query.order, part))
            statement.bind(bindings)
            defer { statement.reset() }
            while try statement.step() {
                if let linked, try linked.follows(statement.integer(0)) { continue }
                guard !isFull(page) else {
                    page.hasMore = true
                    break
                }
                let record = statement.integer(0)
                try append(record, reader.stored(statement, from: 2, record: record, query.disclosedKeys), to: &page)
                // Copies only the last contact's key, because a key takes as long to copy as its contact.
                if isFull(page) { lastKey = statement.bytes(1) }
            }
        }
        guard let last = page.rows.last?.record else { return page }
        let key = try lastKey.isEmpty ? key(of: last.rawValue) : lastKey
        page.last = Position(order: query.order, keys: reader.order, key: key, record: last)
        return page
    }

    private func parts() -> [(ReadSQL.Part, [Binding])] {
        guard let after else { return [(.everybody, [])] }
        let record = Binding.integer(after.record.rawValue)
        if query.order == .none { return [(.laterRecords, [record])] }
        return [(.sameName, [.bytes(after.key), record]), (.laterNames, [.bytes(after.key)])]
    }

    /// Reads a page of the contacts with these numbers.
    func some(_ scope: Set<RecordNumber>) throws -> FetchedPage {
        return try reader.inOneRead {
            // Sorting a few contacts takes less time than a look-up in the cache.
            if scope.count < 32 { return try page(of: sorted(scope.map(\.rawValue))) }
            return try page(ofKept: kept(scope) { scope.map(\.rawValue) })
        }
    }

    /// Returns the records in order and caches them for the next page.
    private func kept(_ scope: Set<RecordNumber>? = nil, _ records: () throws -> [Int64]) throws -> [Int64] {
        try reader.records(of: query.keptSubject(scope.map { .only($0) } ?? .all), query.order) {
            if known.mayNotSort { throw StoreError.takesLong }
            return try sorted(records()).map(\.record)
        }
    }

    /// Reads a page of those contacts with these numbers that match. Looks up no other contacts.
    func some(_ scope: Set<RecordNumber>, matching match: Match) throws -> FetchedPage {
        if match == .nobody { return FetchedPage() }
        return try page(of: sorted(firsts(of: reader.matching(match, amongst: scope))))
    }

    /// Reads the matching contacts of the whole book through an index.
    func found(_ match: Match) throws -> FetchedPage {
        guard let condition = Condition(match) else { return FetchedPage() }
        guard seesNames else {
            let sql = ReadSQL.sorted(condition, .none, after: nil, limit: nil)
            return try page(of: sorted(firsts(of: records(sql, condition.bindings))))
        }
        // One contact beyond the limit shows whether more contacts follow. ``page(of:)`` leaves out matches
        // that another contact represents, so the limit rises by their number.
        let followers = try linked?.followers(match, condition) ?? []
        let (limit, _) = query.limit.addingReportingOverflow(1 + followers.count)
        var places = try places(match, condition, limit: limit)
        if !followers.isEmpty {
            let found = Set(places.map(\.record))
            let firsts = try firsts(of: followers).filter { !found.contains($0) }
            places = (places + (try sorted(firsts))).sorted()
        }
        return try page(of: places)
    }

    /// Returns the contacts that represent these records, without duplicates.
    private func firsts(of records: [Int64]) throws -> [Int64] {
        guard let linked else { return records }
        return try Set(records.map { try linked.first(for: RecordNumber($0)).rawValue }).sorted()
    }

    /// Returns the first `limit` matching contacts of the whole book in order, after the query's cursor.
    private func places(_ match: Match, _ condition: Condition, limit: Int) throws -> [Place] {
        if case .words(let words, let keys) = match {
            return try FoundByWords(
                reader: reader, words: words, keys: keys, order: query.order, after: after, limit: limit,
                // While the indexed order changes, the contacts are sorted instead. So are those of a reader who
                // may not see every name, because the index has the beginnings of all names.
                hasBeginnings: query.order != .none && query.order == known.beginnings && keys == Match.nameWords,
                effort: known.effort
            ).places()
        }
        let sql = ReadSQL.sorted(condition, query.order, after: after, limit: limit)
        return try reader.places(sql, condition.bindings + Position.bindings(after))
    }

    private func records(_ sql: String, _ bindings: [Binding]) throws -> [Int64] {
        try reader.statement(sql).bind(bindings).all { $0.integer(0) }
    }

    private func key(of record: Int64) throws -> [UInt8] {
        if query.order == .none { return [] }
        return try reader.sortKey(record, query.order, seeing: query.matchKeys) ?? []
    }

    /// Sorts records. If the order is by name, leaves out deleted records.
    private func sorted(_ records: [Int64]) throws -> [Place] {
        if query.order == .none { return records.map { Place(key: [], record: $0) }.sorted() }
        return try records.compactMap { record in
            try reader.sortKey(record, query.order, seeing: query.matchKeys).map { Place(key: $0, record: record) }
        }.sorted()
    }

    /// Reads a page from sorted places.
    private func page(of places: [Place]) throws -> FetchedPage {
        var first = 0
        if let after {
            let place = Place(key: after.key, record: after.record.rawValue)
            first = Self.partition(places.count) { place < places[$0] }
        }
        return try page(of: places[first...].lazy.map(\.record)) { record in
            places.first { $0.record == record }?.key ?? []
        }
    }

    /// Reads a page from sorted records. To find the start of the page, looks up only a few sort keys.
    private func page(ofKept records: [Int64]) throws -> FetchedPage {
        var first = 0
        if let after, let last = try index(of: after, in: records) {
            first = last + 1
        } else if let after {
            let place = Place(key: after.key, record: after.record.rawValue)
            first = try Self.partition(records.count) {
                place < Place(key: try key(of: records[$0]), record: records[$0])
            }
        }
        return try page(of: records[first...]) { try key(of: $0) }
    }

    /// Returns the index of the cursor's contact; `nil` if it is not in the list, its name has changed, or
    /// the list is long. Scanning the record numbers takes less time than a few look-ups of sort keys.
    private func index(of place: Position, in records: [Int64]) throws -> Int? {
        guard records.count <= Self.mostLookedThrough, let index = records.firstIndex(of: place.record.rawValue),
            try key(of: place.record.rawValue) == place.key
        else { return nil }
        return index
    }

    private static let mostLookedThrough = 50_000

    private func page(
        of records: some Sequence<Int64>, key: (Int64) throws -> [UInt8]
    ) throws -> FetchedPage {
        var page = FetchedPage()
        for record in records {
            if let linked, try linked.follows(record) { continue }
            if isFull(page) {
                guard try reader.exists(record) else { continue }
                page.hasMore = true
                break
            }
            try append(record, reader.contact(record, query.disclosedKeys), to: &page)
        }
        guard let last = page.rows.last?.record else { return page }
        page.last = Position(
            order: query.order, keys: query.order == .none ? 0 : reader.order,
            key: query.order == .none ? [] : try key(last.rawValue), record: last)
        return page
    }

    /// Binary search: returns the first index for which `holds` is true; `count` if there is none.
    static func partition(_ count: Int, _ holds: (Int) throws -> Bool) rethrows -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if try holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func isFull(_ page: FetchedPage) -> Bool {
        page.rows.count >= query.limit || page.bytes >= query.byteLimit && !page.rows.isEmpty
    }

    /// - Parameter stored: the card; `nil` if it does not exist or is damaged.
    private func append(_ record: Int64, _ stored: StoredContact?, to page: inout FetchedPage) throws {
        let others = linked?.others(of: record) ?? []
        // If the first of several linked cards is damaged, the others are returned under its number.
        guard try stored != nil || !others.isEmpty && reader.exists(record) else { return }
        var row = try row(record, stored ?? StoredContact(values: []), &page)
        for other in others {
            guard let stored = try reader.contact(other.rawValue, query.disclosedKeys) else { continue }
            row.others.append(try self.row(other.rawValue, stored, &page))
        }
        if stored != nil || !row.others.isEmpty { page.rows.append(row) }
    }

    private func row(
        _ record: Int64, _ stored: StoredContact, _ page: inout FetchedPage
    ) throws -> FetchedContact {
        var images: ContactImages?
        if !query.images.isDisjoint(with: .images), stored.present.contains(.imageDataAvailable) {
            images = try reader.images(record, query.images)
            page.bytes += (images?.imageData?.count ?? 0) + (images?.thumbnailImageData?.count ?? 0)
        }
        let uids = query.disclosedKeys.contains(.uids) ? ContactKeySet(.extraProperties) : []
        page.bytes += stored.size(of: query.disclosedKeys.union(uids))
        return FetchedContact(record: RecordNumber(record), contact: stored, images: images)
    }
}
