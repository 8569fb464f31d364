/// Whether a caller looks as if it were in a sandbox. Any one sign is enough: a program that makes itself look
/// sandboxed loses by it, one that hides a sandbox would gain.
enum Sandbox: Hashable {
    case none
    /// In one, with its name where label or control group tell it.
    case some(name: String?)
    case cannotTell(Refusal)

    init(_ evidence: Evidence) {
        var isInside = false
        var name: String?

        let mount = Self.differs(
            evidence.namespaces.mount, own: evidence.ownNamespaces.mount, first: evidence.initNamespaces.mount)
        let user = Self.differs(
            evidence.namespaces.user, own: evidence.ownNamespaces.user, first: evidence.initNamespaces.user)
        switch (mount, user) {
        case (.unreadable(let errno), _):
            self = .cannotTell(.unreadable(.mountNamespace, errno: errno))
            return
        case (_, .unreadable(let errno)):
            self = .cannotTell(.unreadable(.userNamespace, errno: errno))
            return
        case (.found(let mount), .found(let user)): isInside = mount || user
        case (.found(let mount), .absent): isInside = mount
        case (.absent, .found(let user)): isInside = user
        case (.absent, .absent): break
        }

        switch evidence.flatpakInfo {
        case .found: isInside = true
        case .absent: break
        case .unreadable(let errno):
            self = .cannotTell(.unreadable(.flatpakInfo, errno: errno))
            return
        }

        switch evidence.controlGroup {
        case .found(let path):
            if let found = ControlGroup.sandboxName(in: path) {
                isInside = true
                name = found
            }
        case .absent: break
        case .unreadable(let errno):
            self = .cannotTell(.unreadable(.controlGroup, errno: errno))
            return
        }

        // Last, because it is the hardest to come by for a program that is not what it says.
        switch evidence.label {
        case .found(let label):
            if label.hasPrefix("snap.") {
                isInside = true
                name = Self.snapName(in: label) ?? name
            }
        case .absent: break
        case .unreadable(let errno):
            self = .cannotTell(.unreadable(.label, errno: errno))
            return
        }
        self = isInside ? .some(name: name) : .none
    }

    /// Neither the broker's own nor process 1's. In session mode the broker is an ordinary program of the user's
    /// and lies where the host's programs lie. Absent: this kernel has no such namespaces.
    private static func differs(
        _ peer: Reading<UInt64>, own: Reading<UInt64>, first: Reading<UInt64>
    ) -> Reading<Bool> {
        switch (peer, own) {
        case (.found(let peer), .found(let own)): .found(peer != own && first != .found(peer))
        case (.absent, .absent): .absent
        case (.unreadable(let errno), _), (_, .unreadable(let errno)): .unreadable(errno: errno)
        // One has what the other lacks: a reading went wrong. ENOENT, the errno of the one that was not there.
        case (.found, .absent), (.absent, .found): .unreadable(errno: 2)
        }
    }

    /// `snap.NAME.APP (enforce)`, the label that snapd gives.
    private static func snapName(in label: String) -> String? {
        let names = label.prefix { $0 != " " }.split(separator: ".", omittingEmptySubsequences: false)
        guard names.count >= 3, !names[1].isEmpty else { return nil }
        return "snap.\(names[1])"
    }
}
