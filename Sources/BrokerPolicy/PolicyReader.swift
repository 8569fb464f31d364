import BrokerAccessControl
import BrokerModel

/// Reads one file of the administrator. Strict: a key that is not known, a value of another type, a rule that says nothing or
/// more than it may is an error with its line. What was meant and not understood must not be left out in silence.
struct PolicyReader {
    private let file: AdministratorFile

    /// Rules in one file.
    static let maximumRules = 1_000

    /// - Parameter file: its name, for errors.
    static func read(_ text: String, file: String) throws(PolicyError) -> Policy {
        try PolicyReader(file: AdministratorFile(text, file: file)).policy()
    }

    // MARK: The file

    private func policy() throws(PolicyError) -> Policy {
        try file.allow(["agent", "audit", "rule"], in: file.document, "")
        var policy = Policy()
        if let agent = try file.table(file.document, "agent", "agent") {
            try file.allow(["without_authentication"], in: agent, "agent.")
            policy.withoutAuthentication = try file.word(agent, "without_authentication", "agent.")
        }
        if let audit = try file.table(file.document, "audit", "audit") {
            try file.allow(["durable"], in: audit, "audit.")
            policy.isAuditDurable = try file.bool(audit, "durable", "audit.") ?? false
        }
        guard let value = file.document["rule"] else { return policy }
        guard let rules = value.array else { throw file.wrong("rule", "rules are written as [[rule]]") }
        guard rules.count <= Self.maximumRules else { throw file.wrong("rule", "more than \(Self.maximumRules) rules") }
        for index in 0..<rules.count {
            let path = "rule[\(index)]"
            guard let table = rules[index].table else { throw file.wrong(path, "rules are written as [[rule]]") }
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
        try file.allow(Self.ruleKeys.sorted(), in: table, prefix)
        var rule = Rule(place: file.path + (file.lines.line(of: path).map { ":\($0)" } ?? ""))
        rule.name = try file.string(table, "name", prefix)
        rule.users = try users(table, prefix)
        rule.strengths = try file.words(table, "strengths", prefix).map(Set.init)
        rule.apps = try file.strings(table, "apps", prefix).map(Set.init)
        rule.denies = try yes(table, "deny", prefix)
        rule.forcedLevel = try file.word(table, "force", prefix)
        if let level = try file.string(table, "maximum_level", prefix) {
            guard level == "limited" else {
                throw file.wrong(
                    prefix + "maximum_level", "only \"limited\" can be the most; to allow less, use deny or force")
            }
            rule.capsLevel = true
        }
        let keys: [GrantKey]? = try file.words(table, "maximum_keys", prefix)
        rule.maximumKeys = keys.map { ContactKeySet($0) }
        rule.forbidsPrompting = try yes(table, "forbid_prompting", prefix)
        if let text = try file.string(table, "maximum_lifetime", prefix) {
            guard let seconds = Lifespan.seconds(text) else {
                throw file.wrong(
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
        guard !rule.effects.isEmpty else { throw file.wrong(path, "the rule says nothing") }
        if rule.allows {
            guard let strengths = rule.strengths else {
                throw file.wrong(path + ".force", "a rule that allows must name the strengths it holds for")
            }
            guard strengths.isDisjoint(with: Rule.weakStrengths) else {
                throw file.wrong(
                    path + ".force",
                    "nothing is allowed to claimed and unverified apps: any program can take their names")
            }
        }
        guard rule.apps != nil else { return }
        guard let strengths = rule.strengths else {
            throw file.wrong(
                path + ".apps", "a rule that names apps must name the strengths by which their names are known")
        }
        guard strengths.isDisjoint(with: Rule.weakStrengths) else {
            throw file.wrong(
                path + ".apps",
                "claimed and unverified apps can only be ruled as a class: any program can take their names")
        }
    }

    // MARK: Values of rules

    /// `true` or absent: nothing takes a rule back, so `false` would promise what it does not do.
    private func yes(_ table: TOMLTable, _ name: String, _ prefix: String) throws(PolicyError) -> Bool {
        guard let bool = try file.bool(table, name, prefix) else { return false }
        guard bool else { throw file.wrong(prefix + name, "true, or not there: no rule takes another one back") }
        return true
    }

    private func users(_ table: TOMLTable, _ prefix: String) throws(PolicyError) -> Set<UInt32>? {
        guard let value = table["users"] else { return nil }
        let wanted = file.wrong(prefix + "users", "an array of user numbers that is not empty, as [1000]")
        guard let array = value.array, array.count > 0 else { throw wanted }
        var users: Set<UInt32> = []
        for index in 0..<array.count {
            guard let user = array[index].int.flatMap(UInt32.init(exactly:)) else { throw wanted }
            users.insert(user)
        }
        return users
    }
}
