/// One of the broker's sockets. Each has its own folder, so that a sandbox can get one without the others.
public enum BrokerSocket: CaseIterable, Hashable, Sendable {
    /// For all apps. A sandbox gets no other socket.
    case apps
    /// For the program that shows prompts to the person.
    case agent
    /// For programs that manage access.
    case admin

    /// The socket's path below the broker's runtime directory.
    public var path: String {
        switch self {
        case .apps: "apps/io.contactbroker.Contacts"
        case .agent: "agent/io.contactbroker.Agent"
        case .admin: "admin/io.contactbroker.Admin"
        }
    }

    /// Whether programs on this socket show or change the access of other programs. If the system's broker is
    /// installed, environment variables cannot redirect these programs to a fake broker.
    var isForThePerson: Bool { self != .apps }
}
