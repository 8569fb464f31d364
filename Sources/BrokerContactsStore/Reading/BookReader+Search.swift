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
    /// For rows that a value found which the person would not see otherwise: that value.
    public let matched: [RecordNumber: ValuePlace]

    public init(
        rows: [(RecordNumber, StoredContact)] = [], total: Int = 0, matched: [RecordNumber: ValuePlace] = [:]
    ) {
        self.rows = rows
        self.total = total
        self.matched = matched
    }
}

extension BookReader {
    func search(_ search: PersonSearch) throws -> PersonFound {
        try inOneRead {
            let subject = KeptPlaces.Subject.search(search.text, search.scope, excluding: search.excluding)
            let match = Match.terms(search.text, normalizer)
            let found = try records(of: subject, search.order) { try matches(of: search, match) }
            var rows: [(RecordNumber, StoredContact)] = []
            var matched: [RecordNumber: ValuePlace] = [:]
            for record in found.dropFirst(max(0, search.offset)).prefix(max(0, search.limit)) {
                guard let contact = try contact(record) else { continue }
                rows.append((RecordNumber(record), contact))
                if case .terms(let terms, _)? = match { matched[RecordNumber(record)] = place(of: terms, in: contact) }
            }
            return PersonFound(rows: rows, total: found.count, matched: matched)
        }
    }

    private static let placeKeys = ContactKeySet.names.union(ContactKeySet([.emailAddresses, .phoneNumbers]))

    /// Returns the e-mail address, phone number or company by which the terms find a contact. Returns `nil` if the
    /// person sees it anyway: the first address, without addresses the first number, and a company without a
    /// person's name.
    private func place(of terms: [String], in stored: StoredContact) -> ValuePlace? {
        guard let contact = Contact(stored, keys: Self.placeKeys) else { return nil }
        let names = Match.nameKeys.subtracting(ContactKeySet(.organizationName)).keys
            .flatMap { normalizer.storedWords(contact.text(of: $0) ?? "").words }
        // A term that the name explains counts only if the name explains all of them.
        let unnamed = terms.filter { term in !names.contains { $0.hasPrefix(term) } }
        let wanted = unnamed.isEmpty ? terms : unnamed
        var best: (place: ValuePlace, count: Int)?
        func note(_ key: ContactKey, _ index: Int, _ isMatch: (String) -> Bool) {
            let count = wanted.count(where: isMatch)
            if count > best?.count ?? 0 { best = (ValuePlace(key: key, index: index), count) }
        }
        for (index, email) in contact.emailAddresses.enumerated() {
            let words = normalizer.storedWords(email.value).words
            note(.emailAddresses, index) { term in words.contains { $0.hasPrefix(term) } }
        }
        for (index, phone) in contact.phoneNumbers.enumerated() {
            let digits = PhoneDigits(phone.value)?.reversed ?? ""
            note(.phoneNumbers, index) { Match.phonePart($0).map(digits.contains) ?? false }
        }
        if let place = best?.place {
            let usual = contact.emailAddresses.isEmpty ? ContactKey.phoneNumbers : .emailAddresses
            return place == ValuePlace(key: usual) ? nil : place
        }
        guard contact.contactType == .person, !names.isEmpty else { return nil }
        let company = normalizer.storedWords(contact.organizationName).words
        let isFound = unnamed.contains { term in company.contains { $0.hasPrefix(term) } }
        return isFound ? ValuePlace(key: .organizationName) : nil
    }

    /// Returns all matches of the person's search, in order.
    ///
    /// - Parameter match: the search's text; `nil` if it matches all contacts.
    private func matches(of search: PersonSearch, _ match: Match?) throws -> [Int64] {
        func isIncluded(_ record: Int64) -> Bool { !search.excluding.contains(RecordNumber(record)) }
        switch search.scope {
        case .only(let scope):
            return try sorted(matching(match, amongst: scope.subtracting(search.excluding)), search.order)
        case .all:
            guard case .terms(let terms, let keys)? = match else {
                return match == nil ? try everybody(search.order).filter(isIncluded) : []
            }
            let selection = Condition(selecting: terms, keys)
            let found = Set(try statement(selection.sql).bind(selection.bindings).all { $0.integer(0) })
            // Of many matches, reading and sorting the keys takes longer than walking along the order.
            if found.count > ContactQuery.mostOnLoop {
                return try everybody(search.order).filter { found.contains($0) && isIncluded($0) }
            }
            return try sorted(found.filter(isIncluded), search.order)
        }
    }

    private func everybody(_ order: ContactOrder) throws -> [Int64] {
        try records(of: .search("", .all, excluding: []), order) {
            try statement(ReadSQL.everybody(order)).all { $0.integer(0) }
        }
    }

    private func sorted(_ records: some Sequence<Int64>, _ order: ContactOrder) throws -> [Int64] {
        try records.map { record in
            let key = order == .none ? nil : try sortKey(record, order, seeing: .all)
            return Place(key: key ?? [], record: record)
        }.sorted().map(\.record)
    }

    func photoSize(of records: Set<RecordNumber>, _ keys: ContactKeySet) throws -> Int {
        let sizes = try statement(ReadSQL.imageSizes(keys))
        return try records.reduce(0) { size, record in
            size + (try sizes.bind(1, record.rawValue).first { Int($0.integer(0) + $0.integer(1)) } ?? 0)
        }
    }
}
