/// How the broker is to run, from `CONFIG/contactbroker.toml`: what is no rule about apps. Read once, at the start.
public struct Settings: Hashable, Sendable {
    /// What becomes of an answer that wants the person's password where nobody can ask for it; `nil` where the mode decides.
    /// The policy may have a word on it too, and the stricter one holds.
    public var withoutAuthentication: Policy.WithoutAuthentication?
    /// Where phone numbers are dialled that are written without a country, as in `DE`; `nil` where the locale decides.
    public var region: String?
    /// A book is closed when none of its user's programs has been connected for so long.
    public var closesBooksAfter = Duration.seconds(300)
    /// Connections that one user may have open at each door.
    public var connectionsPerUser = 1_024

    /// Whether the journal gets every record of the audit too, from where a log store of many machines can have it.
    public var auditGoesToJournal = false

    /// Why the file cannot be read. Every app is refused then.
    public private(set) var problem: PolicyError?

    static let fileName = "contactbroker.toml"
    /// No fewer than a desktop's programs have.
    private static let connections = 16...4_096

    /// As if there were no file.
    public init() {}

    /// The settings while the file cannot be read, none looser than any that the file could hold. The journal gets no audit then, and
    /// gets the records of that time later if it had the audit before.
    public init(unreadable problem: PolicyError) {
        self.problem = problem
        withoutAuthentication = .refuse
        connectionsPerUser = Self.connections.lowerBound
    }

    /// - Parameter file: its name, for errors.
    init(_ text: String, file name: String) throws(PolicyError) {
        let file = try AdministratorFile(text, file: name)
        try file.allow(["agent", "audit", "contacts", "limits"], in: file.document, "")
        if let agent = try file.table(file.document, "agent", "agent") {
            try file.allow(["without_authentication"], in: agent, "agent.")
            withoutAuthentication = try file.word(agent, "without_authentication", "agent.")
        }
        if let contacts = try file.table(file.document, "contacts", "contacts") {
            try file.allow(["close_after", "region"], in: contacts, "contacts.")
            region = try file.string(contacts, "region", "contacts.")
            guard region.map({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (65...90).contains($0) } }) ?? true else {
                throw file.wrong("contacts.region", "two capital letters, as \"DE\" (ISO 3166-1)")
            }
            if let text = try file.string(contacts, "close_after", "contacts.") {
                guard let seconds = Lifespan.seconds(text) else {
                    throw file.wrong("contacts.close_after", "a time such as \"5m\" or \"1h\"")
                }
                closesBooksAfter = .seconds(seconds)
            }
        }
        if let audit = try file.table(file.document, "audit", "audit") {
            try file.allow(["journal"], in: audit, "audit.")
            auditGoesToJournal = try file.bool(audit, "journal", "audit.") ?? false
        }
        guard let limits = try file.table(file.document, "limits", "limits") else { return }
        try file.allow(["connections_per_user"], in: limits, "limits.")
        guard let value = limits["connections_per_user"] else { return }
        guard let number = value.int, Self.connections.contains(number) else {
            throw file.wrong(
                "limits.connections_per_user",
                "a number from \(Self.connections.lowerBound) to \(Self.connections.upperBound)")
        }
        connectionsPerUser = number
    }
}
