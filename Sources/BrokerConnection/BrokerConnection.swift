import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// Finds the broker's sockets, connects to them, and checks that a trusted broker is listening.
public enum BrokerConnection {
    /// The user name of the system's broker.
    public static let brokerUser = "contactbroker"

    /// Connects to one of the broker's sockets.
    ///
    /// If `$CONTACTBROKER_RUNTIME_DIR` is set, this looks for the socket only there. Otherwise it looks in
    /// `/run/contactbroker`, then in `$XDG_RUNTIME_DIR/contactbroker`, and uses the first socket that exists.
    ///
    /// - Parameters:
    ///   - timeout: the limit for connecting and for each later reply. `nil` means no limit; use it if a
    ///     reply waits for the person's answer.
    ///   - honoringOverride: whether `$CONTACTBROKER_RUNTIME_DIR` is used. For the agent's and the
    ///     administrator's sockets it is always ignored if the system's broker is installed.
    public static func connect(
        to socket: BrokerSocket, timeout: Duration? = nil, honoringOverride: Bool = true
    ) throws(BrokerConnectionError) -> VarlinkClient {
        try connect(to: socket, timeout: timeout, honoringOverride: honoringOverride, places: .ofThisProcess)
    }

    /// Whether this machine has a system broker, which serves all its users.
    public static var systemBrokerIsInstalled: Bool { BrokerPlaces.ofThisProcess.systemBrokerIsInstalled }

    static func connect(
        to socket: BrokerSocket, timeout: Duration?, honoringOverride: Bool, places: BrokerPlaces
    ) throws(BrokerConnectionError) -> VarlinkClient {
        let candidates = places.candidates(for: socket, honoringOverride: honoringOverride)
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

    /// Whether to trust a broker that runs as `uid`. The trusted users are this process's own user, the
    /// system broker's user and root. If systemd listens for the broker, the peer is root: SO_PEERCRED names
    /// the process that called listen, unix(7). A privileged program (setuid, setgid or with file
    /// capabilities) does not trust a broker that runs as the user who started it.
    static func isTrusted(
        _ uid: uid_t, ownUser: uid_t? = clinux_is_privileged() ? nil : getuid(),
        brokerUser: uid_t? = userID(of: brokerUser)
    ) -> Bool {
        uid == ownUser || uid == 0 || uid == brokerUser
    }

    /// Whether the peer is the system's broker, seen from a user namespace. There, all users without a
    /// mapping, including root, have the same number (user_namespaces(7)). A socket in the system's folder is
    /// trusted, because only the sandbox's creator could have put it there.
    static func isSeenFromSandbox(
        _ uid: uid_t, at path: String, map: String? = contents(of: "/proc/self/uid_map"),
        overflow: String? = contents(of: "/proc/sys/kernel/overflowuid")
    ) -> Bool {
        guard !clinux_is_privileged(), BrokerPlaces.isOfSystem(path), let map, let overflow,
            uid == overflow.split(whereSeparator: \.isWhitespace).first.flatMap({ uid_t($0) })
        else { return false }
        // The initial namespace maps all users.
        return map.split(whereSeparator: \.isWhitespace) != ["0", "0", "4294967295"]
    }

    /// Returns the content of a kernel file, at most 4 KiB; `nil` if the file is empty or cannot be read.
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
        // Apps may call this from many threads, so it uses the reentrant getpwnam_r(3). An entry that exceeds
        // the buffer cannot be the broker's.
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        // Sound: no pointer is used after the buffer is gone, and the number is copied.
        guard unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else {
            return nil
        }
        return unsafe entry.pw_uid
    }
}
