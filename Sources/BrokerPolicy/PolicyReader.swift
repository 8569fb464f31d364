import BrokerAccessControl
import BrokerModel
import BrokerTrustedFiles

/// Reads one policy file. It is strict: an unknown key, a value of the wrong type, a rule without effects and
/// a rule with forbidden effects are errors. Each error names the line. Nothing that the administrator wrote
/// is silently ignored.
enum PolicyReader {
    /// The maximum number of rules in one file.
    static let maximumRules = 1_000

    /// - Parameters:
    ///   - file: the file's name, for errors.
    ///   - policy: receives the file's rules, and the stricter value of each setting. Do not use it after an error.
    static func read(_ text: String, file: String, into policy: inout Policy) throws(TrustedFileError) {
        let document = try TOMLTable(text, file: file)
        try document.allow(["agent", "audit", "rule"])
        let agent = try document.table("agent", ["confirm", "without_authentication"])
        policy.withoutAuthentication = Policy.stricter(
            policy.withoutAuthentication, try agent?.word("without_authentication"))
        let confirmation: Policy.Confirmation? = try agent?.word("confirm")
        if confirmation == .password { policy.confirmation = .password }
        if try document.table("audit", ["durable"])?.bool("durable") == true { policy.isAuditDurable = true }
        for table in try document.tables("rule", most: maximumRules) { policy.rules.append(try rule(table)) }
    }

    private static func rule(_ table: TOMLTable) throws(TrustedFileError) -> Rule {
        try table.allow([
            "apps", "deny", "forbid_prompting", "force", "maximum_keys", "maximum_level", "maximum_lifetime", "name",
            "require_authentication", "same_user", "strengths", "users",
        ])
        var rule = Rule(place: table.place)
        rule.name = try table.string("name")
        rule.users = try users(table)
        rule.strengths = try table.words("strengths").map(Set.init)
        rule.apps = try table.strings("apps").map(Set.init)
        if let word = try table.string("same_user") {
            guard word == "accepted" else { throw table.wrong("same_user", "must be \"accepted\" or absent") }
            rule.acceptsSameUser = true
        }
        rule.denies = try yes(table, "deny")
        rule.forcedLevel = try table.word("force")
        if let level = try table.string("maximum_level") {
            guard level == "limited" else {
                throw table.wrong(
                    "maximum_level", "must be \"limited\"; to allow less, use deny or force")
            }
            rule.capsLevel = true
        }
        let keys: [GrantKey]? = try table.words("maximum_keys")
        rule.maximumKeys = keys.map { ContactKeySet($0) }
        rule.forbidsPrompting = try yes(table, "forbid_prompting")
        rule.maximumLifetime = try Lifespan.read(
            "maximum_lifetime", of: table, "must be a time such as \"90m\", \"12h\" or \"30d\", at most 3650 days")
        rule.requiresAuthentication = try yes(table, "require_authentication")
        try check(rule, table)
        return rule
    }

    /// Checks the rule's values in combination, after each of them was read.
    private static func check(_ rule: Rule, _ table: TOMLTable) throws(TrustedFileError) {
        guard !rule.effects.isEmpty else { throw table.wrong("the rule has no effect") }
        if rule.allows {
            guard let strengths = rule.strengths else {
                throw table.wrong("force", "a rule that gives access must name the strengths it applies to")
            }
            guard !strengths.contains(where: \.namesNobody) else {
                throw table.wrong(
                    "force", "claimed and unverified apps cannot be given access: any program can use their names")
            }
            guard rule.acceptsSameUser || !strengths.contains(.installed) else {
                throw table.wrong(
                    "force",
                    "other programs of the same user can pass for an installed app and use this access; "
                        + "if you accept that, add same_user = \"accepted\"")
            }
        }
        guard rule.allows || !rule.acceptsSameUser else {
            throw table.wrong("same_user", "only a rule that gives access with force uses this")
        }
        guard rule.apps != nil else { return }
        guard let strengths = rule.strengths else {
            throw table.wrong(
                "apps", "a rule that names apps must also name the strengths it applies to")
        }
        guard !strengths.contains(where: \.namesNobody) else {
            throw table.wrong(
                "apps", "a rule cannot name claimed or unverified apps: any program can use their names")
        }
    }

    /// Returns whether the key is `true`; it must be `true` or absent. No rule cancels another, so `false`
    /// would have no effect.
    private static func yes(_ table: TOMLTable, _ name: String) throws(TrustedFileError) -> Bool {
        guard let bool = try table.bool(name) else { return false }
        guard bool else { throw table.wrong(name, "must be true or absent: no rule cancels another") }
        return true
    }

    private static func users(_ table: TOMLTable) throws(TrustedFileError) -> Set<UInt32>? {
        try table.read("users", "must be an array of user IDs that is not empty, such as [1000]") { value in
            guard let array = TOMLTable.elements(value) else { return nil }
            let users = array.compactMap { $0.int.flatMap(UInt32.init(exactly:)) }
            return users.count == array.count ? Set(users) : nil
        }
    }
}
