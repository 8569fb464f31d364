/// What the administrator decided for everybody's apps, as values. Pure: what it says of an app follows from its rules alone.
public struct Policy: Hashable, Sendable {
    /// What becomes of an answer that wants the person's password where nobody can ask for it.
    public enum WithoutAuthentication: String, CaseIterable, Sendable {
        case refuse, allow
    }

    /// What could not be read. Every app is refused then: nobody knows what the administrator wants.
    public struct Problem: Hashable, Sendable {
        public enum Subject: String, Sendable {
            /// A file of rules, until the policy is reloaded.
            case policy
            /// The settings, until the broker restarts.
            case settings
        }

        public let subject: Subject
        /// The file, the line where there is one, and what is wrong.
        public let reason: String

        public init(_ subject: Subject, _ reason: String) {
            self.subject = subject
            self.reason = reason
        }

        public var words: String { "the \(subject.rawValue) cannot be read, so every app is refused: \(reason)" }
    }

    public var rules: [Rule]
    /// `nil` where the administrator says nothing: the mode decides.
    public var withoutAuthentication: WithoutAuthentication?
    /// Disclosures are on the disk before they are told.
    public var isAuditDurable: Bool
    public private(set) var problem: Problem?
    /// SHA-256 over the names and texts of the files, in hexadecimal digits; `nil` where there are none.
    public var digest: String?

    /// No rules: the person decides.
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

    /// What all rules together say of one app of one user.
    public func ruling(on principal: Principal) -> Ruling {
        Ruling(rules: rules.filter { $0.matches(principal) }, problem: problem)
    }

    /// The stricter of two settings; where one says nothing the other holds.
    public static func stricter(
        _ one: WithoutAuthentication?, _ other: WithoutAuthentication?
    ) -> WithoutAuthentication? {
        one == .refuse || other == .refuse ? .refuse : one ?? other
    }
}
