import BrokerAccessControl
import BrokerTrustedFiles

/// The broker's settings from `CONFIG/contactbroker.toml`: all that is not a rule about apps. Read once, at startup.
public struct Settings: Hashable, Sendable {
    /// What happens to an answer that requires the person's password if nothing can ask for it; `nil`: the mode
    /// decides. The policy may set it too, and the stricter value applies.
    public var withoutAuthentication: Policy.WithoutAuthentication?
    /// The region for phone numbers without a country code, as in `DE`; `nil`: the locale decides.
    public var region: String?
    /// A book is closed after no program of its user has been connected for this long.
    public var closesBooksAfter = Duration.seconds(300)
    /// Maximum number of connections of one user at each socket.
    public var connectionsPerUser = 1_024

    /// Whether the journal also gets every audit record, for example to forward it to a log store.
    public var auditGoesToJournal = false

    /// Why the file cannot be read. Every app is refused then.
    public private(set) var problem: TrustedFileError?

    static let fileName = "contactbroker.toml"
    /// The lower bound is enough for the programs of a desktop.
    private static let connections = 16...4_096

    /// The defaults, used without a file.
    public init() {}

    /// Settings for a file that cannot be read, with the strictest values for passwords and connections. The journal
    /// gets no audit records meanwhile. If it had them before, it gets the missing ones later.
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
                throw contacts.wrong("region", "must be two capital letters, such as \"DE\" (ISO 3166-1)")
            }
            if let seconds = try Lifespan.read("close_after", of: contacts, "must be a time such as \"5m\" or \"1h\"") {
                closesBooksAfter = .seconds(seconds)
            }
        }
        auditGoesToJournal = try document.table("audit", ["journal"])?.bool("journal") ?? false
        let wanted = "must be a number from \(Self.connections.lowerBound) to \(Self.connections.upperBound)"
        connectionsPerUser =
            try document.table("limits", ["connections_per_user"])?.read("connections_per_user", wanted) {
                $0.int.flatMap { Self.connections.contains($0) ? $0 : nil }
            } ?? connectionsPerUser
    }
}
