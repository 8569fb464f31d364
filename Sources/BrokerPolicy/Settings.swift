import BrokerAccessControl
import BrokerTrustedFiles

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
    public private(set) var problem: TrustedFileError?

    static let fileName = "contactbroker.toml"
    /// No fewer than a desktop's programs have.
    private static let connections = 16...4_096

    /// As if there were no file.
    public init() {}

    /// The settings while the file cannot be read, none looser than any that the file could hold. The journal gets no audit then, and
    /// gets the records of that time later if it had the audit before.
    public init(unreadable problem: TrustedFileError) {
        self.problem = problem
        withoutAuthentication = .refuse
        connectionsPerUser = Self.connections.lowerBound
    }

    /// - Parameter file: its name, for errors.
    init(_ text: String, file: String) throws(TrustedFileError) {
        let document = try TOMLTable(text, file: file)
        try document.allow(["agent", "audit", "contacts", "limits"])
        withoutAuthentication = try document.table("agent", ["without_authentication"])?.word("without_authentication")
        if let contacts = try document.table("contacts", ["close_after", "region"]) {
            region = try contacts.string("region")
            guard region.map({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (65...90).contains($0) } }) ?? true else {
                throw contacts.wrong("region", "two capital letters, as \"DE\" (ISO 3166-1)")
            }
            if let seconds = try Lifespan.read("close_after", of: contacts, "a time such as \"5m\" or \"1h\"") {
                closesBooksAfter = .seconds(seconds)
            }
        }
        auditGoesToJournal = try document.table("audit", ["journal"])?.bool("journal") ?? false
        let wanted = "a number from \(Self.connections.lowerBound) to \(Self.connections.upperBound)"
        connectionsPerUser =
            try document.table("limits", ["connections_per_user"])?.read("connections_per_user", wanted) {
                $0.int.flatMap { Self.connections.contains($0) ? $0 : nil }
            } ?? connectionsPerUser
    }
}
