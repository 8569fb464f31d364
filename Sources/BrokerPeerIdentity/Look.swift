import BrokerAccessControl
import CBrokerIdentify
import Glibc

/// The result of `identify_look_at` in Swift types. Reading it requires the right to inspect the process.
struct Look {
    let pid: Int32
    let namespaces: Evidence.Namespaces
    let initNamespaces: Evidence.Namespaces
    let executable: Reading<File>
    let place: Reading<Evidence.Place>
    let flatpakInfo: Reading<Evidence.FlatpakInfo>

    /// The executable, before it is compared with the system's interpreters.
    struct File: Hashable {
        let path: String
        let isDeleted: Bool
        let identity: FileIdentity
        /// `nil`: the file can be hashed, but the caller did not ask for it.
        let digest: Executable.Digest?
    }

    /// Inspects the process directly, with the privileges of this process.
    init(at pidfd: CInt, wants: UInt32) throws(PeerError) {
        var look = identify_look()
        switch identify_look_at(pidfd, wants, HashCache.sizeLimit, &look) {
        case 0: self.init(look)
        case -ESRCH: throw PeerError.ended
        case let code: throw PeerError.unreadable(what: "process", errno: -code)
        }
    }

    init(_ look: identify_look) {
        var look = look
        pid = look.pid
        namespaces = Evidence.Namespaces(look.namespaces)
        initNamespaces = Evidence.Namespaces(look.first)
        let sha256 = withUnsafeBytes(of: look.sha256) { Array($0) }
        let path = Array(
            UnsafeRawBufferPointer(start: identify_path(&look), count: Int(look.path_size)))
        let app = String(cString: identify_app(&look))
        let (text, isDeleted) = ExecutablePath.parse(link: path)
        executable = Reading(
            look.executable_reading,
            File(
                path: text, isDeleted: isDeleted, identity: FileIdentity(look.executable),
                digest: Executable.Digest(UInt32(look.digest), sha256: sha256, reason: look.digest_errno)))
        place =
            switch look.place {
            case Int32(IDENTIFY_PLACE_OTHER.rawValue): Reading(look.place_reading, .other)
            case Int32(IDENTIFY_PLACE_SAME.rawValue): Reading(look.place_reading, .same(isOnlyRoots: false))
            case Int32(IDENTIFY_PLACE_SAME_AND_ROOTS.rawValue): Reading(look.place_reading, .same(isOnlyRoots: true))
            default: look.place_reading < 0 ? .unreadable(errno: -look.place_reading) : .absent
            }
        flatpakInfo = Reading(
            look.info_reading,
            Evidence.FlatpakInfo(app: look.info_is_read == 1 && !app.isEmpty ? app : nil))
    }
}

extension Reading {
    /// Converts a reading code of look.h.
    init(_ code: Int32, _ value: @autoclosure () -> Value) {
        switch code {
        case IDENTIFY_FOUND: self = .found(value())
        case ..<0: self = .unreadable(errno: -code)
        default: self = .absent
        }
    }
}

extension Evidence.Namespaces {
    init(_ namespaces: identify_namespaces) {
        self.init(
            mount: Reading(namespaces.mount_reading, namespaces.mount),
            user: Reading(namespaces.user_reading, namespaces.user))
    }
}

extension Executable.Digest {
    /// `nil` if the file was not hashed.
    init?(_ digest: UInt32, sha256: [UInt8], reason: Int32) {
        switch digest {
        case IDENTIFY_DIGEST_SHA256.rawValue: self = .sha256(sha256.map(hexadecimal).joined())
        case IDENTIFY_DIGEST_NOT_REGULAR.rawValue: self = .notRegular
        case IDENTIFY_DIGEST_TOO_LARGE.rawValue: self = .tooLarge
        case IDENTIFY_DIGEST_NOT_LOCAL.rawValue: self = .notLocal
        case IDENTIFY_DIGEST_CHANGING.rawValue: self = .changing
        case IDENTIFY_DIGEST_UNREADABLE.rawValue: self = .unreadable(errno: reason)
        default: return nil
        }
    }
}
