import BrokerAccessControl
import BrokerModel
import BrokerTrustedFiles

/// Reads one `[[rule]]` of a policy file.
enum RuleReader {
    static func rule(_ table: TOMLTable) throws(TrustedFileError) -> Rule {
        try table.allow([
            "apps", "contact_group", "deny", "expire_unused", "forbid_prompting", "force", "groups", "maximum_changes",
            "maximum_keys", "maximum_level", "maximum_lifetime", "name", "require_authentication", "same_user",
            "strengths", "users",
        ])
        var rule = Rule(place: table.place)
        rule.name = try table.string("name")
        rule.users = try users(table)
        rule.strengths = try table.words("strengths").map(Set.init)
        rule.groups = Set(try table.strings("groups") ?? [])
        rule.apps = try apps(table)
        if let word = try table.string("same_user") {
            guard word == "accepted" else { throw table.wrong("same_user", "must be \"accepted\" or absent") }
            rule.acceptsSameUser = true
        }
        rule.denies = try yes(table, "deny")
        rule.forcedLevel = try table.word("force")
        if let group = try table.string("contact_group") {
            guard rule.forcedLevel == .limited else {
                throw table.wrong("contact_group", "needs force = \"limited\" in the same rule")
            }
            guard group.contains(where: { !$0.isWhitespace }) else {
                throw table.wrong("contact_group", "must be the name of a contact group, such as \"Family\"")
            }
            rule.contactGroup = group
        }
        if let level = try table.string("maximum_level") {
            guard level == "limited" else {
                throw table.wrong(
                    "maximum_level", "must be \"limited\"; to allow less, use deny or force")
            }
            rule.capsLevel = true
        }
        let keys: [GrantKey]? = try table.words("maximum_keys")
        rule.maximumKeys = keys.map { ContactKeySet($0) }
        rule.maximumChanges = try table.word("maximum_changes")
        rule.forbidsPrompting = try yes(table, "forbid_prompting")
        rule.maximumLifetime = try Lifespan.read(
            "maximum_lifetime", of: table, "must be a time such as \"90m\", \"12h\" or \"30d\", at most 3650 days")
        rule.maximumUnused = try Lifespan.read(
            "expire_unused", of: table, "must be a time such as \"12h\" or \"90d\", at most 3650 days")
        rule.requiresAuthentication = try yes(table, "require_authentication")
        try check(rule, table)
        return rule
    }

    /// Checks the rule's values in combination, after each of them was read.
    private static func check(_ rule: Rule, _ table: TOMLTable) throws(TrustedFileError) {
        guard !rule.effects.isEmpty else { throw table.wrong("the rule has no effect") }
        if let first = rule.contradictions.first { throw table.wrong(first.key, first.reason) }
        if rule.allows {
            guard let strengths = rule.strengths else {
                throw table.wrong("force", "a rule that gives access must name the strengths it applies to")
            }
            guard !strengths.contains(where: \.namesNobody) else {
                throw table.wrong(
                    "force",
                    "claimed, unverified and declared apps cannot be given access: any program can use their names")
            }
            guard rule.acceptsSameUser || !strengths.contains(.installed) && !strengths.contains(.password) else {
                throw table.wrong(
                    "force",
                    "other programs of the same user can pass for an installed app or read a connection's password, and use "
                        + "this access; if you accept that, add same_user = \"accepted\"")
            }
        }
        guard rule.allows || !rule.acceptsSameUser else {
            throw table.wrong("same_user", "only a rule that gives access with force uses this")
        }
        guard let apps = rule.apps else { return }
        guard let strengths = rule.strengths else {
            throw table.wrong(
                "apps", "a rule that names apps must also name the strengths it applies to")
        }
        guard !strengths.contains(where: \.namesNobody) else {
            throw table.wrong(
                "apps",
                "a rule cannot name claimed, unverified or declared apps: any program can use their names; without apps it "
                    + "applies to all apps of these strengths")
        }
        // A pattern also names apps that nobody has written yet.
        guard !rule.allows || !apps.hasPatterns else {
            throw table.wrong("apps", "a rule that gives access must name each app, without patterns")
        }
    }

    /// Returns whether the key is `true`; it must be `true` or absent. No rule cancels another, so `false`
    /// would have no effect.
    private static func yes(_ table: TOMLTable, _ name: String) throws(TrustedFileError) -> Bool {
        guard let bool = try table.bool(name) else { return false }
        guard bool else { throw table.wrong(name, "must be true or absent: no rule cancels another") }
        return true
    }

    private static func apps(_ table: TOMLTable) throws(TrustedFileError) -> AppPatterns? {
        guard let words = try table.strings("apps") else { return nil }
        for word in words {
            if let objection = AppPatterns.objection(to: word) {
                throw table.wrong("apps", "\"\(word)\": \(objection)")
            }
        }
        return AppPatterns(words)
    }

    private static func users(_ table: TOMLTable) throws(TrustedFileError) -> Set<UInt32>? {
        try table.read("users", "must be an array of user IDs that is not empty, such as [1000]") { value in
            guard let array = TOMLTable.elements(value) else { return nil }
            let users = array.compactMap { $0.int.flatMap(UInt32.init(exactly:)) }
            return users.count == array.count ? Set(users) : nil
        }
    }
}
