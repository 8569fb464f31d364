/// The administrator's policy for all apps. A ruling depends only on this value and the principal.
public struct Policy: Hashable, Sendable {
    /// Whether to accept an answer that requires the person's password if no program can ask for the
    /// password.
    public enum WithoutAuthentication: String, CaseIterable, Sendable {
        case refuse, allow
    }

    /// How the person confirms an answer that gives an app access or contacts.
    public enum Confirmation: String, CaseIterable, Sendable {
        /// With a key press at the agent's terminal. Other programs of the user can fake the key press.
        case terminal
        /// With the person's password, every time.
        case password
    }

    /// Why the policy or the settings cannot be read. A broker that starts then refuses every app, because it does not know
    /// what the administrator intended. A reload keeps the rules that are in force.
    public struct Problem: Hashable, Sendable {
        public enum Subject: String, Sendable {
            /// A policy file. The problem lasts until a reload succeeds.
            case policy
            /// The settings. The problem lasts until the broker restarts.
            case settings
        }

        public let subject: Subject
        /// The file, the line if known, and what is wrong.
        public let reason: String

        public init(_ subject: Subject, _ reason: String) {
            self.subject = subject
            self.reason = reason
        }

        public var words: String { "the \(subject.rawValue) cannot be read, so every app is refused: \(reason)" }
        /// The same after a reload that kept the rules in force.
        public var wordsOfReload: String { "the former rules stay in force: \(reason)" }
    }

    public var rules: [Rule]
    public var confirmation = Confirmation.terminal
    /// `nil` if the policy does not set it. The broker's mode then decides.
    public var withoutAuthentication: WithoutAuthentication?
    /// Whether audit records of disclosures are synced before the reply is sent.
    public var isAuditDurable: Bool
    public private(set) var problem: Problem?
    /// The entries of the policy folder that nothing reads, because their names do not end in `.toml` or begin with a dot.
    public var unread: [String] = []
    /// SHA-256 of the names and texts of the files, in hexadecimal; `nil` if there are no files.
    public var digest: String?

    /// Creates a policy. Without rules, the person alone decides.
    public init(
        rules: [Rule] = [], withoutAuthentication: WithoutAuthentication? = nil, isAuditDurable: Bool = false
    ) {
        self.rules = rules
        self.withoutAuthentication = withoutAuthentication
        self.isAuditDurable = isAuditDurable
    }

    /// The policy while the files cannot be read.
    public init(unreadable problem: Problem) {
        self.init(withoutAuthentication: .refuse)
        self.problem = problem
    }

    /// The settings outside of rules, as English sentences; empty if all have their defaults.
    public var settings: [String] {
        var settings: [String] = []
        if confirmation == .password { settings.append("every answer needs the person's password") }
        switch withoutAuthentication {
        case .refuse: settings.append("an answer that needs a password is refused if nothing can ask for it")
        case .allow: settings.append("an answer that needs a password is accepted if nothing can ask for it")
        case nil: break
        }
        if isAuditDurable { settings.append("a disclosure waits until its audit record is on the disk") }
        return settings
    }

    /// The names of the contact groups that rules share.
    public var contactGroups: Set<String> { Set(rules.compactMap(\.contactGroup)) }

    /// Returns the combined effect of all rules that match a principal.
    public func ruling(on principal: Principal) -> Ruling {
        Ruling(
            rules: rules.filter { $0.matches(principal) }, confirmsWithPassword: confirmation == .password,
            problem: problem)
    }

    /// The stricter of two settings; if one is `nil`, the other.
    public static func stricter(
        _ one: WithoutAuthentication?, _ other: WithoutAuthentication?
    ) -> WithoutAuthentication? {
        one == .refuse || other == .refuse ? .refuse : one ?? other
    }
}
