import BrokerBounds
import Glibc

/// Distinguishes users of this machine from other user IDs, such as sub-UIDs and the user IDs of containers
/// and of services without a user name. All other user IDs count as one user. This class lives on the event
/// loop and never waits for the user database.
///
/// A user ID is known if it has an address book or a login session, or if a worker has found its name. Only
/// root can create an address book or a login session for a user ID that has no user name.
final class KnownUsers {
    /// logind has a file for each user with a session (`sd_uid_get_state(3)`).
    static let sessions = "/run/systemd/users"

    static func hasLoginSession(_ uid: UInt32) -> Bool { has(uid, in: sessions) }

    private static func has(_ uid: UInt32, in folder: String) -> Bool { access("\(folder)/\(uid)", F_OK) == 0 }

    /// Folders that contain an entry for each known user.
    private let folders: [String]
    private var known = KnownUsers.always

    /// Root and the broker's own user.
    private static var always: Set<UInt32> { [0, getuid()] }

    /// - Parameter state: the folder of the databases.
    init(state: String, sessions: String = KnownUsers.sessions) {
        folders = ["\(state)/users", sessions]
    }

    /// Caches a user ID as known.
    func learn(_ uid: UInt32) {
        if known.count >= InspectionLimits.knownUsers { known = Self.always }
        known.insert(uid)
    }

    func contains(_ uid: UInt32) -> Bool {
        if known.contains(uid) { return true }
        guard folders.contains(where: { Self.has(uid, in: $0) }) else { return false }
        learn(uid)
        return true
    }
}
