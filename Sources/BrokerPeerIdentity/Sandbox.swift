import Glibc

/// Whether a caller appears to be in a sandbox. Any one sign is enough: a program that fakes a sandbox only loses
/// access, but one that hides a sandbox would gain access.
///
/// Confinement that leaves no mark outside the process, such as seccomp(2) or landlock(7) alone, is not detected.
enum Sandbox: Hashable {
    case none
    /// In a sandbox. `name` is set if the label or the control group contains a name.
    case some(name: String?)
    case cannotTell(Refusal)

    init(_ evidence: Evidence) {
        var isInside = false
        var name: String?

        let mount = Self.isApart(evidence, \.mount)
        let user = Self.isApart(evidence, \.user)
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

        // The label comes last and overrides the name, because it is the sign that is hardest to fake.
        switch evidence.label {
        case .found(let label):
            if let snap = SnapLabel(label) {
                isInside = true
                name = snap.snap ?? name
            }
        case .absent: break
        case .unreadable(let errno):
            self = .cannotTell(.unreadable(.label, errno: errno))
            return
        }
        self = isInside ? .some(name: name) : .none
    }

    /// Whether the caller's namespace differs from that of the host's programs; absent if this kernel has no
    /// such namespaces.
    static func isApart(
        _ evidence: Evidence, _ kind: KeyPath<Evidence.Namespaces, Observation<UInt64>>
    ) -> Observation<Bool> {
        let peer = evidence.namespaces[keyPath: kind]
        let first = evidence.initNamespaces[keyPath: kind]
        let host: Observation<UInt64>
        switch evidence.vantage {
        // In session mode the broker is an ordinary program of the user, in the host programs' namespaces. An ordinary
        // user cannot read process 1's namespaces.
        case .session:
            if case .found = first, first == peer { return .found(false) }
            host = evidence.ownNamespaces[keyPath: kind]
        // The system's broker has namespaces of its own, so process 1 is the reference.
        case .system: host = first
        }
        return switch (peer, host) {
        case (.found(let peer), .found(let host)): .found(peer != host)
        case (.absent, .absent): .absent
        case (.unreadable(let errno), _), (_, .unreadable(let errno)): .unreadable(errno: errno)
        // The kernel reported such a namespace for only one of the two processes, so one result is wrong.
        case (.found, .absent), (.absent, .found): .unreadable(errno: ENOENT)
        }
    }
}

/// A label that snapd sets: `snap.NAME.APP (MODE)`.
struct SnapLabel: Hashable {
    /// `snap.NAME`, if the label contains a name.
    let snap: String?
    /// Whether the kernel enforces the profile. In other modes, such as `complain`, it only logs violations.
    let isEnforced: Bool

    /// `nil` for a label that snapd did not set.
    init?(_ label: String) {
        guard label.hasPrefix("snap.") else { return nil }
        let words = label.split(separator: " ", omittingEmptySubsequences: false)
        let names = words[0].split(separator: ".", omittingEmptySubsequences: false)
        snap = names.count >= 3 && !names[1].isEmpty && !names[2].isEmpty ? "snap.\(names[1])" : nil
        isEnforced = words.count == 2 && words[1] == "(enforce)"
    }
}
