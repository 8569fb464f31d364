import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

package typealias GrantedPrincipal = (principal: Principal, grant: Grant)

/// Lists grants for administrators and for the person's agent.
package struct GrantDescriptions {
    package let surroundings: Surroundings
    package let access: AccessStore
    package let grants: Grants

    package init(surroundings: Surroundings, access: AccessStore, grants: Grants) {
        self.surroundings = surroundings
        self.access = access
        self.grants = grants
    }

    /// The grants of one user, or of all users if `uid` is `nil`, in a stable order.
    package func grantedPrincipals(uid: UInt32?, where isMeant: (Principal) -> Bool = { _ in true })
        -> [GrantedPrincipal]
    {
        access.principals(of: uid).filter(isMeant).compactMap { principal in
            access.grant(of: principal).map { (principal, $0) }
        }
        .filter { !$0.grant.hasExpired(at: surroundings.seconds) }
        .sorted {
            ($0.principal.uid, $0.principal.app, $0.grant.revision)
                < ($1.principal.uid, $1.principal.app, $1.grant.revision)
        }
    }

    /// The grants of one user, or of all users if `uid` is `nil`, and behind them the apps without a grant about which
    /// the person chose never to be asked again. An app with a grant has no further row for that.
    package func listed(uid: UInt32?) -> [(principal: Principal, grant: Grant?)] {
        let found = grantedPrincipals(uid: uid)
        let listed = Set(found.flatMap { [$0.principal, $0.principal.bound(to: .persistent)] })
        let silenced = access.silences.principals.filter { (uid == nil || $0.uid == uid) && !listed.contains($0) }
            .sorted { ($0.uid, $0.app, $0.strength.rawValue) < ($1.uid, $1.app, $1.strength.rawValue) }
        return found.map { ($0.principal, $0.grant) } + silenced.map { ($0, nil) }
    }

    /// Writes a `Grant` of the administrator's interface, or an `AppGrant` of the agent's.
    ///
    /// - Parameter grant: `nil` if the app has no grant. Such an app is listed because the person chose
    ///   never to be asked about it again.
    private func describe(
        _ principal: Principal, _ grant: Grant?, forAdministrator: Bool, _ writer: inout JSONWriter
    ) {
        let usage = access.usage(of: principal)
        if forAdministrator { writer.member("uid", principal.uid) }
        writeApp(of: principal, &writer)
        // Administrators see the status of both the grant and the effective access. The person sees only the
        // latter.
        let decided = grant?.access.status ?? .notDetermined
        let shown = grants.shownAccess(of: grant, principal).access
        writer.member("status", (forAdministrator ? decided : shown.status).rawValue)
        var seen: Grant?
        if case .granted(let grant) = shown { seen = grant }
        writer.member("contacts", seen?.access.records.count ?? 0)
        if forAdministrator, let groups = seen?.groups.records, !groups.isEmpty {
            writer.member("groups", groups.count)
        }
        writer.member("keys", seen?.keys.grantNames)
        writer.member("changes", seen?.changes.rawValue)
        writeEnd(of: principal, seen, &writer)
        if forAdministrator {
            writer.member("sessionLeader", principal.binding.leader.map { Int($0.pid) })
            writer.member("revision", grant?.revision ?? 0)
            writer.member("decidedBy", (grant?.decidedBy ?? .person).rawValue)
            writer.member("decidedThrough", grant?.decidedThrough)
            let decidedAt = grant?.decidedAt ?? access.silences.since(principal) ?? 0
            writer.member("decidedAt", Timestamp.text(seconds: decidedAt))
            if grant != nil, shown.status != decided { writer.member("counts", shown.status.rawValue) }
        }
        if access.silences.contains(principal) || access.silences.contains(principal.bound(to: .persistent)) {
            writer.member("silenced", true)
        }
        writer.member("lastUsedAt", usage.lastUsedAt.map { Timestamp.text(seconds: $0) })
        writer.member("uses", usage.uses)
        writer.member("contactsRead", usage.contacts)
        writer.member("lastReadAt", usage.lastReadAt.map { Timestamp.text(seconds: $0) })
    }

    /// Writes what ends the grant: a time, or the terminal session or process that it is bound to.
    private func writeEnd(of principal: Principal, _ grant: Grant?, _ writer: inout JSONWriter) {
        if case .untilTime(let end)? = grant?.lifetime { writer.member("expires", Timestamp.text(seconds: end)) }
        writer.member("session", principal.binding.words)
    }

    private func writeApp(of principal: Principal, _ writer: inout JSONWriter) {
        writer.member("app", principal.app)
        writer.member("displayName", displayName(of: principal))
        writer.member("strength", principal.strength.rawValue)
    }

    /// Writes who a principal is: its user, app and identity strength, and the session or process that it is bound to.
    package func writeIdentity(of principal: Principal, _ writer: inout JSONWriter) {
        writer.member("uid", principal.uid)
        writeApp(of: principal, &writer)
        writer.member("session", principal.binding.words)
        writer.member("sessionLeader", principal.binding.leader.map { Int($0.pid) })
    }

    /// Writes a `ContactAccess` of the administrator's interface.
    ///
    /// - Parameter effective: the grant with the policy applied.
    package func writeAccess(_ principal: Principal, _ effective: Grant, _ writer: inout JSONWriter) {
        writeApp(of: principal, &writer)
        writer.member("status", effective.access.status.rawValue)
        writer.member("keys", effective.keys.grantNames)
        writeEnd(of: principal, effective, &writer)
        writer.member("sessionLeader", principal.binding.leader.map { Int($0.pid) })
    }

    package func write(
        _ grants: [(principal: Principal, grant: Grant?)], forAdministrator: Bool, _ writer: inout JSONWriter
    ) {
        writer.name("grants")
        writer.array(grants) { writer, entry in
            writer.object { describe(entry.0, entry.1, forAdministrator: forAdministrator, &$0) }
        }
    }

    /// The app's name when its grant was decided. If no name is stored, returns the executable's file name if
    /// a path identifies the app, and otherwise the app's identifier.
    package func displayName(of principal: Principal) -> String {
        if let name = access.displayName(of: principal) { return name }
        guard let path = principal.path else { return principal.app }
        return path.split(separator: "/").last.map(String.init) ?? principal.app
    }

    package func matching(_ apps: AppParameters, _ session: CallerSession) -> [GrantedPrincipal] {
        grantedPrincipals(uid: apps.users.user(session.caller)) { apps.isAbout($0.strength, $0.app) }
    }
}

extension Principal.Binding {
    /// Words that distinguish a grant bound to a terminal session or process from the app's other grants;
    /// `nil` for a persistent grant.
    package var words: String? {
        switch self {
        case .persistent: nil
        case .session(let session): "terminal session of process \(session.leader.pid)"
        case .process(let process): "process \(process.pid)"
        }
    }

    /// The leader of the terminal session that the grant is bound to; `nil` if it is bound to none.
    var leader: ProcessIdentity? {
        if case .session(let session) = self { session.leader } else { nil }
    }
}
