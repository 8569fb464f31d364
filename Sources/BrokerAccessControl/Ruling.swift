import BrokerModel

/// What all rules together say of one app. Where they differ the stricter one holds, and a denial holds over everything.
public struct Ruling: Hashable, Sendable {
    /// The rules that match, in the order of the files.
    public let rules: [Rule]
    /// The policy or the settings cannot be read.
    public let problem: Policy.Problem?

    public var isDenied: Bool { problem != nil || rules.contains(where: \.denies) }
    public var forcedLevel: Rule.Level? {
        [.denied, .limited, .full].first { level in rules.contains { $0.forcedLevel == level } }
    }
    public var capsLevel: Bool { rules.contains(where: \.capsLevel) }
    public var maximumKeys: ContactKeySet {
        rules.compactMap(\.maximumKeys).reduce(.grantable) { $0.intersection($1) }
    }
    public var mayPrompt: Bool { !rules.contains(where: \.forbidsPrompting) }
    /// Seconds from the person's decision.
    public var maximumLifetime: Int64? { rules.compactMap(\.maximumLifetime).min() }
    public var requiresAuthentication: Bool { rules.contains(where: \.requiresAuthentication) }

    /// Whether the app has a standing although nobody decided anything.
    public var standsAlone: Bool { !isDenied && forcedLevel != nil }

    /// When a decision has to be made again, in seconds since 1970; `nil` for never. A refusal holds: it gives nothing.
    public func end(of grant: Grant) -> Int64? {
        var end: Int64?
        if case .untilTime(let time) = grant.lifetime { end = time }
        if let maximumLifetime, grant.access != .denied {
            let (own, overflow) = grant.decidedAt.addingReportingOverflow(maximumLifetime)
            // Decided at no time that there is: over.
            end = min(end ?? .max, overflow ? 0 : own)
        }
        return end
    }

    /// What holds for the app.
    ///
    /// What the person decided is kept as it is; this is what of it counts while the policy holds.
    ///
    /// - Parameters:
    ///   - grant: what was decided, if anything was.
    ///   - now: seconds since 1970.
    ///   - revision: the policy's own; what rests on the policy has no lower one.
    ///   - loadedAt: when the policy was read, in seconds since 1970.
    public func standing(of grant: Grant?, at now: Int64, revision: Int64, loadedAt: Int64) -> Standing {
        guard !isDenied else { return .restricted }
        let decided = grant.flatMap { cut($0, at: now) }
        guard var standing = forced(over: decided, loadedAt: loadedAt) else { return .notDetermined }
        if capsLevel, standing.access == .full { standing.access = .limited(to: standing.own) }
        if standing.access != .denied { standing.keys.formIntersection(maximumKeys) }
        if standing != grant { standing.revision = max(standing.revision, revision) }
        return .granted(standing)
    }

    /// The decision for as long as it may hold; `nil` if that is over.
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
            if case .limited(let records)? = decided?.access {
                access = .limited(to: records)
                // The set ends when the decision does; the level stays.
                lifetime = decided?.lifetime ?? .untilRevoked
            } else {
                access = .limited(to: decided?.own ?? [])
            }
        }
        guard var standing = decided else {
            return Grant(access: access, revision: 0, decidedBy: .administrator, decidedAt: loadedAt)
        }
        guard standing.access != access else { return standing }
        // The keys of a refusal say nothing about what may be read.
        if standing.access == .denied { standing.keys = Grant.ordinaryKeys }
        standing.access = access
        standing.lifetime = lifetime
        standing.decidedBy = .administrator
        return standing
    }
}
