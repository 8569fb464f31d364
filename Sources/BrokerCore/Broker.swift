import BrokerAccessControl
import BrokerAccessStore
import BrokerAdminCalls
import BrokerAppCalls
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerPersonCalls
import BrokerVarlink

/// The broker without its sockets: it dispatches each call to the services. It lives on the event loop.
public final class Broker: UsesServices {
    package let services: BrokerServices
    private let apps: AppDispatcher
    private let agents: AgentDispatcher
    package let administrators: AdminDispatcher
    private let heads: AuditHeads
    private let alarms: Alarms
    private let retention: AuditRetention

    /// - Parameters:
    ///   - access: the open access store. ``close()`` closes it.
    ///   - disk: syncs committed data; if `nil`, the broker uses the store's own sync.
    public init(
        surroundings: Surroundings, access: AccessStore,
        disk: (@Sendable (Committed) throws(AccessStoreError) -> Void)? = nil
    ) {
        services = BrokerServices(surroundings: surroundings, access: access, disk: disk)
        apps = AppDispatcher(services: services)
        agents = AgentDispatcher(services: services)
        administrators = AdminDispatcher(services: services)
        let (surroundings, groupCommit, feed) = (services.surroundings, services.groupCommit, services.feed)
        heads = AuditHeads(surroundings: surroundings, access: access, sync: groupCommit.sync)
        alarms = Alarms(services: services)
        retention = AuditRetention(
            surroundings: surroundings, access: access, groupCommit: groupCommit, feed: feed, sync: groupCommit.sync)
        begin()
    }

    /// Completes the work that an earlier run left unfinished, and applies the policy.
    private func begin() {
        reportLoss()
        administrators.reloads.cameIntoForce()
        folders.scheduleExpiry()
        if feed.isForwarded { groupCommit.sync.schedule(within: services.limits.syncInterval) }
        administrators.purges.resume()
        administrators.restores.removeLeftovers()
        recovery.resolveIntents(books)
        recovery.settle(books, problems)
        AnchorCheck(surroundings: surroundings, feed: feed, groupCommit: groupCommit).schedule()
        heads.schedule()
        books.onOpening = { [weak thumbnails] in thumbnails?.enqueue(at: $0, of: $1) }
        groupCommit.onAccess = { [weak prompts] uid in
            for uid in uid.map({ [$0] }) ?? prompts.map({ Array($0.users.keys) }) ?? [] { prompts?.accessChanged(uid) }
        }
        groupCommit.onDisclosure = { [weak alarms] in alarms?.disclosed($0, to: $1) }
        saves.onMade = { [weak alarms, weak prompts] in
            alarms?.changed($0, by: $1)
            prompts?.showAnew(after: $0, uid: $1.uid)
        }
        alarms.begin()
        retention.begin()
    }

    /// Reports audit records that were synced in an earlier run but are missing from the audit.
    private func reportLoss() {
        guard let loss = access.loss else { return }
        surroundings.notice(
            .recordsLost,
            "audit records are lost from \(surroundings.stateFolder)/access.sqlite: \(loss.description); every grant was "
                + "denied; compare the file with a backup, then run contactctl reset APP to have the person asked again",
            [])
    }

    // MARK: Connections

    /// Releases the state that the broker keeps for a connection. Call this once the connection has closed.
    public func closed(_ connection: any Connection) {
        guard let session = sessions.close(connection) else { return }
        session.dropLists()
        administrators.restores.end(session)
        session.check?.giveUp?()
        session.check = nil
        books.leave(session.caller.uid)
        services.cardDAV.closed(session)
        if prompts.agentLeft(session) { groupCommit.record(.agent, of: session.caller, detail: "left") }
    }

    /// Answers a call to one of the broker's interfaces. The connection's context must be its
    /// ``CallerSession``; otherwise the call fails. If the process that connected has ended, the connection is closed.
    public func answer(_ call: Call) {
        guard let session = call.connection.context as? CallerSession else {
            call.fail(.permissionDenied)
            return
        }
        guard !session.hasEnded() else { return call.connection.close() }
        guard services.folders.stillIdentifies(session.caller) else {
            services.groupCommit.record(.refusal, of: session.caller, detail: "folder no longer declared")
            return call.connection.close()
        }
        guard services.cardDAV.isStillOpen(session) else { return call.connection.close() }
        guard !session.isAnotherPerson, session.interface == .admin || !services.books.isRemoving(session.caller.uid)
        else {
            return call.fail(session.interface == .contacts ? ContactsError.storeUnavailable : .permissionDenied)
        }
        if services.sessions.open(session, call.connection) {
            services.books.join(session.caller.uid)
            if session.interface == .contacts { alarms.connected(session.caller) }
        }
        administrators.metrics.begin(call)
        switch session.interface {
        case .contacts:
            services.recovery.recordUndelivered()
            apps.answer(call, session)
        case .agent:
            services.groupCommit.catchUp()
            agents.answer(call, session)
        case .admin:
            services.groupCommit.catchUp()
            administrators.answer(call, session)
        case .cardDAV: CardDAVDispatcher(services: services).answer(call, session)
        }
    }

    /// Whether the stored data for a UID belongs to the user with this name.
    public func isOwner(_ uid: UInt32, named name: String) -> Bool { administrators.purges.isOwner(uid, named: name) }

    /// The folders of a user that are declared. A caller that is judged by a folder whose declaration ends meanwhile is
    /// disconnected at its first call.
    public func declaredFolders(of uid: UInt32) -> [DeclaredFolder] { folders.present(of: uid) }

    /// Opens a user's book, if there is one, before the first call needs it. If that fails, the next call
    /// that needs the book tries again.
    public func openBook(of uid: UInt32) { books.with(uid) { _ in } }

    /// Reloads the policy. The files are read off the event loop; `done` runs once the new policy is in
    /// force.
    public func reloadPolicy(_ done: @escaping (Policy) -> Void) { administrators.reloads.reload(done) }

    /// Closes the stores. No call can be answered afterwards.
    public func close() {
        groupCommit.close()
        feed.close()
        books.close()
        if let last = access.close(now: surroundings.now()) { heads.report(last) }
    }
}
