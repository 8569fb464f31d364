extension Rule {
    /// Whether the rule applies to every principal to which the other rule applies, regardless of who is in the named
    /// groups.
    public func covers(_ other: Rule) -> Bool {
        let coversUsers =
            !namesUsers
            || other.namesUsers && (users ?? []).isSuperset(of: other.users ?? [])
                && groups.isSuperset(of: other.groups)
        let coversStrengths = strengths.map { own in other.strengths.map(own.isSuperset) ?? false } ?? true
        let coversApps = apps.map { own in other.apps.map(own.isSuperset) ?? false } ?? true
        return coversUsers && coversStrengths && coversApps
    }

    private var namesUsers: Bool { users != nil || !groups.isEmpty }

    /// The effects of this rule that never apply because of its other effects: the effect's key in a policy file, and why.
    public var contradictions: [(key: String, reason: String)] {
        var found: [(String, String)] = []
        func never(_ key: String, _ isSet: Bool, because reason: String) {
            if isSet { found.append((key, "\(reason): remove one of the two")) }
        }
        if denies {
            let reason = "deny refuses everything, so this never applies"
            never("force", forcedLevel != nil, because: reason)
            never("maximum_level", capsLevel, because: reason)
            never("maximum_keys", maximumKeys != nil, because: reason)
            never("maximum_changes", maximumChanges != nil, because: reason)
            never("forbid_prompting", forbidsPrompting, because: reason)
            never("maximum_lifetime", maximumLifetime != nil, because: reason)
            never("require_authentication", requiresAuthentication, because: reason)
        }
        switch forcedLevel {
        case .full:
            never("force", capsLevel, because: "maximum_level allows limited access at most, so full never applies")
        case .denied:
            let reason = "force gives no access, so this never applies"
            never("maximum_level", capsLevel, because: reason)
            never("maximum_changes", maximumChanges != nil, because: reason)
            never("maximum_lifetime", maximumLifetime != nil, because: reason)
        case .limited where contactGroup != nil:
            let reason = "contact_group shares the group as long as the rule is in force, so this never applies"
            never("maximum_lifetime", maximumLifetime != nil, because: reason)
            never("expire_unused", maximumUnused != nil, because: reason)
            never("require_authentication", requiresAuthentication, because: reason)
        case .limited, nil: break
        }
        return found
    }
}
