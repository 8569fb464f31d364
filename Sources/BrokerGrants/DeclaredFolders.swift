import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerLedger
import BrokerVarlink

/// The folders that the person declared, and the end of their declarations. It lives on the event loop.
///
/// The system's broker has no declared folders, whatever its database says.
package final class DeclaredFolders {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let grants: Grants
    private let sessions: Sessions
    private let history: History
    /// The timer for the next declaration that ends.
    private var expiry: (any Scheduled)?

    package init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, grants: Grants, sessions: Sessions,
        history: History
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.grants = grants
        self.sessions = sessions
        self.history = history
    }

    /// The folders of a user whose declaration has not ended, ordered by path.
    package func present(of uid: UInt32) -> [DeclaredFolder] {
        guard surroundings.mode == .session else { return [] }
        return access.declarations.folders(of: uid).filter { $0.ends > surroundings.seconds }
    }

    /// Whether the folder that identified this caller is still declared. `true` for a caller of any other strength.
    package func stillIdentifies(_ caller: Caller) -> Bool {
        guard caller.strength == .declared else { return true }
        let path = caller.declaredFolder
        return present(of: caller.uid).contains { $0.path == path }
    }

    /// The declaration of a folder that begins now and lasts for ``Limits/declaredFolderLasts``.
    package func declaration(of found: FoundFolder, by uid: UInt32) -> DeclaredFolder {
        DeclaredFolder(
            uid: uid, path: found.path, identity: found.identity,
            ends: surroundings.seconds + surroundings.limits.declaredFolderLasts.components.seconds)
    }

    /// Declares a folder, in place of an earlier declaration.
    ///
    /// - Parameter done: whether the declaration is on disk. If it could not be written, it has no effect.
    package func declare(_ folder: DeclaredFolder, by agent: CallerSession, done: @escaping (Bool) -> Void) {
        let former = access.declarations.folder(at: folder.path, of: folder.uid)
        // Another folder at the same path: what was shared with programs of the former one ends.
        if let former, former.identity != folder.identity { end(former, "replaced") }
        access.declarations.declare(folder)
        record(folder, "declared for 7 days, " + AnswerSource(agent).words)
        history.moved(folder.uid)
        scheduleExpiry()
        let failed = { [self] in
            if access.declarations.folder(at: folder.path, of: folder.uid) == folder { end(folder, "not on disk") }
            done(false)
        }
        groupCommit.work(
            committed: { [groupCommit] in groupCommit.sync.onDisk { $0 ? done(true) : failed() } }, failed: failed)
    }

    /// Ends a declaration. Access of the folder's programs is revoked, and their connections are closed. They may connect
    /// again, and are then unverified.
    package func end(_ folder: DeclaredFolder, _ detail: String) {
        access.declarations.end(folder)
        record(folder, detail)
        for principal in access.principals(of: folder.uid) where principal.declaredFolder == folder.path {
            // A denial gives no access. It applies again if the person declares the folder again.
            guard let grant = access.grant(of: principal), grant.access != .denied else { continue }
            grants.endGrant(principal, detail: "folder no longer declared")
        }
        history.moved(folder.uid)
        for session in sessions.apps
        where session.caller.uid == folder.uid && session.caller.declaredFolder == folder.path {
            session.connection?.close()
        }
        scheduleExpiry()
    }

    private func record(_ folder: DeclaredFolder, _ detail: String) {
        groupCommit.record(.declaration, uid: folder.uid, app: folder.path, strength: .declared, detail: detail)
    }

    /// Schedules the timer for the next declaration that ends. The timer runs for a day at most, because somebody may set
    /// the clock.
    package func scheduleExpiry() {
        expiry?.cancel()
        expiry = nil
        guard surroundings.mode == .session,
            let next = access.declarations.folders(of: surroundings.ownUID).map(\.ends).min()
        else { return }
        let now = surroundings.seconds
        let wait = next > now ? min(next - now, 86_400) : 0
        expiry = surroundings.loop.later(after: .seconds(wait)) { [weak self] in self?.expire() }
    }

    private func expire() {
        expiry = nil
        for folder in access.declarations.folders(of: surroundings.ownUID) where folder.ends <= surroundings.seconds {
            end(folder, "expired")
        }
        scheduleExpiry()
    }
}
