import Glibc

/// Tells users of this machine from other user IDs: sub-UIDs, containers, services without a name. The others count as
/// one user. Lives on the event loop, and never waits for the user database.
///
/// A user ID is known if it has an address book, if it has been logged in, or if a worker has found its name. Nobody but
/// root can bring about the first two for a user ID of another kind.
final class KnownUsers {
    /// Maximum number of cached user IDs; the cache is emptied beyond that.
    static let most = 16_384
    /// logind has a file for each user with a session (`sd_uid_get_state(3)`).
    static let sessions = "/run/systemd/users"

    /// Folders with an entry for each user whom they make known.
    private let folders: [String]
    private var known = KnownUsers.always

    /// Root, and the broker's own user.
    private static var always: Set<UInt32> { [0, getuid()] }

    /// - Parameter state: the folder of the databases.
    init(state: String, sessions: String = KnownUsers.sessions) {
        folders = ["\(state)/users", sessions]
    }

    /// Notes that this user has a name; the look-up ran off the event loop.
    func learn(_ uid: UInt32) {
        if known.count >= Self.most { known = Self.always }
        known.insert(uid)
    }

    func contains(_ uid: UInt32) -> Bool {
        if known.contains(uid) { return true }
        guard folders.contains(where: { access("\($0)/\(uid)", F_OK) == 0 }) else { return false }
        learn(uid)
        return true
    }
}
