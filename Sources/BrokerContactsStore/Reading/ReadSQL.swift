import BrokerModel

/// The texts of reading statements. Those that take a record first are for scopes of some records: each is a look at the
/// primary key of a record that the caller may see, and asks no index of the whole book.
enum ReadSQL {
    static let contact = "SELECT stored, checksum FROM contact WHERE record = ?"
    static let exists = "SELECT 1 FROM contact WHERE record = ?"
    static let maker = "SELECT maker FROM contact WHERE record = ?"
    static let containerOfContact = "SELECT container FROM contact WHERE record = ?"
    /// What is not asked for is not read: a photo is long.
    static func images(_ keys: ContactKeySet) -> String {
        let columns = [ContactKey.imageData, .thumbnailImageData].map { keys.contains($0) ? $0.rawValue : "NULL" }
        return "SELECT \(columns[0]), \(columns[1]) FROM image WHERE record = ?"
    }

    /// Bytes of each; SQLite takes a blob's length from its row's header and does not read the blob.
    static func imageSizes(_ keys: ContactKeySet) -> String {
        let columns = [ContactKey.imageData, .thumbnailImageData].map {
            keys.contains($0) ? "length(\($0.rawValue))" : "NULL"
        }
        return "SELECT \(columns[0]), \(columns[1]) FROM image WHERE record = ?"
    }

    static func sortKey(_ order: ContactOrder) -> String {
        "SELECT \(column(order)) FROM contact WHERE record = ?"
    }

    static let wordOfRecord = """
        SELECT 1 FROM word WHERE record = ? AND word >= ? AND word < ? AND (1 << key) & ? <> 0 LIMIT 1
        """
    static let emailOfRecord = "SELECT 1 FROM email WHERE record = ? AND address = ?"
    static let phonesOfRecord = "SELECT national, country, extension, digits FROM phone WHERE record = ?"

    // Of groups, and of the history.

    private static let groupColumns = "SELECT record, name, owner, container FROM contactGroup"
    static let group = "\(groupColumns) WHERE record = ?"
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
    /// Of all groups, what became of them beside their contacts.
    static let changesOfGroups = """
        SELECT number FROM change INDEXED BY changeOfGroups WHERE \(Schema.isOfGroups) AND number > ?
        ORDER BY number DESC LIMIT 1
        """
    /// Of all groups, one contact's coming and going.
    static let changesOfMember = """
        SELECT number FROM change INDEXED BY changeByMember WHERE member = ? AND \(Schema.isOfMembers) AND number > ?
        ORDER BY number DESC LIMIT 1
        """

    // Of the whole book.

    static let groups = "\(groupColumns) ORDER BY record"
    static let members = "SELECT contact FROM member WHERE parent = ? AND contact > ? ORDER BY contact LIMIT ?"
    static let me = "SELECT me FROM book"
    static let containers = "SELECT record, name FROM container ORDER BY record"
    static let lastChange = """
        SELECT number FROM change WHERE number > ?
        AND (kind <> \(BookChange.Kind.updateContact.rawValue) OR keys & ? <> 0) AND kind NOT BETWEEN ? AND ?
        ORDER BY number DESC LIMIT 1
        """
    static let numberOfLastChange = "SELECT lastChange FROM book"
    static let countAll = "SELECT count(*) FROM contact"
    static let countWords = """
        SELECT count(*) FROM (SELECT 1 FROM word INDEXED BY wordByWord WHERE word >= ? AND word < ? LIMIT ?)
        """

    /// Which part of an order a page is read from.
    enum Part: CaseIterable, Hashable {
        case everybody
        /// Those of a place's name whose numbers are higher. Parameters: the place's key, its record.
        case sameName
        /// Those of later names. Parameter: the place's key.
        case laterNames
        /// By number alone. Parameter: the place's record.
        case laterRecords
    }

    /// Record, contact, key and checksum, in order. After a place in two parts: SQLite would look through all of one name, since
    /// it uses no index for the second half of `(key, record) > (?, ?)`.
    static func page(_ order: ContactOrder, _ part: Part) -> String { pages[order]?[part] ?? pageText(order, part) }

    /// Put together once: that takes as long as it takes to find the statement.
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
        case .none: "SELECT record, stored, NULL, checksum FROM contact \(place) ORDER BY record"
        case .givenName, .familyName:
            """
            SELECT record, stored, \(column(order)), checksum FROM contact INDEXED BY \(index(order))
            \(place) ORDER BY \(column(order)), record
            """
        }
    }

    /// The record numbers of everybody in order.
    static func everybody(_ order: ContactOrder) -> String {
        switch order {
        case .none: "SELECT record FROM contact ORDER BY record"
        case .givenName, .familyName:
            "SELECT record FROM contact INDEXED BY \(index(order)) ORDER BY \(column(order)), record"
        }
    }

    /// Record numbers and keys of those whom a condition finds, by sorting what it found.
    static func sorted(_ condition: Condition, _ order: ContactOrder, after: Position?, limit: Int?) -> String {
        let place = after == nil ? "" : order == .none ? " AND record > ?" : " AND (\(column(order)), record) > (?, ?)"
        // The plus keeps SQLite from walking the order's index instead.
        let sorting = order == .none ? "+record" : "+\(column(order)), +record"
        return """
            SELECT record, \(order == .none ? "x''" : column(order)) FROM contact
            WHERE \(condition.sql)\(place) ORDER BY \(sorting)\(limit == nil ? "" : " LIMIT \(limit ?? 0)")
            """
    }

    /// The same by walking the order and looking at each, for conditions that many contacts meet: at most `steps` of
    /// them. The inner rows come in the order of their index, and SQLite takes them one by one.
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

    /// Record numbers and keys, in order, of those one of whose words begins with some letters. Parameters: order,
    /// letters, keys, and the place's key and record where there is one.
    static func beginning(after: Position?, limit: Int) -> String {
        """
        SELECT record, nameKey AS key FROM beginning WHERE ordering = ? AND letters = ? AND keys & ? <> 0
        \(after == nil ? "" : "AND (nameKey, record) > (?, ?)") ORDER BY nameKey, record LIMIT \(limit)
        """
    }

    /// The same, of which at most `steps` are looked at, for a longer word that begins with these letters.
    static func walkedBeginning(_ condition: Condition, after: Position?, limit: Int, steps: Int) -> String {
        """
        SELECT record, key FROM (\(beginning(after: after, limit: steps))) AS contact
        WHERE \(condition.sql) LIMIT \(limit)
        """
    }

    /// The same without a bound, for a condition that finds records by itself.
    static func foundAlongBeginning(_ condition: Condition, after: Position?, limit: Int) -> String {
        """
        SELECT record, nameKey FROM beginning AS contact WHERE ordering = ? AND letters = ? AND keys & ? <> 0
        \(after == nil ? "" : "AND (nameKey, record) > (?, ?)") AND \(condition.sql)
        ORDER BY nameKey, record LIMIT \(limit)
        """
    }

    /// The letters that words begin with, one after the other. Parameters: order, letters, and what comes behind the last.
    static let firstBeginning = beginning("letters >= ?")
    static let nextBeginning = beginning("letters > ?")

    private static func beginning(_ start: String) -> String {
        "SELECT letters FROM beginning WHERE ordering = ? AND \(start) AND letters < ? ORDER BY letters LIMIT 1"
    }

    /// Of those whom a condition finds, the ones that are linked and not the first of their set. The table of links
    /// stands for that of contacts: it has their numbers.
    static func followers(_ condition: Condition, byHand: Bool) -> String {
        "SELECT record FROM \(byHand ? "handLink" : "link") AS contact WHERE first <> record AND \(condition.sql)"
    }

    /// Contacts with one word are counted by their words alone.
    static func count(_ match: Match, _ condition: Condition) -> String {
        if case .words(let words, _) = match, words.count == 1 {
            return "SELECT count(DISTINCT record) FROM (\(Condition.wordIndex))"
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
