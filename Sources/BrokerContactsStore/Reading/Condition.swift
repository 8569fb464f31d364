import BrokerModel
import BrokerNormalization

/// A normalized predicate for searching the book.
enum Match: Hashable {
    /// Each of these words must be the beginning of a stored word of one of the keys. There is at least one
    /// word.
    case words([String], in: ContactKeySet)
    case email(String)
    case phone(PhoneMatchKey)
    /// For the person's search: each term must be the beginning of a stored word or, if it consists of
    /// digits, part of a phone number. There is at least one term.
    case terms([String], in: ContactKeySet)
    /// `nil` stands for the default container.
    case container(RecordNumber?)
    case nobody

    /// Keys whose words a search by name uses.
    static let nameKeys = ContactKeySet.names.subtracting([.init([.contactType])])

    /// The number of words made from family and given name together. Only a reader of both names may find a
    /// contact by these words. It is the number of the contact type, which has no words of its own and
    /// is next to the numbers of the names.
    static let wholeNameIndex = Int64(ContactKey.contactType.index)
    private static let wholeName = ContactKeySet([.contactType])
    private static let wholeNameKeys = ContactKeySet([.familyName, .givenName])

    /// ``nameKeys`` and the number of whole names, as the table `word` stores them.
    static let nameWords = nameKeys.union(wholeName)

    /// The keys of all words in the table `word`.
    static let wordKeys = nameWords.union(ContactKeySet([.emailAddresses]))

    init(_ predicate: ContactPredicate, seeing keys: ContactKeySet, _ normalizer: Normalizer) {
        switch predicate {
        case .name(let text):
            let seesWholeName = Self.wholeNameKeys.isSubset(of: keys)
            let keys = keys.intersection(Self.nameKeys).union(seesWholeName ? Self.wholeName : [])
            guard let words = normalizer.queryWords(text)?.words, !words.isEmpty, !keys.isEmpty else {
                self = .nobody
                return
            }
            self = .words(words, in: keys)
        case .emailAddress(let address):
            let key = keys.contains(.emailAddresses) ? EmailMatchKey(address, normalizer) : nil
            self = key.map { .email($0.text) } ?? .nobody
        case .phoneNumber(let number):
            let key = keys.contains(.phoneNumbers) ? PhoneMatchKey(number, normalizer) : nil
            self = key.map { .phone($0) } ?? .nobody
        case .container(let container): self = .container(container)
        case .records: self = .nobody
        }
    }

    /// Returns a text greater than every word with this prefix.
    static func end(of prefix: String) -> String { prefix + "\u{10FFFF}" }

    /// Returns a term as the table `phone` stores digits: reversed and without leading zeros. Returns `nil`
    /// unless the term consists of three to ``PhoneDigits/longest`` digits that are not all zero. A shorter
    /// term would match too many contacts.
    static func phonePart(_ term: String) -> String? {
        guard (3...PhoneDigits.longest).contains(term.utf8.count),
            term.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        // Leading zeros are not stored.
        let part = String(term.drop { $0 == "0" }.reversed())
        return part.isEmpty ? nil : part
    }

    /// Returns the match for the person's text; `nil` if the text matches all contacts.
    static func terms(_ text: String, _ normalizer: Normalizer) -> Match? {
        let digits = PhoneDigits.digits(in: text)
        // A number is one term, however its digits are grouped.
        if digits.count >= 3, text.allSatisfy({ $0.isNumber || $0.isWhitespace || "+-()./".contains($0) }) {
            return .terms([String(decoding: digits, as: UTF8.self)], in: wordKeys)
        }
        guard let words = normalizer.queryWords(text)?.words else { return .nobody }
        return words.isEmpty ? nil : .terms(words, in: wordKeys)
    }
}

/// A condition on the table `contact`, for queries of the whole book.
struct Condition: Hashable {
    let sql: String
    let bindings: [Binding]

    /// Creates a condition that looks up the match in its index; `nil` if nothing can match.
    init?(_ match: Match) {
        switch match {
        case .words(let words, let keys):
            self.init(
                words.enumerated().map { $0.offset == 0 ? Self.found($0.element, keys) : Self.has($0.element, keys) })
        case .email(let address):
            self.init(
                sql: "record IN (SELECT record FROM email INDEXED BY emailByAddress WHERE address = ?)",
                bindings: [.text(address)])
        case .phone(let key):
            let endings = key.endings
            let places = repeatElement("?", count: endings.count).joined(separator: ", ")
            var sql = "\(Self.phoneIndex) national IN (\(places))\(Self.phoneRest)"
            let rest: [Binding] = [
                .integer(Int64(key.country)), .integer(Int64(key.country)), .text(key.extensionDigits),
                .text(key.extensionDigits),
            ]
            var bindings = endings.map { Binding.text($0) } + rest
            if let beginning = key.beginning {
                sql += " UNION \(Self.phoneIndex) national >= ? AND national < ?\(Self.phoneRest)"
                bindings += [.text(beginning), .text(beginning + ":")] + rest
            }
            self.init(sql: "record IN (\(sql))", bindings: bindings)
        case .terms(let terms, let keys):
            let selection = Self(selecting: terms, keys)
            self.init(sql: "record IN (\(selection.sql))", bindings: selection.bindings)
        case .container(let container):
            let within = "SELECT record FROM contact INDEXED BY contactByContainer WHERE container"
            self.init(
                sql: container == nil ? "record NOT IN (\(within) IS NOT NULL)" : "record IN (\(within) = ?)",
                bindings: container.map { [.integer($0.rawValue)] } ?? [])
        case .nobody: return nil
        }
    }

    /// Creates a statement that selects the records that all terms of the person's search find, some of them several
    /// times. It reads indexes only: reading the matches' cards takes ten times as long.
    init(selecting terms: [String], _ keys: ContactKeySet) {
        let first = terms.first.map { Self.finding($0, keys) } ?? Self(sql: "SELECT NULL WHERE FALSE", bindings: [])
        let rest = Self(
            terms.dropFirst().map { term in
                if Match.phonePart(term) == nil { return Self.has(term, keys) }
                let found = Self.finding(term, keys)
                return Self(sql: "record IN (\(found.sql))", bindings: found.bindings)
            })
        self.init(
            sql: "SELECT record FROM (\(first.sql)) AS contact" + (rest.sql.isEmpty ? "" : " WHERE \(rest.sql)"),
            bindings: first.bindings + rest.bindings)
    }

    /// Selects the records that one term finds, some of them several times.
    private static func finding(_ term: String, _ keys: ContactKeySet) -> Condition {
        let words = Condition(sql: wordIndex(keys), bindings: range(of: term))
        guard let part = Match.phonePart(term) else { return words }
        return Condition(
            sql: "\(words.sql) UNION ALL SELECT record FROM phone WHERE instr(digits, ?) > 0",
            bindings: words.bindings + [.text(part)])
    }

    /// Creates a condition for reading contacts in order. It checks the words of each contact.
    init(having words: [String], _ keys: ContactKeySet) { self.init(words.map { Self.has($0, keys) }) }

    /// Creates a condition that looks up one word in the index and checks each record found for the other
    /// words.
    init(finding word: String, _ others: [String], _ keys: ContactKeySet) {
        self.init([Self.found(word, keys)] + others.map { Self.has($0, keys) })
    }

    private init(sql: String, bindings: [Binding]) {
        self.sql = sql
        self.bindings = bindings
    }

    private init(_ all: [Condition]) {
        sql = all.map(\.sql).joined(separator: " AND ")
        bindings = all.flatMap(\.bindings)
    }

    private static let phoneIndex = "SELECT record FROM phone INDEXED BY phoneByNational WHERE"

    /// An unknown country or extension matches any value. Each parameter occurs twice.
    private static let phoneRest = " AND (country IN (0, ?) OR ? = 0) AND (extension IN ('', ?) OR ? = '')"

    /// Selects a record once for each of its words of these keys in the range. Reads no words of other keys.
    /// Parameters: a word and its ``Match/end(of:)``.
    static func wordIndex(_ keys: ContactKeySet) -> String {
        "SELECT record FROM word INDEXED BY wordByKey WHERE key IN (\(numbers(keys))) AND word >= ? AND word < ?"
    }

    private static func numbers(_ keys: ContactKeySet) -> String {
        keys.keys.map { String($0.index) }.joined(separator: ", ")
    }

    private static func found(_ word: String, _ keys: ContactKeySet) -> Condition {
        Condition(sql: "record IN (\(wordIndex(keys)))", bindings: range(of: word))
    }

    private static func has(_ word: String, _ keys: ContactKeySet) -> Condition {
        let ranges = keys.wordRanges
        let words = ranges.map {
            """
            EXISTS (SELECT 1 FROM word WHERE word.record = contact.record
            AND key BETWEEN \($0.lowerBound) AND \($0.upperBound) AND word >= ? AND word < ?)
            """
        }
        return Condition(
            sql: "(\(words.joined(separator: " OR ")))",
            bindings: repeatElement(range(of: word), count: ranges.count).flatMap { $0 })
    }

    private static func range(of word: String) -> [Binding] { [.text(word), .text(Match.end(of: word))] }
}

extension ContactKeySet {
    /// The numbers of these keys in the table `word`, as the fewest ranges that contain no other key with words.
    var wordRanges: [ClosedRange<Int>] {
        Match.wordKeys.keys.split { !contains($0) }.compactMap { run in
            guard let first = run.first, let last = run.last else { return nil }
            return first.index...last.index
        }
    }
}
