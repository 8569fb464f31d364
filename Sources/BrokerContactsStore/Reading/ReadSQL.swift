import BrokerModel
import BrokerSQLite

/// The SQL of the statements that read. A statement whose first parameter is a record serves restricted
/// scopes. It looks up one record that the app may see, and scans no other records.
enum ReadSQL {
    static let contact = "SELECT stored, checksum, apart FROM contact WHERE record = ?"
    static let exists = "SELECT 1 FROM contact WHERE record = ?"
    static let maker = "SELECT maker FROM contact WHERE record = ?"
    /// Parameters: the contact, a time and the app.
    static let addition = """
        SELECT 1 FROM change JOIN author ON author.id = change.author
        WHERE record = ?1 AND kind = \(BookChange.Kind.addContact.rawValue) AND +time >= ?2 AND app = ?3
        """
    static let containerOfContact = "SELECT container FROM contact WHERE record = ?"
    /// Selects only the requested images, because a photo is large.
    static func images(_ keys: ContactKeySet) -> String {
        let columns = [ContactKey.imageData, .thumbnailImageData].map { keys.contains($0) ? $0.rawValue : "NULL" }
        return "SELECT \(columns[0]), \(columns[1]) FROM image WHERE record = ?"
    }

    /// Selects the size of each image in bytes. SQLite takes a blob's length from the row's header and does
    /// not read the blob.
    static func imageSizes(_ keys: ContactKeySet) -> String {
        let columns = [ContactKey.imageData, .thumbnailImageData].map {
            keys.contains($0) ? "length(\($0.rawValue))" : "NULL"
        }
        return "SELECT \(columns[0]), \(columns[1]) FROM image WHERE record = ?"
    }

    static func sortKey(_ order: ContactOrder) -> String {
        "SELECT \(column(order)) FROM contact WHERE record = ?"
    }

    /// Selects a row if the record has a word of these keys in the range. Reads no words of other keys.
    /// Parameters: the record, a word and its ``Match/end(of:)``.
    static func wordOfRecord(_ keys: ContactKeySet) -> String {
        keys.wordRanges.map {
            """
            SELECT 1 FROM word WHERE record = ?1 AND key BETWEEN \($0.lowerBound) AND \($0.upperBound)
            AND word >= ?2 AND word < ?3
            """
        }.joined(separator: " UNION ALL ") + " LIMIT 1"
    }
    static let emailOfRecord = "SELECT 1 FROM email WHERE record = ? AND address = ?"
    static let phonesOfRecord = "SELECT national, country, extension, digits FROM phone WHERE record = ?"

    // Statements on groups and the history.

    private static let groupColumns = "SELECT record, name, owner, container, confirmed FROM contactGroup"
    static let group = "\(groupColumns) WHERE record = ?"
    static let groupOfOwner = "\(groupColumns) INDEXED BY groupByOwner WHERE owner = ? AND record = ?"
    static let groupsOfOwner = "\(groupColumns) INDEXED BY groupByOwner WHERE owner = ? ORDER BY record"
    static let parents = "SELECT parent FROM subgroup INDEXED BY subgroupByChild WHERE child = ? ORDER BY parent"
    static let member = "SELECT 1 FROM member WHERE parent = ? AND contact = ?"
    static let changesOfRecord = """
        SELECT number, member, kind FROM change INDEXED BY changeByRecord WHERE record = ? AND number > ?
        AND (kind <> \(BookChange.Kind.updateContact.rawValue) OR keys & ? <> 0) AND kind NOT BETWEEN ? AND ?
        ORDER BY number DESC
        """
    static let changesOfOwner = """
        SELECT number, member, kind FROM change INDEXED BY changeByOwner WHERE owner = ? AND number > ?
        ORDER BY number DESC
        """
    /// The last change of any group, except changes that concern a contact.
    static let changesOfGroups = """
        SELECT number FROM change INDEXED BY changeOfGroups WHERE \(Schema.isOfGroups) AND number > ?
        ORDER BY number DESC LIMIT 1
        """
    /// The last change to one contact's membership in any group.
    static let changesOfMember = """
        SELECT number FROM change INDEXED BY changeByMember WHERE member = ? AND \(Schema.isOfMembers) AND number > ?
        ORDER BY number DESC LIMIT 1
        """

    // Statements on the whole book.

    static let groups = "\(groupColumns) ORDER BY record"
    static let members = "SELECT contact FROM member WHERE parent = ? AND contact > ? ORDER BY contact LIMIT ?"
    /// The members of a group that are shared with the apps that have the group. Parameters: the group and a limit.
    static let sharedMembers = """
        SELECT member.contact FROM member JOIN contactGroup ON contactGroup.record = member.parent
        JOIN contact ON contact.record = member.contact
        WHERE member.parent = ? AND member.confirmed = 1 AND contact.container IS contactGroup.container
        ORDER BY member.contact LIMIT ?
        """
    static let groupsBeginning = """
        SELECT record, name FROM contactGroup WHERE name LIKE ? ESCAPE '!' AND confirmed = 1 ORDER BY name, record LIMIT ?
        """
    static let groupsWithName =
        "SELECT record FROM contactGroup WHERE name = ? AND confirmed >= ? ORDER BY record LIMIT ?"
    static let me = "SELECT me FROM book"
    static let containers = "SELECT record, name FROM container ORDER BY record"
    static let lastChange = """
        SELECT number FROM change WHERE number > ?
        AND (kind <> \(BookChange.Kind.updateContact.rawValue) OR keys & ? <> 0) AND kind NOT BETWEEN ? AND ?
        ORDER BY number DESC LIMIT 1
        """
    static let countAll = "SELECT count(*) FROM contact"
    /// Counts the words of these keys in a range. Parameters: a word, its ``Match/end(of:)``, and the count at
    /// which to stop.
    static func countWords(_ keys: ContactKeySet) -> String {
        "SELECT count(*) FROM (\(Condition.wordIndex(keys)) LIMIT ?)"
    }

    /// The range of an order from which a statement reads a page.
    enum Part: CaseIterable, Hashable {
        case everybody
        /// Contacts with the cursor's sort key and higher numbers. Parameters: the cursor's key and record.
        case sameName
        /// Contacts with later sort keys. Parameter: the cursor's key.
        case laterNames
        /// Contacts with higher numbers. Parameter: the cursor's record.
        case laterRecords
    }

    /// Selects record, key, and the columns of the card, in order. After a cursor, a page in name order needs two
    /// statements. With `(key, record) > (?, ?)`, SQLite would use the index only for the key and read all
    /// contacts with the cursor's name.
    static func page(_ order: ContactOrder, _ part: Part) -> String { pages[order]?[part] ?? pageText(order, part) }

    /// Built once: building a text takes as long as finding its statement in the cache.
    private static let pages = Dictionary(
        uniqueKeysWithValues: ContactOrder.allCases.map { order in
            (order, Dictionary(uniqueKeysWithValues: Part.allCases.map { ($0, pageText(order, $0)) }))
        })

    private static func pageText(_ order: ContactOrder, _ part: Part) -> String {
        let place =
            switch part {
            case .everybody: ""
            case .sameName: "WHERE \(column(order)) = ? AND record > ?"
            case .laterNames: "WHERE \(column(order)) > ?"
            case .laterRecords: "WHERE record > ?"
            }
        return switch order {
        case .none: "SELECT record, NULL, stored, checksum, apart FROM contact \(place) ORDER BY record"
        case .givenName, .familyName:
            """
            SELECT record, \(column(order)), stored, checksum, apart FROM contact INDEXED BY \(index(order))
            \(place) ORDER BY \(column(order)), record
            """
        }
    }

    /// Selects the record numbers of all contacts in order.
    static func everybody(_ order: ContactOrder) -> String {
        switch order {
        case .none: "SELECT record FROM contact ORDER BY record"
        case .givenName, .familyName:
            "SELECT record FROM contact INDEXED BY \(index(order)) ORDER BY \(column(order)), record"
        }
    }

    /// Selects the record numbers and sort keys of all contacts that meet a condition, in order.
    static func sorted(_ condition: Condition, _ order: ContactOrder, after: Position?, limit: Int?) -> String {
        let place = after == nil ? "" : order == .none ? " AND record > ?" : " AND (\(column(order)), record) > (?, ?)"
        // The unary plus keeps SQLite from reading along the order's index instead.
        let sorting = order == .none ? "+record" : "+\(column(order)), +record"
        return """
            SELECT record, \(order == .none ? "x''" : column(order)) FROM contact
            WHERE \(condition.sql)\(place) ORDER BY \(sorting)\(limit == nil ? "" : " LIMIT \(limit ?? 0)")
            """
    }

    /// Selects the same as ``sorted(_:_:after:limit:)``, for conditions that many contacts meet. Checks at
    /// most `steps` contacts along the order. SQLite reads the inner rows one by one in index order, so the
    /// outer statement needs no sort.
    static func walked(
        _ condition: Condition, _ order: ContactOrder, after: Position?, limit: Int, steps: Int
    ) -> String {
        let place =
            after == nil ? "" : order == .none ? "WHERE record > ?" : "WHERE (\(column(order)), record) > (?, ?)"
        let source = order == .none ? "contact" : "contact INDEXED BY \(index(order))"
        let key = order == .none ? "x''" : column(order)
        return """
            SELECT record, key FROM (
                SELECT record, \(key) AS key FROM \(source) \(place)
                ORDER BY \(order == .none ? "" : "\(column(order)), ")record LIMIT \(steps)
            ) AS contact WHERE \(condition.sql) LIMIT \(limit)
            """
    }

    /// Selects, in order, the record numbers and sort keys of the contacts with this beginning in any key of
    /// ``Match/nameWords``. Parameters: order, letters, and the cursor's key and record if there is one.
    static func beginning(after: Position?, limit: Int) -> String {
        """
        SELECT record, nameKey AS key FROM beginning WHERE ordering = ? AND letters = ?
        \(after == nil ? "" : "AND (nameKey, record) > (?, ?)") ORDER BY nameKey, record LIMIT \(limit)
        """
    }

    /// Selects the same as ``beginning(after:limit:)``, but checks at most `steps` contacts for a condition
    /// on further or longer words.
    static func walkedBeginning(_ condition: Condition, after: Position?, limit: Int, steps: Int) -> String {
        """
        SELECT record, key FROM (\(beginning(after: after, limit: steps))) AS contact
        WHERE \(condition.sql) LIMIT \(limit)
        """
    }

    /// Selects the same as ``walkedBeginning(_:after:limit:steps:)`` without a bound, for a condition that
    /// finds records through its own index.
    static func foundAlongBeginning(_ condition: Condition, after: Position?, limit: Int) -> String {
        """
        SELECT record, nameKey FROM beginning AS contact WHERE ordering = ? AND letters = ?
        \(after == nil ? "" : "AND (nameKey, record) > (?, ?)") AND \(condition.sql)
        ORDER BY nameKey, record LIMIT \(limit)
        """
    }

    /// Selects the first beginning that is not before the given letters (`firstBeginning`), or the first one
    /// after them (`nextBeginning`). Parameters: order, letters, and an upper bound.
    static let firstBeginning = beginning("letters >= ?")
    static let nextBeginning = beginning("letters > ?")

    private static func beginning(_ start: String) -> String {
        "SELECT letters FROM beginning WHERE ordering = ? AND \(start) AND letters < ? ORDER BY letters LIMIT 1"
    }

    /// Selects the contacts that meet a condition, are linked, and are not the first of their set. The link
    /// table gets the alias `contact`, because a condition uses only the record number of `contact`.
    static func followers(_ condition: Condition, byHand: Bool) -> String {
        "SELECT record FROM \(byHand ? "handLink" : "link") AS contact WHERE first <> record AND \(condition.sql)"
    }

    /// Counts the contacts that meet a condition. For a single word, the word index alone is enough.
    static func count(_ match: Match, _ condition: Condition) -> String {
        if case .words(let words, let keys) = match, words.count == 1 {
            return "SELECT count(DISTINCT record) FROM (\(Condition.wordIndex(keys)))"
        }
        return "SELECT count(*) FROM contact WHERE \(condition.sql)"
    }

    private static func column(_ order: ContactOrder) -> String {
        order == .familyName ? "familyNameKey" : "givenNameKey"
    }

    private static func index(_ order: ContactOrder) -> String {
        order == .familyName ? "contactByFamilyName" : "contactByGivenName"
    }
}

extension Connection<StoreError> {
    func hasContact(_ record: RecordNumber) throws(StoreError) -> Bool {
        try statement(ReadSQL.exists).bind(1, record.rawValue).hasRow()
    }
}
