import BrokerAccessControl
import BrokerBounds
import BrokerTrustedFiles

extension Policy {
    /// The policy with the rules of these texts or, if one has a mistake, a policy that refuses every app. It looks up
    /// groups, so it may block.
    public init(reading texts: [PolicyText]) {
        let reader = PolicyReader.read(texts)
        self = reader.problems.first.map { Policy(unreadable: Problem(.policy, "\($0)")) } ?? reader.policy
    }
}

/// Reads policy files. It is strict: an unknown key, a value of the wrong type, a rule without effects, a rule with
/// forbidden effects and rules that contradict each other are errors. Each error names the line. Nothing that the
/// administrator wrote is silently ignored.
public struct PolicyReader {
    /// Use it only if there are no ``problems``.
    public private(set) var policy = Policy()
    /// The problems of the texts: the first one in each rule, and the first one outside of the rules.
    public private(set) var problems: [TrustedFileError] = []
    private let groups: UserGroups
    /// The results of look-ups. A database that does not answer is asked once for each group.
    private var found: [String: UserGroups.Found] = [:]
    /// The place of the rule with each name.
    private var places: [String: String] = [:]
    /// The first rule that forces a level for each selection.
    private var forcing: [Rule.Selection: Rule] = [:]

    init(groups: UserGroups) { self.groups = groups }

    /// Reads the texts in this order. It looks up groups, so it may block.
    public static func read(_ texts: [PolicyText], groups: UserGroups = .ofMachine) -> PolicyReader {
        var reader = PolicyReader(groups: groups)
        for text in texts { reader.read(text.text, file: text.file) }
        return reader
    }

    /// - Parameter file: the file's path, for errors.
    mutating func read(_ text: String, file: String) {
        do throws(TrustedFileError) {
            let document = try TOMLTable(text, file: file)
            try document.allow(["agent", "audit", "rule"])
            try readSettings(document)
            let tables = try document.tables("rule", most: FileLimits.rulesPerFile)
            let former = policy.rules.count
            for table in tables { add(table, former) }
        } catch {
            problems.append(error)
        }
    }

    /// Reads the settings. Of several values the stricter one applies.
    private mutating func readSettings(_ document: TOMLTable) throws(TrustedFileError) {
        let agent = try document.table("agent", ["confirm", "without_authentication"])
        policy.withoutAuthentication = Policy.stricter(
            policy.withoutAuthentication, try agent?.word("without_authentication"))
        let confirmation: Policy.Confirmation? = try agent?.word("confirm")
        if confirmation == .password { policy.confirmation = .password }
        if try document.table("audit", ["durable"])?.bool("durable") == true { policy.isAuditDurable = true }
    }

    /// Reads a rule, and adds it if it has no problem.
    ///
    /// - Parameter former: the index of the first rule that is in the same file.
    private mutating func add(_ table: TOMLTable, _ former: Int) {
        do throws(TrustedFileError) {
            var rule = try RuleReader.rule(table)
            for group in rule.groups.sorted() { rule.members.formUnion(try members(of: group, table)) }
            if let name = rule.name {
                if let other = places[name] { throw table.wrong("name", "the rule at \(other) has the same name") }
                places[name] = rule.place
            }
            try compare(rule, table)
            for other in policy.rules[former...] { try Self.compareInFile(rule, with: other, table) }
            policy.rules.append(rule)
        } catch {
            problems.append(error)
        }
    }

    private mutating func members(of group: String, _ table: TOMLTable) throws(TrustedFileError) -> Set<UInt32> {
        let result = found[group] ?? groups.members(group)
        found[group] = result
        switch result {
        case .members(let members): return members
        case .noGroup: throw table.wrong("groups", "there is no group \"\(group)\" on this machine")
        case .failed(let reason):
            throw table.wrong("groups", "the group \"\(group)\" cannot be looked up: \(reason); try again later")
        }
    }

    /// Throws if another rule forces a different level for the same apps and users.
    private mutating func compare(_ rule: Rule, _ table: TOMLTable) throws(TrustedFileError) {
        guard let level = rule.forcedLevel else { return }
        guard let other = forcing[rule.selection] else {
            forcing[rule.selection] = rule
            return
        }
        guard let otherLevel = other.forcedLevel, level != otherLevel else { return }
        throw table.wrong(
            "force",
            "the rule at \(other.place) forces \(otherLevel.rawValue) for the same apps: remove one of them")
    }

    /// Throws if one rule denies all apps whose level the other one forces. In different files this is allowed, so that
    /// a file that denies access can be added without a change to the others.
    private static func compareInFile(_ rule: Rule, with other: Rule, _ table: TOMLTable) throws(TrustedFileError) {
        if rule.forcedLevel != nil, other.denies, other.covers(rule) {
            throw table.wrong(
                "force", "this never applies: the rule at \(other.place) denies these apps; remove one of the rules")
        }
        if rule.denies, other.forcedLevel != nil, rule.covers(other) {
            throw table.wrong(
                "deny",
                "the rule at \(other.place) forces a level for some of these apps, which never applies; "
                    + "remove one of the rules")
        }
    }
}
