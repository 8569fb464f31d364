import BrokerAccessControl

/// The grants in memory. Work on one user's grants, or on those of one app, touches no others.
struct HeldGrants {
    private var users: [UInt32: [Principal: StoredGrant]] = [:]
    /// By persistent principal, the number of grants that the app, its sessions and its processes have.
    private var apps: [Principal: Int] = [:]

    init(_ grants: [Principal: StoredGrant] = [:]) {
        for (principal, grant) in grants { self[principal] = grant }
    }

    subscript(principal: Principal) -> StoredGrant? {
        get { users[principal.uid]?[principal] }
        set {
            let count = users[principal.uid]?.count ?? 0
            users[principal.uid, default: [:]][principal] = newValue
            let change = (users[principal.uid]?.count ?? 0) - count
            if users[principal.uid]?.isEmpty == true { users[principal.uid] = nil }
            guard change != 0 else { return }
            let app = principal.bound(to: .persistent)
            let left = apps[app, default: 0] + change
            apps[app] = left == 0 ? nil : left
        }
    }

    /// Whether the app, or one of its sessions or processes, has a grant.
    func hasGrant(app: Principal) -> Bool { apps[app] != nil }

    /// The grants of one user; of all users if `uid` is `nil`.
    func grants(of uid: UInt32?) -> some Sequence<(key: Principal, value: StoredGrant)> {
        (uid.map { users[$0].map { [$0] } ?? [] } ?? Array(users.values)).lazy.joined()
    }
}
