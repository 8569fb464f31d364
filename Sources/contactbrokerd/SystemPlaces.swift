import BrokerInterface
import BrokerLedger
import BrokerPeerIdentity
import BrokerPolicy
import BrokerVarlinkServer
import CBrokerLinux
import Glibc

/// Folders and sockets of the system's broker, and the conditions that it checks when it starts.
enum SystemPlaces {
    static let configuration = "/etc/contactbroker"
    /// The state folder if systemd does not set STATE_DIRECTORY.
    static let state = "/var/lib/contactbroker"
    /// The socket of the helper, the only program with the privilege to inspect other users' processes.
    static let identifySocket = "/run/contactbroker/identify/identify.sock"

    /// - Parameter sockets: the sockets that systemd passed.
    static func setting(_ sockets: [PassedSocket]) throws -> Setting {
        guard getuid() != 0, geteuid() != 0 else {
            throw Failure(
                "could not start: the system's broker must not run as root",
                tryThis: "systemctl start contactbroker.service, or only for yourself: contactbrokerd --session")
        }
        guard try capabilities() == 0 else {
            throw Failure(
                "could not start: this process has capabilities, but it reads input from apps and must have none",
                tryThis: "leave CapabilityBoundingSet= and AmbientCapabilities= of contactbroker.service empty")
        }
        // LimitCORE=0 does not stop a core dump that the kernel pipes to a program (core(5)).
        let code = clinux_hide()
        guard code == 0 else {
            throw Failure(
                "could not start: this process cannot be protected from core dumps: \(String(cString: strerror(-code)))"
            )
        }
        return Setting(
            mode: .system, whom: "every user of this machine", state: try stateFolder(),
            configuration: policyFolder, places: try places(sockets), agentGroup: try agentGroup(sockets))
    }

    private static func agentGroup(_ sockets: [PassedSocket]) throws -> gid_t {
        var status = stat()
        let path = sockets.lazy.compactMap(\.path).first { $0.hasSuffix("/" + ContactsInterface.agent.name) }
        guard let path, lstat(path, &status) == 0 else {
            throw Failure(
                "could not start: the group of the agent's socket cannot be read",
                tryThis: "systemctl restart contactbroker-agent.socket")
        }
        return status.st_gid
    }

    static var policyFolder: PolicyFolder { PolicyFolder(configuration: configuration, owner: 0) }

    /// Maps passed sockets to interfaces. All are named `varlink`, as Varlink's libraries expect. The last part
    /// of the bound path is the name of the interface.
    static func places(_ sockets: [PassedSocket]) throws -> [ContactsInterface: VarlinkServer.Place] {
        var places: [ContactsInterface: VarlinkServer.Place] = [:]
        for socket in sockets {
            let name = socket.path?.split(separator: "/").last.map(String.init)
            guard socket.name == "varlink",
                // The system's broker does not serve programs that speak CardDAV yet.
                let interface = ContactsInterface.allCases.first(where: { $0.name == name && $0 != .cardDAV }),
                places.updateValue(.passed(socket), forKey: interface) == nil
            else {
                throw Failure(
                    "could not start: systemd passed an unknown socket: \(socket.name) at \(socket.path ?? "no path")",
                    tryThis:
                        "compare the .socket units with those of this version: systemctl cat 'contactbroker-*.socket'")
            }
        }
        let missing = ContactsInterface.allCases.filter { places[$0] == nil && $0 != .cardDAV }.map(\.name)
        guard missing.isEmpty else {
            throw Failure(
                "could not start: systemd passed no socket for \(missing.joined(separator: ", "))",
                tryThis: "systemctl start contactbroker.service, or only for yourself: contactbrokerd --session")
        }
        return places
    }

    private static func stateFolder() throws -> String {
        guard let value = getenv("STATE_DIRECTORY").map({ String(cString: $0) }), !value.isEmpty else { return state }
        // systemd separates several folders with colons, but the broker needs exactly one.
        guard value.hasPrefix("/"), !value.contains(":") else {
            throw Failure("could not start: STATE_DIRECTORY must name one folder: \(value)")
        }
        return value
    }

    /// Checks that only root can have created the helper's socket. Every folder above the socket must belong
    /// to root, and no other user may be able to write to it.
    static func requireIdentifyHelper() throws {
        var status = stat()
        var folder = ""
        for part in identifySocket.split(separator: "/").dropLast() {
            folder += "/" + part
            guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == 0,
                status.st_mode & 0o022 == 0
            else { throw noHelper("\(folder) is not a folder that only root can change") }
        }
        guard lstat(identifySocket, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            throw noHelper("there is no socket at \(identifySocket)")
        }
    }

    static func helper() throws -> IdentifyClient {
        try requireIdentifyHelper()
        let helper: IdentifyClient
        do throws(PeerError) {
            helper = try IdentifyClient(socket: identifySocket)
        } catch {
            throw Failure("could not start: callers cannot be identified: \(error)")
        }
        guard helper.isAnswered() else { throw noHelper("it does not answer") }
        return helper
    }

    private static func noHelper(_ reason: String) -> Failure {
        Failure(
            "could not start: callers cannot be identified without contactbroker-identify: \(reason)",
            tryThis: "systemctl start contactbroker-identify.socket")
    }

    /// The union of this process's inheritable, permitted, effective and ambient capabilities.
    private static func capabilities() throws -> UInt64 {
        guard let file = fopen("/proc/self/status", "re") else {
            throw Failure("could not start: /proc/self/status cannot be read")
        }
        defer { fclose(file) }
        var found: UInt64?
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        while getline(&line, &size, file) > 0 {
            guard let text = line.map({ String(cString: $0) }) else { break }
            for name in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] where text.hasPrefix(name) {
                guard
                    let bits = UInt64(
                        text.dropFirst(name.count).filter { !$0.isWhitespace }, radix: 16)
                else { continue }
                found = (found ?? 0) | bits
            }
        }
        guard let found else { throw Failure("could not start: /proc/self/status does not list capabilities") }
        return found
    }
}
