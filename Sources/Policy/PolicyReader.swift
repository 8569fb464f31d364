import AccessControl
import ContactsModel
import TOMLKit

/// Reads one file of the administrator. Strict: a key that is not known, a value of another type, a rule that says nothing or
/// more than it may is an error with its line. What was meant and not understood must not be left out in silence.
struct PolicyReader {
    private let file: String
    private let lines: KeyLines
    private let document: TOMLTable

    /// Rules in one file.
    static let maximumRules = 1_000

    /// - Parameter file: its name, for errors.
    static func read(_ text: String, file: String) throws(PolicyError) -> Policy {
        try PolicyReader(text, file: file).policy()
    }

    private init(_ text: String, file: String) throws(PolicyError) {
        self.file = file
        // The parser hands out C strings: what stands behind such a character would be gone without a word.
        guard !text.utf8.contains(0), !text.contains("\\u0000"), !text.contains("\\U00000000") else {
            throw PolicyError(file: file, reason: "a NUL character")
        }
        do throws(KeyLines.Misshapen) {
            lines = try KeyLines(text)
        } catch {
            throw PolicyError(file: file, line: error.line, reason: error.reason)
        }
        do {
            document = try TOMLTable(string: text)
        } catch {
            guard let error = error as? TOMLParseError else { throw PolicyError(file: file, reason: "\(error)") }
            throw PolicyError(file: file, line: error.source.begin.line, reason: error.description)
        }
    }

    private func wrong(_ key: String, _ reason: String) -> PolicyError {
        PolicyError(file: file, line: lines.line(of: key), key: key, reason: reason)
    }

    // MARK: The file

    private func policy() throws(PolicyError) -> Policy {
        try allow(["rule", "agent", "audit"], in: document, "")
        var policy = Policy()
        if let agent = try table(document, "agent", "agent") {
            try allow(["without_authentication"], in: agent, "agent.")
            policy.withoutAuthentication = try word(agent, "without_authentication", "agent.")
        }
        if let audit = try table(document, "audit", "audit") {
            try allow(["durable"], in: audit, "audit.")
            policy.isAuditDurable = try bool(audit, "durable", "audit.") ?? false
        }
        guard let value = document["rule"] else { return policy }
        guard let rules = value.array else { throw wrong("rule", "rules are written as [[rule]]") }
        guard rules.count <= Self.maximumRules else { throw wrong("rule", "more than \(Self.maximumRules) rules") }
        for index in 0..<rules.count {
            let path = "rule[\(index)]"
            guard let table = rules[index].table else { throw wrong(path, "rules are written as [[rule]]") }
            policy.rules.append(try rule(table, path))
        }
        return policy
    }

    private static let ruleKeys: Set = [
        "name", "users", "strengths", "apps", "deny", "force", "maximum_level", "maximum_keys", "forbid_prompting",
        "maximum_lifetime", "require_authentication",
    ]

    private func rule(_ table: TOMLTable, _ path: String) throws(PolicyError) -> Rule {
        let prefix = path + "."
        try allow(Self.ruleKeys, in: table, prefix)
        var rule = Rule(place: file + (lines.line(of: path).map { ":\($0)" } ?? ""))
        rule.name = try string(table, "name", prefix)
        rule.users = try users(table, prefix)
        rule.strengths = try words(table, "strengths", prefix).map(Set.init)
        rule.apps = try strings(table, "apps", prefix).map(Set.init)
        rule.denies = try yes(table, "deny", prefix)
        rule.forcedLevel = try word(table, "force", prefix)
        if let level = try string(table, "maximum_level", prefix) {
            guard level == "limited" else {
                throw wrong(
                    prefix + "maximum_level", "only \"limited\" can be the most; to allow less, use deny or force")
            }
            rule.capsLevel = true
        }
        let keys: [ContactKey]? = try words(table, "maximum_keys", prefix)
        rule.maximumKeys = keys.map { ContactKeySet($0) }
        rule.forbidsPrompting = try yes(table, "forbid_prompting", prefix)
        if let text = try string(table, "maximum_lifetime", prefix) {
            guard let seconds = Lifespan.seconds(text) else {
                throw wrong(
                    prefix + "maximum_lifetime", "a time such as \"90m\", \"12h\" or \"30d\", at most 3650 days")
            }
            rule.maximumLifetime = seconds
        }
        rule.requiresAuthentication = try yes(table, "require_authentication", prefix)
        try check(rule, path)
        return rule
    }

    /// What each value alone does not show.
    private func check(_ rule: Rule, _ path: String) throws(PolicyError) {
        guard !rule.effects.isEmpty else { throw wrong(path, "the rule says nothing") }
        if rule.allows {
            guard let strengths = rule.strengths else {
                throw wrong(path + ".force", "a rule that allows must name the strengths it holds for")
            }
            guard strengths.isDisjoint(with: Rule.weakStrengths) else {
                throw wrong(
                    path + ".force",
                    "nothing is allowed to claimed and unverified apps: any program can take their names")
            }
        }
        guard rule.apps != nil else { return }
        guard let strengths = rule.strengths else {
            throw wrong(path + ".apps", "a rule that names apps must name the strengths by which their names are known")
        }
        guard strengths.isDisjoint(with: Rule.weakStrengths) else {
            throw wrong(
                path + ".apps",
                "claimed and unverified apps can only be ruled as a class: any program can take their names")
        }
    }

    // MARK: Values

    private func allow(_ known: Set<String>, in table: TOMLTable, _ prefix: String) throws(PolicyError) {
        guard let unknown = table.keys.first(where: { !known.contains($0) }) else { return }
        throw wrong(prefix + unknown, "no such key; known are " + known.sorted().joined(separator: ", "))
    }

    private func table(_ parent: TOMLTable, _ name: String, _ path: String) throws(PolicyError) -> TOMLTable? {
        guard let value = parent[name] else { return nil }
        guard let table = value.table else { throw wrong(path, "a table: [\(name)]") }
        return table
    }

    private func bool(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> Bool? {
        guard let value = table[name] else { return nil }
        guard let bool = value.bool else { throw wrong(prefix + name, "true or false") }
        return bool
    }

    /// `true` or absent: nothing takes a rule back, so `false` would promise what it does not do.
    private func yes(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> Bool {
        guard let bool = try bool(table, name, prefix) else { return false }
        guard bool else { throw wrong(prefix + name, "true, or not there: no rule takes another one back") }
        return true
    }

    private func string(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> String? {
        guard let value = table[name] else { return nil }
        guard let string = value.string, !string.isEmpty else {
            throw wrong(prefix + name, "a string that is not empty")
        }
        return string
    }

    private func strings(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> [String]? {
        guard let value = table[name] else { return nil }
        guard let array = value.array, array.count > 0 else {
            throw wrong(prefix + name, "an array of strings that is not empty")
        }
        var strings: [String] = []
        for index in 0..<array.count {
            guard let string = array[index].string, !string.isEmpty else {
                throw wrong(prefix + name, "an array of strings, none of them empty")
            }
            strings.append(string)
        }
        return strings
    }

    private func users(_ table: TOMLTable, _ prefix: String) throws(PolicyError) -> Set<UInt32>? {
        guard let value = table["users"] else { return nil }
        let wanted = wrong(prefix + "users", "an array of user numbers that is not empty, as [1000]")
        guard let array = value.array, array.count > 0 else { throw wanted }
        var users: Set<UInt32> = []
        for index in 0..<array.count {
            guard let user = array[index].int.flatMap(UInt32.init(exactly:)) else { throw wanted }
            users.insert(user)
        }
        return users
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ table: TOMLTable, _ name: String, _ prefix: String
    ) throws(PolicyError) -> Word? where Word.RawValue == String {
        guard let string = try string(table, name, prefix) else { return nil }
        guard let word = Word(rawValue: string) else { throw unknown(string, Word.self, prefix + name) }
        return word
    }

    private func words<Word: RawRepresentable & CaseIterable>(
        _ table: TOMLTable, _ name: String, _ prefix: String
    ) throws(PolicyError) -> [Word]? where Word.RawValue == String {
        guard let strings = try strings(table, name, prefix) else { return nil }
        var words: [Word] = []
        for string in strings {
            guard let word = Word(rawValue: string) else { throw unknown(string, Word.self, prefix + name) }
            words.append(word)
        }
        return words
    }

    private func unknown<Word: RawRepresentable & CaseIterable>(
        _ string: String, _ type: Word.Type, _ key: String
    ) -> PolicyError where Word.RawValue == String {
        wrong(key, "\"\(string)\" is none of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
    }
}
