import BrokerAccessControl
import CBrokerIdentify
import CBrokerLinux
import Glibc

/// The result of `identify_inspect` in Swift types. Collecting it requires permission to inspect the process.
struct Inspection {
    let pid: Int32
    let namespaces: Evidence.Namespaces
    let initNamespaces: Evidence.Namespaces
    let executable: Observation<File>
    let place: Observation<Evidence.Place>
    let flatpakInfo: Observation<Evidence.FlatpakInfo>

    /// The executable, before it is compared with the system's interpreters.
    struct File: Hashable {
        let path: String
        let isDeleted: Bool
        let identity: FileIdentity
        /// See ``Executable/setGroup``.
        let setGroup: UInt32?
        /// `nil` if the hash was not requested, unless the file is known to be unsuitable for hashing.
        let digest: Executable.Digest?
    }

    /// Inspects the process directly, with the privileges of this process.
    init(at pidfd: CInt, wants: UInt32) throws(PeerError) {
        var inspection = identify_inspection()
        switch identify_inspect(pidfd, wants, HashCache.sizeLimit, &inspection) {
        case 0: self.init(inspection)
        case -ESRCH: throw PeerError.ended
        case let code: throw PeerError.unreadable(what: "process", errno: -code)
        }
    }

    init(_ inspection: identify_inspection) {
        var inspection = inspection
        pid = inspection.pid
        namespaces = Evidence.Namespaces(inspection.namespaces)
        initNamespaces = Evidence.Namespaces(inspection.first)
        let sha256 = withUnsafeBytes(of: inspection.sha256) { Array($0) }
        let path = Array(
            UnsafeRawBufferPointer(start: identify_path(&inspection), count: Int(inspection.path_size)))
        let app = String(cString: identify_app(&inspection))
        let (text, isDeleted) = ExecutablePath.parse(link: path)
        executable = Observation(
            inspection.executable_status,
            File(
                path: text, isDeleted: isDeleted, identity: FileIdentity(inspection.executable),
                setGroup: inspection.executable.setGroup,
                digest: Executable.Digest(UInt32(inspection.digest), sha256: sha256, reason: inspection.digest_errno)))
        place =
            switch inspection.place {
            case Int32(IDENTIFY_PLACE_OTHER.rawValue): Observation(inspection.place_status, .other)
            case Int32(IDENTIFY_PLACE_SAME.rawValue): Observation(inspection.place_status, .same(isOnlyRoots: false))
            case Int32(IDENTIFY_PLACE_SAME_AND_ROOTS.rawValue):
                Observation(inspection.place_status, .same(isOnlyRoots: true))
            default: inspection.place_status < 0 ? .unreadable(errno: -inspection.place_status) : .absent
            }
        flatpakInfo = Observation(
            inspection.info_status,
            Evidence.FlatpakInfo(app: inspection.info_is_read == 1 && !app.isEmpty ? app : nil))
    }
}

extension Observation {
    /// Converts a status code from inspect.h.
    init(_ code: Int32, _ value: @autoclosure () -> Value) {
        switch code {
        case IDENTIFY_FOUND: self = .found(value())
        case ..<0: self = .unreadable(errno: -code)
        default: self = .absent
        }
    }
}

extension clinux_file {
    /// The file's group if the file is setgid; otherwise `nil`. Without execute permission for the group, the
    /// set-group-ID bit has a different meaning (inode(7)).
    fileprivate var setGroup: UInt32? { mode & S_ISGID != 0 && mode & S_IXGRP != 0 ? group : nil }
}

extension Evidence.Namespaces {
    init(_ namespaces: identify_namespaces) {
        self.init(
            mount: Observation(namespaces.mount_status, namespaces.mount),
            user: Observation(namespaces.user_status, namespaces.user))
    }
}

extension Executable.Digest {
    /// `nil` for `IDENTIFY_DIGEST_NONE` and for unknown values.
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
