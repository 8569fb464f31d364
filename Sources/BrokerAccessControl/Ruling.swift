import BrokerModel

/// The combined effect of all matching rules on one principal. If rules conflict, the strictest one applies.
/// A denial overrides every other rule.
public struct Ruling: Hashable, Sendable {
    /// The matching rules, in the order of the files.
    public let rules: [Rule]
    /// Whether the policy requires the person's password for every app.
    public var confirmsWithPassword = false
    /// Set if the policy or the settings cannot be read.
    public let problem: Policy.Problem?
    /// The members of the ``contactGroups``. The policy only names the groups: the broker reads the members from the
    /// user's book, and until then there are none.
    public var shared = SharedSet.empty
    /// For an app of strength `declared`: when the declaration of its folder ends, in seconds since 1970; 0 if the folder
    /// is not declared. `nil` for every other app.
    public var declaredUntil: Int64?

    public var isDenied: Bool { problem != nil || rules.contains(where: \.denies) }
    public var forcedLevel: Rule.Level? {
        [.denied, .limited, .full].first { level in rules.contains { $0.forcedLevel == level } }
    }
    /// An app in a declared folder never gets full access, whatever the rules say.
    public var capsLevel: Bool { declaredUntil != nil || rules.contains(where: \.capsLevel) }
    public var maximumKeys: ContactKeySet {
        rules.compactMap(\.maximumKeys).reduce(.grantable) { $0.intersection($1) }
    }
    /// The most that the app may change.
    public var maximumChanges: ChangeRight { rules.compactMap(\.maximumChanges).min() ?? .all }
    /// Whether the person may allow a save that needs this right. Where a rule forces the level, the rules alone say what
    /// the app may change.
    public func leavesToPerson(_ changes: ChangeRight) -> Bool { forcedLevel == nil && changes <= maximumChanges }
    /// What a forced level gives the app to change; `nil` if no rule says it. Of several rules that force a level, one
    /// that does not say it gives ``ChangeRight/own``.
    private var forcedChanges: ChangeRight? {
        let forcing = rules.filter(\.allows)
        guard forcing.contains(where: { $0.maximumChanges != nil }) else { return nil }
        return forcing.map { $0.maximumChanges ?? .own }.min()
    }
    /// The names of the contact groups whose members the app sees, whatever the person decided. If there are several,
    /// it sees the cards that are in all of them.
    public var contactGroups: Set<String> {
        isDenied || forcedLevel != .limited ? [] : Set(rules.compactMap(\.contactGroup))
    }
    /// A choice of contacts would have no effect on an app whose set is a contact group's.
    public var mayPrompt: Bool { !rules.contains(where: \.forbidsPrompting) && contactGroups.isEmpty }
    /// The maximum lifetime of a grant, in seconds from the person's decision.
    public var maximumLifetime: Int64? { rules.compactMap(\.maximumLifetime).min() }
    /// Seconds without a use after which a grant ends.
    public var maximumUnused: Int64? { rules.compactMap(\.maximumUnused).min() }
    public var requiresAuthentication: Bool { confirmsWithPassword || rules.contains(where: \.requiresAuthentication) }

    /// Whether a forced level decides the app's effective access even without a grant.
    public var standsAlone: Bool { !isDenied && forcedLevel != nil }

    /// Returns when the grant ends and the person has to decide again, in seconds since 1970; `nil` for never.
    /// ``maximumLifetime`` does not apply to a denial, which gives no access.
    public func end(of grant: Grant) -> Int64? {
        var end: Int64?
        if case .untilTime(let time) = grant.lifetime { end = time }
        if grant.access != .denied, let latest = latestEnd(decidedAt: grant.decidedAt) {
            end = min(end ?? .max, latest)
        }
        return end
    }

    /// When a grant that is decided at this time ends at the latest, in seconds since 1970; `nil` for no limit.
    public func latestEnd(decidedAt: Int64) -> Int64? {
        let own = maximumLifetime.map { lifetime in
            let (end, overflow) = decidedAt.addingReportingOverflow(lifetime)
            // A time that overflows counts as past.
            return overflow ? 0 : end
        }
        return [own, declaredUntil].compactMap(\.self).min()
    }

    /// Returns when a grant ends because it is not used, in seconds since 1970; `nil` for never. A denial gives no access
    /// that could be used, so it does not end.
    ///
    /// - Parameter lastUse: when the app last got contacts, in seconds since 1970; `nil` if it never did.
    public func unusedEnd(of grant: Grant, lastUse: Int64?) -> Int64? {
        guard let maximumUnused, grant.access != .denied else { return nil }
        let (end, overflow) = max(grant.decidedAt, lastUse ?? .min).addingReportingOverflow(maximumUnused)
        // A time that overflows counts as past.
        return overflow ? 0 : end
    }

    /// Returns the effective access of an app. The stored grant stays unchanged.
    ///
    /// - Parameters:
    ///   - grant: the stored grant, if there is one.
    ///   - now: seconds since 1970.
    ///   - revision: the policy's revision. If the effective access differs from the grant, the revision of
    ///     the result is at least this one.
    ///   - loadedAt: when the policy was read, in seconds since 1970.
    public func effectiveAccess(of grant: Grant?, at now: Int64, revision: Int64, loadedAt: Int64) -> EffectiveAccess {
        guard !isDenied, declaredUntil.map({ $0 > now }) ?? true else { return .restricted }
        let decided = grant.flatMap { cut($0, at: now) }
        guard var effective = forced(over: decided, loadedAt: loadedAt) else { return .notDetermined }
        if capsLevel, effective.access == .full { effective.access = .limited(to: effective.own) }
        if effective.access != .denied {
            effective.keys.formIntersection(maximumKeys)
            effective.changes = min(effective.changes, maximumChanges)
        }
        if effective != grant { effective.revision = max(effective.revision, revision, shared.revision) }
        return .granted(effective)
    }

    /// The grant with its lifetime shortened by the policy; `nil` if the shortened lifetime has ended.
    private func cut(_ grant: Grant, at now: Int64) -> Grant? {
        guard let end = end(of: grant) else { return grant }
        guard end > now else { return nil }
        var cut = grant
        cut.lifetime = .untilTime(end)
        return cut
    }

    private func forced(over decided: Grant?, loadedAt: Int64) -> Grant? {
        guard let forcedLevel else { return decided }
        let access: Access
        var lifetime = Lifetime.untilRevoked
        switch forcedLevel {
        case .denied: access = .denied
        case .full: access = .full
        case .limited:
            if !contactGroups.isEmpty {
                access = .limited(to: shared.records)
            } else if case .limited(let records)? = decided?.access {
                access = .limited(to: records)
                // The granted set expires with the person's decision. The forced level stays.
                lifetime = decided?.lifetime ?? .untilRevoked
            } else {
                access = .limited(to: decided?.own ?? [])
            }
        }
        guard var effective = decided else {
            return Grant(
                access: access, changes: forcedChanges ?? .own, revision: 0, decidedBy: .administrator,
                decidedAt: loadedAt)
        }
        guard effective.access != access || !contactGroups.isEmpty else {
            effective.changes = max(effective.changes, forcedChanges ?? .none)
            return effective
        }
        // The keys and the right of a denied grant are meaningless.
        if effective.access == .denied { (effective.keys, effective.changes) = (Grant.ordinaryKeys, .own) }
        // The person's decision was about other contacts.
        effective.changes = forcedChanges ?? min(effective.changes, .own)
        effective.access = access
        effective.lifetime = lifetime
        effective.decidedBy = .administrator
        effective.groups = GrantedGroups()
        return effective
    }
}
