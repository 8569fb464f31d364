import CLinux
import Glibc

/// Where a broker's runtime directory may be, in the order in which one looks.
struct BrokerPlaces {
    /// `CONTACTBROKER_RUNTIME_DIR`.
    var override: String?
    /// Made by the system; only root can.
    var system = "/run/contactbroker"
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

    /// Whether the system has a broker: a folder for the agent's door that belongs to root.
    var systemBrokerIsInstalled: Bool {
        var status = stat()
        return lstat("\(system)/agent", &status) == 0 && status.st_uid == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
