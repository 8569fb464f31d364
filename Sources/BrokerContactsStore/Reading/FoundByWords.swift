import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// The bounds that select a query plan for a search.
struct SearchEffort {
    /// If fewer stored words than this begin with a typed word, all contacts with such a word are sorted. In
    /// a large book, sorting takes about 2 µs per contact.
    var few = 1_500
    /// The number of contacts to check along an order before sorting all matches instead. A search with a
    /// large limit checks more.
    var steps = 3_000
    /// The maximum number of beginnings to merge for a prefix of one or two letters.
    var mostGroups = 1_200
}

/// Searches the whole book for contacts whose words begin with the typed words, and returns the first ones in
/// order.
///
/// If few contacts match, the search sorts all of them. If many match, it reads in order, either from the
/// table `beginning` or from all contacts. The table `beginning` indexes the beginnings of names, in the
/// owner's sort order. If reading in order finds too few contacts within the bounds, the search sorts all
/// matches.
struct FoundByWords {
    let reader: BookReader
    /// The typed words, longest first.
    let words: [String]
    let keys: ContactKeySet
    let order: ContactOrder
    let after: Position?
    let limit: Int
    /// Whether beginnings are indexed in this order.
    let hasBeginnings: Bool

    let effort: SearchEffort

    func places() throws -> [Place] {
        let counts = try words.map { try count($0) }
        // Finds the contacts with the rarest word, and checks them for the other words.
        if let rarest = counts.indices.min(by: { counts[$0] < counts[$1] }), counts[rarest] < effort.few {
            if counts[rarest] == 0 { return [] }
            return try sorted(words[rarest], words.indices.filter { $0 != rarest }.map { words[$0] })
        }
        if hasBeginnings, let found = try alongBeginnings() { return found }
        let walking = Condition(having: words, keys)
        let sql = ReadSQL.walked(walking, order, after: after, limit: limit, steps: steps)
        let found = try reader.places(sql, Position.bindings(after) + walking.bindings)
        return found.count == limit ? found : try sorted(words[0], Array(words.dropFirst()))
    }

    private var steps: Int { max(effort.steps, 2 * min(limit, 10_000)) }

    /// Counts the stored words with this prefix, but stops at ``SearchEffort/few``.
    private func count(_ word: String) throws -> Int {
        // A single short word is read in order from the index, so its count is not needed.
        if hasBeginnings, words.count == 1, word.unicodeScalars.count <= Beginning.length { return effort.few }
        return try reader.statement(ReadSQL.countWords(keys)).bind(1, word).bind(2, Match.end(of: word))
            .bind(3, Int64(effort.few)).first { Int($0.integer(0)) } ?? 0
    }

    private func sorted(_ first: String, _ others: [String]) throws -> [Place] {
        let condition = Condition(finding: first, others, keys)
        let sql = ReadSQL.sorted(condition, order, after: after, limit: limit)
        return try reader.places(sql, condition.bindings + Position.bindings(after))
    }

    // MARK: Beginnings of names

    /// Searches along the beginnings. Returns `nil` if sorting all matches is probably faster.
    private func alongBeginnings() throws -> [Place]? {
        // Tries several words, because one of them may come first in the sort key. The contacts with that
        // word are then adjacent.
        for word in words.prefix(Self.mostTried) {
            let others = words.filter { $0 != word }
            let letters = Beginning.letters(of: word)
            if letters.unicodeScalars.count < Beginning.length {
                if let found = try merged(word, others) { return found }
                continue
            }
            let rest = letters == word ? others : words
            if rest.isEmpty {
                return try reader.places(ReadSQL.beginning(after: after, limit: limit), start(letters, after))
            }
            let walking = Condition(having: rest, keys)
            let found = try reader.places(
                ReadSQL.walkedBeginning(walking, after: after, limit: limit, steps: steps),
                start(letters, after) + walking.bindings)
            if found.count == limit { return found }
        }
        let letters = Beginning.letters(of: words[0])
        let rest = letters == words[0] ? Array(words.dropFirst()) : words
        guard letters.unicodeScalars.count == Beginning.length, let first = rest.first else { return nil }
        // Sorting would look up each contact; the index entries are already in order.
        let finding = Condition(finding: first, Array(rest.dropFirst()), keys)
        return try reader.places(
            ReadSQL.foundAlongBeginning(finding, after: after, limit: limit), start(letters, after) + finding.bindings)
    }

    /// The maximum number of words whose beginnings are tried.
    private static let mostTried = 3

    private func start(_ letters: String, _ after: Position?) -> [Binding] {
        [.integer(Int64(order.rawValue)), .text(letters)] + Position.bindings(after)
    }

    /// Finds contacts by a typed word of one or two letters: merges the sorted lists of all beginnings with
    /// that prefix. Returns `nil` if this exceeds the bounds.
    private func merged(_ word: String, _ others: [String]) throws -> [Place]? {
        var groups: [Group] = []
        var last = word
        while let letters = try nextBeginning(last, isFirst: groups.isEmpty, end: Match.end(of: word)) {
            guard groups.count < effort.mostGroups else { return nil }
            groups.append(Group(letters: letters))
            last = letters
        }
        for index in groups.indices { try fill(&groups[index], after, count: 1) }
        // Sorts in descending order: the next group is last.
        groups = groups.filter { !$0.rows.isEmpty }.sorted { $1.first < $0.first }
        var found: [Place] = []
        var latest: Place?
        var left = others.isEmpty ? Int.max : steps
        let words = try reader.wordOfRecord(keys)
        while found.count < limit, var group = groups.popLast() {
            let place = group.first
            // A contact with two such words is in two groups, with equal places.
            if place != latest {
                latest = place
                guard left > 0 else { return nil }
                left -= 1
                if try others.allSatisfy({ try words.has($0, place.record) }) { found.append(place) }
            }
            group.next += 1
            if group.next == group.rows.count {
                let position = Position(
                    order: order, keys: reader.order, key: place.key, record: RecordNumber(place.record))
                try fill(&group, position, count: min(limit, 64))
            }
            guard !group.rows.isEmpty else { continue }
            groups.insert(group, at: Fetch.partition(groups.count) { groups[$0].first < group.first })
        }
        return found
    }

    private func nextBeginning(_ letters: String, isFirst: Bool, end: String) throws -> String? {
        try reader.statement(isFirst ? ReadSQL.firstBeginning : ReadSQL.nextBeginning)
            .bind(1, Int64(order.rawValue)).bind(2, letters).bind(3, end).first { $0.text(0) }
    }

    /// The rows of one beginning that were read most recently. `next` is the index of the first unused row.
    private struct Group {
        let letters: String
        var rows: [Place] = []
        var next = 0

        var first: Place { rows[next] }
    }

    private func fill(_ group: inout Group, _ after: Position?, count: Int) throws {
        group.next = 0
        group.rows = try reader.places(
            ReadSQL.beginning(after: after, limit: count),
            start(group.letters, after))
    }
}

extension BookReader {
    /// Runs a statement that returns records and their sort keys.
    func places(_ sql: String, _ bindings: [Binding]) throws -> [Place] {
        try statement(sql).bind(bindings).all { Place(key: $0.bytes(1), record: $0.integer(0)) }
    }
}

extension Position {
    /// Returns the parameters for the cursor in a statement.
    static func bindings(_ after: Position?) -> [Binding] {
        guard let after else { return [] }
        return (after.order == .none ? [] : [.bytes(after.key)]) + [.integer(after.record.rawValue)]
    }
}
