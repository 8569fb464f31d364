/// One of the broker's sockets: each has a folder of its own, so that a sandbox can be given one without the others.
public enum BrokerDoor: CaseIterable, Hashable, Sendable {
    /// For every app; the only one that a sandbox is ever given.
    case apps
    /// For the program that shows the person the prompts.
    case agent
    /// For those who manage access.
    case admin

    /// The socket's path below the broker's runtime directory.
    public var path: String {
        switch self {
        case .apps: "apps/io.contactbroker.Contacts"
        case .agent: "agent/io.contactbroker.Agent"
        case .admin: "admin/io.contactbroker.Admin"
        }
    }

    /// Whether whoever opens this door shows or changes what other programs may do. Such a program must not be led
    /// to a false broker by a variable that any program can set.
    var isForThePerson: Bool {
        switch self {
        case .apps: false
        case .agent, .admin: true
        }
    }
}
