import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// Finds the broker's doors, opens them, and makes sure that it is the broker who stands behind them.
public enum BrokerConnection {
    /// The name of the user as whom the system's broker runs.
    public static let brokerUser = "contactbroker"

    /// Connects to one of the broker's doors.
    ///
    /// The door is looked for in `$CONTACTBROKER_RUNTIME_DIR` where that is set, otherwise in `/run/contactbroker`,
    /// then in `$XDG_RUNTIME_DIR/contactbroker`; the first place with a socket is taken, whoever answers there.
    ///
    /// - Parameters:
    ///   - timeout: for connecting and for every later reply; `nil` waits for ever, as one does for a person.
    ///   - honoringOverride: whether `$CONTACTBROKER_RUNTIME_DIR` counts. At the agent's and the administrator's door
    ///     it never does where the system's broker is installed.
    public static func connect(
        to door: BrokerDoor, timeout: Duration? = nil, honoringOverride: Bool = true
    ) throws(BrokerConnectionError) -> VarlinkClient {
        try connect(to: door, timeout: timeout, honoringOverride: honoringOverride, places: .ofThisProcess)
    }

    /// Whether this machine has a broker of its own, which serves all its users.
    public static var systemBrokerIsInstalled: Bool { BrokerPlaces.ofThisProcess.systemBrokerIsInstalled }

    static func connect(
        to door: BrokerDoor, timeout: Duration?, honoringOverride: Bool, places: BrokerPlaces
    ) throws(BrokerConnectionError) -> VarlinkClient {
        let candidates = places.candidates(for: door, honoringOverride: honoringOverride)
        guard let path = candidates.first(where: isSocket) else { throw .notRunning(lookedAt: candidates) }
        let client: VarlinkClient
        do {
            client = try VarlinkClient(path: path, timeout: timeout)
        } catch {
            throw .cannotConnect(path: path, reason: Self.reason(of: error))
        }
        let server = client.serverCredentials()?.uid
        guard let server, isTrusted(server) || isSeenFromSandbox(server, at: path) else {
            client.close()
            throw .foreignServer(path: path, uid: server)
        }
        return client
    }

    /// Whether a broker of this user may be believed: one's own, the system's, or root's, who holds the socket where
    /// systemd listens for the broker (unix(7): SO_PEERCRED names whoever called listen) and is trusted anyway. A program
    /// with more rights than its user does not lend them to a broker of that user.
    static func isTrusted(
        _ uid: uid_t, ownUser: uid_t? = clinux_is_privileged() ? nil : getuid(),
        brokerUser: uid_t? = userID(of: brokerUser)
    ) -> Bool {
        uid == ownUser || uid == 0 || uid == brokerUser
    }

    /// Whether this is the system's broker as a program in a user namespace of its own sees it: users that the namespace
    /// does not have, root among them, all go by one number there (user_namespaces(7)). Who made the sandbox has put the
    /// system's folder into it, and nothing in it could have: what stands at that path is believed.
    static func isSeenFromSandbox(
        _ uid: uid_t, at path: String, map: String? = contents(of: "/proc/self/uid_map"),
        overflow: String? = contents(of: "/proc/sys/kernel/overflowuid")
    ) -> Bool {
        guard !clinux_is_privileged(), BrokerPlaces.isOfSystem(path), let map, let overflow,
            uid == overflow.split(whereSeparator: \.isWhitespace).first.flatMap({ uid_t($0) })
        else { return false }
        // The first namespace has everybody.
        return map.split(whereSeparator: \.isWhitespace) != ["0", "0", "4294967295"]
    }

    /// The first bytes of a small file of the kernel's.
    static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func reason(of error: VarlinkClientError) -> String {
        if case .cannotConnect(_, let reason) = error { return reason }
        return error.description
    }

    private static func userID(of name: String) -> uid_t? {
        // The reentrant form: apps ask from many threads. What getpwnam_r(3) could find is small; longer is not ours.
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        // Sound: none of the pointers is looked at after the buffer is gone, and the number is copied.
        guard unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else {
            return nil
        }
        return unsafe entry.pw_uid
    }
}
