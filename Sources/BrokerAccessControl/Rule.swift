import BrokerModel

/// One `[[rule]]` of the administrator: whom it is about, and what it says of them.
public struct Rule: Hashable, Sendable {
    /// A level that policy forces, whatever the person said.
    public enum Level: String, CaseIterable, Sendable {
        case denied, limited, full
    }

    /// The file and the line where it begins, as `/…/policy.d/10-office.toml:12`.
    public var place: String
    /// What the administrator calls it.
    public var name: String?

    // MARK: Whom it is about; `nil` is everybody

    public var users: Set<UInt32>?
    public var strengths: Set<IdentityStrength>?
    public var apps: Set<String>?

    // MARK: What it says

    /// Everything is refused, and told as `restricted`.
    public var denies = false
    public var forcedLevel: Level?
    /// `full` counts as `limited` to nobody, until the person chooses contacts.
    public var capsLevel = false
    /// Keys that may be read and written at most.
    public var maximumKeys: ContactKeySet?
    public var forbidsPrompting = false
    /// Seconds from the person's decision until it has to be made again.
    public var maximumLifetime: Int64?
    /// The person's password is wanted before anything is granted.
    public var requiresAuthentication = false

    public init(place: String) {
        self.place = place
    }

    /// Strengths whose names any program of the user can take. About them a rule says nothing that allows, and nothing that
    /// tells one from another.
    public static let weakStrengths: Set<IdentityStrength> = [.claimed, .unverified]

    /// Whether it gives an app more than the person did.
    public var allows: Bool {
        switch forcedLevel {
        case .limited, .full: true
        case .denied, nil: false
        }
    }

    public func matches(_ principal: Principal) -> Bool {
        (strengths?.contains(principal.strength) ?? true) && (apps?.contains(principal.app) ?? true)
            && (users?.contains(principal.uid) ?? true)
    }

    /// What it says, in words for people.
    public var effects: [String] {
        var effects: [String] = []
        if denies { effects.append("refuses everything") }
        switch forcedLevel {
        case .denied: effects.append("forces denied")
        case .limited: effects.append("forces limited")
        case .full: effects.append("forces full")
        case nil: break
        }
        if capsLevel { effects.append("allows single contacts at most") }
        if let maximumKeys {
            effects.append(
                "allows no keys but " + (maximumKeys.grantNames.joined(separator: ", ")))
        }
        if forbidsPrompting { effects.append("forbids to ask the person") }
        if let maximumLifetime {
            effects.append("lets a decision hold for \(Self.words(seconds: maximumLifetime)) at most")
        }
        if requiresAuthentication { effects.append("wants the person's password before anything is granted") }
        return effects
    }

    private static func words(seconds: Int64) -> String {
        for (unit, factor) in [("day", Int64(86_400)), ("hour", 3_600), ("minute", 60)] where seconds % factor == 0 {
            let number = seconds / factor
            return "\(number) \(unit)\(number == 1 ? "" : "s")"
        }
        return "\(seconds) seconds"
    }
}
