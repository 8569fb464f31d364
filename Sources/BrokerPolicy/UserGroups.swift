import Glibc

/// Looks up the members of groups. A look-up may block, because the user database may be remote (NSS).
public struct UserGroups: Sendable {
    public enum Found: Hashable, Sendable {
        case members(Set<UInt32>)
        case noGroup
        /// The user database did not answer.
        case failed(String)
    }

    /// Returns the UIDs of a group's members.
    let members: @Sendable (_ group: String) -> Found

    init(members: @escaping @Sendable (_ group: String) -> Found) { self.members = members }

    /// The groups of this machine: group(5) and passwd(5), or what nsswitch.conf(5) names.
    ///
    /// The members of a group are the users that its entry lists, and all users whose primary group it is. Of the latter
    /// a remote database may list only some.
    public static let ofMachine = UserGroups { group in
        var members: Set<UInt32> = []
        var primary: gid_t = 0
        var names: [String] = []
        let code = look { storage, size in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let code = getgrnam_r(group, &entry, storage, size, &found)
            guard code == 0, found != nil else { return code == 0 ? ENOENT : code }
            primary = entry.gr_gid
            names = strings(entry.gr_mem)
            return 0
        }
        switch code {
        case 0: break
        case ENOENT, ESRCH: return .noGroup
        default: return .failed(String(cString: strerror(code)))
        }
        for name in names {
            let code = look { storage, size in
                var entry = passwd()
                var found: UnsafeMutablePointer<passwd>?
                let code = getpwnam_r(name, &entry, storage, size, &found)
                if code == 0, found != nil { members.insert(entry.pw_uid) }
                return code
            }
            // A group may list users who were removed.
            guard [0, ENOENT, ESRCH].contains(code) else { return .failed(String(cString: strerror(code))) }
        }
        return .members(members.union(users(ofPrimary: primary)))
    }

    private static func users(ofPrimary group: gid_t) -> Set<UInt32> {
        var users: Set<UInt32> = []
        // The list of users is one for the process. Policies are read one after the other, and nothing else lists users.
        setpwent()
        defer { endpwent() }
        while let entry = getpwent()?.pointee {
            if entry.pw_gid == group { users.insert(entry.pw_uid) }
        }
        return users
    }

    /// Calls a reentrant look-up with a larger and larger buffer for the strings of its result.
    private static func look(_ call: (UnsafeMutablePointer<CChar>, Int) -> CInt) -> CInt {
        var size = 4_096
        while true {
            let code = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
                // A buffer of at least one element has an address.
                buffer.baseAddress.map { call($0, buffer.count) } ?? EINVAL
            }
            guard code == ERANGE, size < 16_777_216 else { return code }
            size *= 2
        }
    }

    /// The strings of an array that ends with a null pointer.
    private static func strings(_ array: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
        var strings: [String] = []
        var next = array
        while let string = next?.pointee {
            strings.append(String(cString: string))
            next = next?.advanced(by: 1)
        }
        return strings
    }
}
