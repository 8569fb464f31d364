import BrokerModel

/// One `[[rule]]` of the administrator's policy: the principals to which it applies, and its effects.
public struct Rule: Hashable, Sendable {
    /// A level that the policy forces, whatever the person decided.
    public enum Level: String, CaseIterable, Sendable {
        case denied, limited, full
    }

    /// The file and line where the rule begins, such as `/…/policy.d/10-office.toml:12`.
    public var place: String
    /// The name that the administrator gave the rule.
    public var name: String?

    // MARK: Which principals it applies to; `nil` means all

    /// The UIDs that the rule names.
    public var users: Set<UInt32>?
    /// The groups of users that the rule names; empty for none. The rule applies to a user who is in ``users`` or in one
    /// of these groups.
    public var groups: Set<String> = []
    /// The UIDs of the groups' members when the policy was read.
    public var members: Set<UInt32> = []
    public var strengths: Set<IdentityStrength>?
    public var apps: AppPatterns?
    /// Whether the administrator accepts that other programs of the same user can get the access that this
    /// rule gives to `installed` apps.
    public var acceptsSameUser = false

    /// Two rules with the same selection apply to the same principals.
    public struct Selection: Hashable, Sendable {
        let users: Set<UInt32>?
        let groups: Set<String>
        let strengths: Set<IdentityStrength>?
        let apps: AppPatterns?
    }

    public var selection: Selection { Selection(users: users, groups: groups, strengths: strengths, apps: apps) }

    // MARK: Effects

    /// Refuses everything. The app sees `restricted`.
    public var denies = false
    public var forcedLevel: Level?
    /// With the forced level `limited`: the name of a contact group of the person. The app sees the group's members
    /// and nothing else.
    public var contactGroup: String?
    /// Caps full access at limited. The app then sees only the contacts that it created itself, until the
    /// person chooses contacts for it.
    public var capsLevel = false
    /// The only keys that may be read and written.
    public var maximumKeys: ContactKeySet?
    /// The most that may be changed. With a forced level, it is also what that level gives.
    public var maximumChanges: ChangeRight?
    public var forbidsPrompting = false
    /// Seconds after which the person has to decide again.
    public var maximumLifetime: Int64?
    /// Seconds without a use after which a grant ends.
    public var maximumUnused: Int64?
    /// Every new grant requires the person's password.
    public var requiresAuthentication = false

    public init(place: String) {
        self.place = place
    }

    /// Whether the rule can give an app more access than the person did.
    public var allows: Bool {
        switch forcedLevel {
        case .limited, .full: true
        case .denied, nil: false
        }
    }

    public func matches(_ principal: Principal) -> Bool {
        (strengths?.contains { $0.covers(principal.strength) } ?? true) && (apps?.contains(principal.app) ?? true)
            && appliesToUser(principal.uid)
    }

    private func appliesToUser(_ uid: UInt32) -> Bool {
        users == nil && groups.isEmpty || users?.contains(uid) == true || members.contains(uid)
    }

    /// The rule's effects as English phrases.
    public var effects: [String] {
        var effects: [String] = []
        if denies { effects.append("denies all access") }
        switch forcedLevel {
        case .denied: effects.append("forces denied")
        case .limited:
            effects.append(
                contactGroup.map { "forces limited to the members of the contact group “\($0)”" } ?? "forces limited")
        case .full: effects.append("forces full")
        case nil: break
        }
        if capsLevel { effects.append("allows limited access at most") }
        if let maximumKeys {
            effects.append("allows only the keys " + maximumKeys.grantNames.joined(separator: ", "))
        }
        if let maximumChanges {
            effects.append((forcedLevel == nil ? "lets it at most " : "lets it ") + maximumChanges.words)
        }
        if forbidsPrompting { effects.append("forbids prompts") }
        if let maximumLifetime {
            effects.append("lets a grant last \(TimeSpan.words(seconds: maximumLifetime)) at most")
        }
        if let maximumUnused {
            effects.append("ends a grant that was not used for \(TimeSpan.words(seconds: maximumUnused))")
        }
        if requiresAuthentication { effects.append("requires the person's password for every grant") }
        return effects
    }
}

extension IdentityStrength {
    /// Whether a rule for this strength applies to an app of another strength. A rule for `unverified` apps, which can
    /// only restrict, also restricts a program that the person declared: without the declaration it would be unverified.
    fileprivate func covers(_ other: IdentityStrength) -> Bool {
        self == other || self == .unverified && other == .declared
    }
}
