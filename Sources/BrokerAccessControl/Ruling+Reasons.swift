import BrokerModel

extension Ruling {
    /// The effects of the administrator's rules on the app: one phrase for each matching rule, plus one if a
    /// denial overrides a forced level. If the policy or the settings cannot be read, the only phrase says so.
    public var reasons: [String] {
        if let problem { return [problem.words] }
        var reasons = rules.map { rule in
            "policy \(rule.place)\(rule.name.map { " “\($0)”" } ?? "") " + rule.effects.joined(separator: ", ")
        }
        if isDenied, forcedLevel != nil { reasons.append("a rule that denies all access overrides every other rule") }
        return reasons
    }

    /// Explains how the effective access differs from the stored grant; `nil` if there is no grant or nothing
    /// to explain.
    public func difference(of grant: Grant?, from access: EffectiveAccess, at now: Int64) -> String? {
        guard let grant else { return nil }
        switch access {
        case .restricted: return "the decision is stored, and applies again when no rule denies the app"
        case .notDetermined:
            return end(of: grant).map { $0 <= now } == true
                ? "the decision reached the policy's maximum lifetime; the person will be asked again" : nil
        case .granted(let counting):
            if !contactGroups.isEmpty {
                return
                    "the decision (\(grant.access.status.rawValue)) is stored, and applies again when no rule shares a "
                    + "contact group with the app"
            }
            if counting.access.status != grant.access.status {
                return
                    "the decision (\(grant.access.status.rawValue)) is stored, and applies again without these rules"
            }
            if counting.keys != grant.keys { return "of the granted keys, only those that the rules allow apply" }
            return counting.changes != grant.changes
                ? "the decision lets the app \(grant.changes.words); the rules set that it may "
                    + counting.changes.words : nil
        }
    }
}
