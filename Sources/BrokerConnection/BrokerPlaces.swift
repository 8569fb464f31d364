import CBrokerLinux
import Glibc

/// The runtime directories that a broker may have.
struct BrokerPlaces {
    private static let system = "/run/contactbroker"

    /// The value of `$CONTACTBROKER_RUNTIME_DIR`; `nil` if it is unset or empty.
    var override: String?
    /// The directory of the system's broker. Only root can create it.
    var system = BrokerPlaces.system
    /// The value of `$XDG_RUNTIME_DIR`; `nil` if it is unset or empty.
    var user: String?

    /// The directories according to this process's environment.
    ///
    /// A program with more privileges than the user who started it (setuid, setgid) ignores the environment,
    /// even after it has dropped these privileges.
    static var ofThisProcess: BrokerPlaces {
        guard !clinux_is_privileged() else { return BrokerPlaces() }
        return BrokerPlaces(override: variable("CONTACTBROKER_RUNTIME_DIR"), user: variable("XDG_RUNTIME_DIR"))
    }

    /// Returns the paths that this socket may have, in search order.
    ///
    /// If the system's broker is installed, the agent's and the administrator's sockets are always the
    /// system's, whatever the environment says.
    func candidates(for socket: BrokerSocket, honoringOverride: Bool) -> [String] {
        let systemPath = "\(system)/\(socket.path)"
        if socket.isForThePerson, systemBrokerIsInstalled { return [systemPath] }
        if honoringOverride, let override { return ["\(override)/\(socket.path)"] }
        return [systemPath] + (user.map { ["\($0)/contactbroker/\(socket.path)"] } ?? [])
    }

    /// Whether the system has a broker: the folder of the agent's socket belongs to root, and nobody else can
    /// write to it. The system creates the folder at boot, even when the broker is not running, so no other
    /// program can create it first.
    var systemBrokerIsInstalled: Bool {
        var status = stat()
        return lstat("\(system)/agent", &status) == 0 && status.st_uid == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_mode & 0o022 == 0
    }

    /// Whether the path is in the runtime directory of the system's broker.
    static func isOfSystem(_ path: String) -> Bool { path.hasPrefix(system + "/") }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
