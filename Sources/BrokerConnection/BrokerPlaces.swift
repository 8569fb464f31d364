import CBrokerLinux
import Glibc

/// Where a broker's runtime directory may be, in the order in which one looks.
struct BrokerPlaces {
    private static let system = "/run/contactbroker"

    /// `CONTACTBROKER_RUNTIME_DIR`.
    var override: String?
    /// Made by the system; only root can.
    var system = BrokerPlaces.system
    /// `XDG_RUNTIME_DIR`.
    var user: String?

    /// The places as this process's environment has them.
    ///
    /// A program with more rights than whoever started it (setuid, setgid) takes no word from the environment, also when
    /// it has given them up.
    static var ofThisProcess: BrokerPlaces {
        guard !clinux_is_privileged() else { return BrokerPlaces() }
        return BrokerPlaces(override: variable("CONTACTBROKER_RUNTIME_DIR"), user: variable("XDG_RUNTIME_DIR"))
    }

    /// The paths at which this door's socket may be, most wanted first.
    ///
    /// Where the system's broker is installed, the doors of the person are the system's, whatever the environment says.
    func candidates(for door: BrokerDoor, honoringOverride: Bool) -> [String] {
        let systemPath = "\(system)/\(door.path)"
        if door.isForThePerson, systemBrokerIsInstalled { return [systemPath] }
        if honoringOverride, let override { return ["\(override)/\(door.path)"] }
        return [systemPath] + (user.map { ["\($0)/contactbroker/\(door.path)"] } ?? [])
    }

    /// Whether the system has a broker: a folder for the agent's door that is root's, and nobody else's to write. It is made
    /// when the machine starts, whether or not the broker runs, so that nothing else can come to stand there.
    var systemBrokerIsInstalled: Bool {
        var status = stat()
        return lstat("\(system)/agent", &status) == 0 && status.st_uid == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_mode & 0o022 == 0
    }

    /// Whether a socket is one of the system's broker.
    static func isOfSystem(_ path: String) -> Bool { path.hasPrefix(system + "/") }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
