import BrokerModel
import BrokerSQLite

extension BookReader {
    /// - Parameter links: the links that unify contacts; `nil` if each card is its own contact.
    func count(_ query: ContactQuery, _ links: ContactLinks?) throws -> Int {
        let linked = links.map { LinkedRecords(reader: self, links: $0, query: query) }
        switch (query.scope, query.predicate) {
        case (.all, nil): return try count(ReadSQL.countAll, []) - (links?.followers ?? 0)
        case (.all, .records(let records)): return try count(Set(records), matching: nil, linked)
        case (.only(let scope), nil): return try count(scope, matching: nil, linked)
        case (.only(let scope), .records(let records)):
            return try count(scope.intersection(records), matching: nil, linked)
        case (.only(let scope), .some(let predicate)):
            return try count(scope, matching: Match(predicate, seeing: query.matchKeys, normalizer), linked)
        case (.all, .some(let predicate)):
            let match = Match(predicate, seeing: query.matchKeys, normalizer)
            guard let condition = Condition(match) else { return 0 }
            return try inOneRead {
                let count = try count(ReadSQL.count(match, condition), condition.bindings)
                guard let linked else { return count }
                // A match that another contact represents counts as that contact. Such a contact counts only
                // once, even if it matches too.
                let followers = try linked.followers(match, condition)
                let firsts = Set(try followers.map { try linked.first(for: RecordNumber($0)).rawValue })
                return count - followers.count + (try firsts.filter { try !matches($0, match) }.count)
            }
        }
    }

    private func count(_ sql: String, _ bindings: [Binding]) throws -> Int {
        try statement(sql).bind(bindings).first { Int($0.integer(0)) } ?? 0
    }

    private func count(_ scope: Set<RecordNumber>, matching match: Match?, _ linked: LinkedRecords?) throws -> Int {
        try inOneRead {
            var count = 0
            var firsts: Set<RecordNumber> = []
            for record in try matching(match, amongst: scope).lazy.map({ RecordNumber($0) }) {
                if let linked, linked.links.isLinked(record) {
                    firsts.insert(try linked.first(for: record))
                } else {
                    count += 1
                }
            }
            return count + firsts.count
        }
    }
}

/// The links that one read sees: those between contacts within its scope.
struct LinkedRecords {
    let reader: BookReader
    let links: ContactLinks
    private let scope: RecordScope
    private let isByHand: Bool

    /// - Parameter links: the links that a reader of the query's keys may see.
    init(reader: BookReader, links: ContactLinks, query: ContactQuery) {
        (self.reader, self.links, scope) = (reader, links, query.scope)
        isByHand = !query.matchKeys.isSuperset(of: BookLinks.evidenceKeys)
    }

    /// Returns the contact that represents this one. Of the contacts in its set that exist and are in the
    /// scope, that is the contact with the lowest number.
    func first(for record: RecordNumber) throws -> RecordNumber {
        guard links.isLinked(record) else { return record }
        for member in links.members(of: record, within: scope) {
            // The cached links are updated shortly after a save, so a member may already be deleted.
            if member == record { break }
            if try reader.exists(member.rawValue) { return member }
        }
        return record
    }

    /// Whether another contact represents this one.
    func follows(_ record: Int64) throws -> Bool {
        try first(for: RecordNumber(record)) != RecordNumber(record)
    }

    /// Returns the contacts that a contact represents. Some may already be deleted.
    func others(of record: Int64) -> [RecordNumber] {
        links.members(of: RecordNumber(record), within: scope).filter { $0.rawValue > record }
    }

    /// Returns the matching contacts of the whole book that another contact represents.
    func followers(_ match: Match, _ condition: Condition) throws -> [Int64] {
        var condition = condition
        // Checks each linked card for the word. There are usually fewer linked cards than cards with the
        // word.
        if case .words(let words, let keys) = match, words.count == 1 {
            condition = Condition(having: words, keys)
        }
        return try reader.statement(ReadSQL.followers(condition, byHand: isByHand)).bind(condition.bindings)
            .all { $0.integer(0) }
    }
}
