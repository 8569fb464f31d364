import Glibc

/// Whether a caller looks as if it were in a sandbox. Any one sign is enough: a program that makes itself look
/// sandboxed loses by it, one that hides a sandbox would gain.
///
/// Confinement that leaves no mark outside of the process, such as seccomp(2) or landlock(7) alone, is not seen.
enum Sandbox: Hashable {
    case none
    /// In one, with its name where label or control group tell it.
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

        // Last, because it is the hardest to come by for a program that is not what it says.
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

    /// Whether the caller lies in another namespace than the host's programs. Absent: this kernel has no such
    /// namespaces.
    static func isApart(
        _ evidence: Evidence, _ kind: KeyPath<Evidence.Namespaces, Reading<UInt64>>
    ) -> Reading<Bool> {
        let peer = evidence.namespaces[keyPath: kind]
        let first = evidence.initNamespaces[keyPath: kind]
        let host: Reading<UInt64>
        switch evidence.vantage {
        // In session mode the broker is an ordinary program of the user's and lies where the host's programs lie; where
        // process 1 lies an ordinary user cannot read.
        case .session:
            if case .found = first, first == peer { return .found(false) }
            host = evidence.ownNamespaces[keyPath: kind]
        // The system's broker lies in namespaces of its own.
        case .system: host = first
        }
        return switch (peer, host) {
        case (.found(let peer), .found(let host)): .found(peer != host)
        case (.absent, .absent): .absent
        case (.unreadable(let errno), _), (_, .unreadable(let errno)): .unreadable(errno: errno)
        // One has what the other lacks: a reading went wrong.
        case (.found, .absent), (.absent, .found): .unreadable(errno: ENOENT)
        }
    }
}

/// `snap.NAME.APP (MODE)`, the label that snapd gives.
struct SnapLabel: Hashable {
    /// `snap.NAME`, as far as it tells one.
    let snap: String?
    /// The kernel holds the program to it. In another mode, `complain`, it only takes note.
    let isEnforced: Bool

    /// `nil` for any other label.
    init?(_ label: String) {
        guard label.hasPrefix("snap.") else { return nil }
        let words = label.split(separator: " ", omittingEmptySubsequences: false)
        let names = words[0].split(separator: ".", omittingEmptySubsequences: false)
        snap = names.count >= 3 && !names[1].isEmpty && !names[2].isEmpty ? "snap.\(names[1])" : nil
        isEnforced = words.count == 2 && words[1] == "(enforce)"
    }
}
