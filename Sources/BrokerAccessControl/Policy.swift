/// The administrator's policy for all apps, as values. Pure: a ruling follows from the rules alone.
public struct Policy: Hashable, Sendable {
    /// What happens to an answer that requires the person's password if nothing can ask for it.
    public enum WithoutAuthentication: String, CaseIterable, Sendable {
        case refuse, allow
    }

    /// What could not be read. Every app is refused then, because the administrator's intent is unknown.
    public struct Problem: Hashable, Sendable {
        public enum Subject: String, Sendable {
            /// A file of rules; lasts until the policy is reloaded.
            case policy
            /// The settings; lasts until the broker restarts.
            case settings
        }

        public let subject: Subject
        /// The file, the line if known, and the problem.
        public let reason: String

        public init(_ subject: Subject, _ reason: String) {
            self.subject = subject
            self.reason = reason
        }

        public var words: String { "the \(subject.rawValue) cannot be read, so every app is refused: \(reason)" }
    }

    public var rules: [Rule]
    /// `nil` if the policy does not set it: the mode decides.
    public var withoutAuthentication: WithoutAuthentication?
    /// Whether audit records of disclosures are synced before the reply is sent.
    public var isAuditDurable: Bool
    public private(set) var problem: Problem?
    /// SHA-256 of the names and texts of the files, in hexadecimal; `nil` if there are no files.
    public var digest: String?

    /// By default no rules: the person decides.
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

    /// The ruling of all matching rules on one principal.
    public func ruling(on principal: Principal) -> Ruling {
        Ruling(rules: rules.filter { $0.matches(principal) }, problem: problem)
    }

    /// The stricter of two settings; if one is `nil`, the other.
    public static func stricter(
        _ one: WithoutAuthentication?, _ other: WithoutAuthentication?
    ) -> WithoutAuthentication? {
        one == .refuse || other == .refuse ? .refuse : one ?? other
    }
}
