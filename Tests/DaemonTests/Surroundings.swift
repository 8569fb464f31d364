import Glibc

/// The user and the mount namespace of a fixture's programs.
struct Surroundings: Sendable {
    /// The command that starts the broker in these surroundings, given its state folder. The program and its arguments
    /// follow.
    private let entry: @Sendable (_ state: String) -> [String]
    /// The command that starts a program in the surroundings of the broker with this process ID.
    private let joint: @Sendable (_ broker: pid_t) -> [String]
    /// The user, if it is not the test's own.
    let uid: uid_t?

    func entering(state: String) -> [String] { entry(state) }

    func joining(_ broker: pid_t) -> [String] { joint(broker) }

    static let asTheyAre = Surroundings(entry: { _ in [] }, joint: { _ in [] }, uid: nil)

    /// A user without any privilege: the test's own, or nobody if the tests run as root.
    static let ordinaryUser: Surroundings = {
        guard getuid() == 0 else { return asTheyAre }
        let nobody: uid_t = 65_534
        let user = ["/usr/bin/setpriv", "--reuid", "\(nobody)", "--regid", "\(nobody)", "--clear-groups", "--"]
        // A /proc of its own, because some containers let only root read theirs.
        let script = #"mount -t proc proc /proc && exec "$@""#
        return Surroundings(
            entry: { _ in ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh"] + user },
            joint: { ["/usr/bin/nsenter", "-t", "\($0)", "-m", "--"] + user }, uid: nobody)
    }()

    /// A small disk for the databases, in a mount namespace of the broker's own.
    static func smallDisk(megabytes: Int) -> Surroundings {
        let script = #"mkdir -p "$0" && mount -t tmpfs -o size=\#(megabytes)m,mode=700 tmpfs "$0" && exec "$@""#
        return Surroundings(
            entry: { ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, $0] },
            joint: { ["/usr/bin/nsenter", "-t", "\($0)", "-m", "--"] }, uid: nil)
    }

    /// The socket `journal-socket` beside the state folder takes the place of the journal's.
    static let journal: Surroundings = {
        let script =
            "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal && "
            + #"ln -s "${0%/*}/journal-socket" /run/systemd/journal/socket && exec "$@""#
        return Surroundings(
            entry: { ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, $0] },
            joint: { ["/usr/bin/nsenter", "-t", "\($0)", "-m", "--"] }, uid: nil)
    }()

    /// Whether this machine can start programs this way. Tests that need it are skipped otherwise.
    var canBeEntered: Bool {
        var template = Array("/tmp/house.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return false }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { DaemonFixture.remove(folder) }
        if let uid { chown(folder, uid, uid) }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let words = entry(folder + "/state") + [DaemonFixture.programs + "/contactbrokerd", "--version"]
        let program = try? ChildProcess(
            words[0], Array(words.dropFirst()), descriptors: [(0, nothing), (1, nothing), (2, nothing)])
        return (try? program?.waitForEnd()) == .exited(0)
    }
}
