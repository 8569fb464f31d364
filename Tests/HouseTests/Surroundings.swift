import Glibc

/// Where and as whom a house's programs run.
struct Surroundings: Sendable {
    /// What starts the broker there, given its state folder; the program's words follow.
    private let entry: @Sendable (_ state: String) -> [String]
    /// What starts a program where the broker of that number runs.
    private let joint: @Sendable (_ broker: pid_t) -> [String]
    /// The user, where it is not the test's own.
    let uid: uid_t?

    func entering(state: String) -> [String] { entry(state) }

    func joining(_ broker: pid_t) -> [String] { joint(broker) }

    static let asTheyAre = Surroundings(entry: { _ in [] }, joint: { _ in [] }, uid: nil)

    /// As a user without any privilege: the test's own, or else nobody.
    static let ordinaryUser: Surroundings = {
        guard getuid() == 0 else { return asTheyAre }
        let nobody: uid_t = 65_534
        let user = ["/usr/bin/setpriv", "--reuid", "\(nobody)", "--regid", "\(nobody)", "--clear-groups", "--"]
        // A /proc of its own: some containers close theirs to everybody but root.
        let script = #"mount -t proc proc /proc && exec "$@""#
        return Surroundings(
            entry: { _ in ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh"] + user },
            joint: { ["/usr/bin/nsenter", "-t", "\($0)", "-m", "--"] + user }, uid: nobody)
    }()

    /// With a small disk for the databases, which is there for nobody else.
    static func smallDisk(megabytes: Int) -> Surroundings {
        let script = #"mkdir -p "$0" && mount -t tmpfs -o size=\#(megabytes)m,mode=700 tmpfs "$0" && exec "$@""#
        return Surroundings(
            entry: { ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, $0] },
            joint: { ["/usr/bin/nsenter", "-t", "\($0)", "-m", "--"] }, uid: nil)
    }

    /// Whether programs can be started so on this machine; a test that needs it says so where not.
    var canBeEntered: Bool {
        var template = Array("/tmp/house.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return false }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { House.remove(folder) }
        if let uid { chown(folder, uid, uid) }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let words = entry(folder + "/state") + [House.programs + "/contactbrokerd", "--version"]
        let program = try? ChildProcess(
            words[0], Array(words.dropFirst()), descriptors: [(0, nothing), (1, nothing), (2, nothing)])
        return (try? program?.waitForEnd()) == .exited(0)
    }
}
