extension Ruling {
    /// What the administrator's rules say about the app, one sentence per rule.
    public var reasons: [String] {
        if let problem { return [problem.words] }
        var reasons = rules.map { rule in
            "policy \(rule.place)\(rule.name.map { " “\($0)”" } ?? "") " + rule.effects.joined(separator: ", ")
        }
        if isDenied, forcedLevel != nil { reasons.append("a rule that refuses holds over every other one") }
        return reasons
    }

    /// How the effective access differs from the person's decision, in words; `nil` if it does not.
    public func difference(of grant: Grant?, from standing: Standing, at now: Int64) -> String? {
        guard let grant else { return nil }
        switch standing {
        case .restricted: return "what was decided is kept, and counts again when no rule refuses the app"
        case .notDetermined:
            return end(of: grant).map { $0 <= now } == true
                ? "what was decided held as long as the policy allows; the person is asked again" : nil
        case .granted(let counting):
            if counting.access.status != grant.access.status {
                return
                    "what was decided (\(grant.access.status.rawValue)) is kept, and counts again without these rules"
            }
            return counting.keys != grant.keys
                ? "of the keys that were decided only those that the rules allow count" : nil
        }
    }
}
