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

/// The broker without its sockets: it creates the services, and dispatches each call to one of them. It lives on the
/// event loop.
///
/// Each piece of mutable state has one owner: ``access`` holds grants and the audit, ``grants`` the effective
/// access, ``books`` the contacts, ``prompts`` the open prompts, and ``groupCommit`` the replies that wait
/// for a commit.
public final class Broker {
    package let surroundings: Surroundings
    package let access: AccessStore
    package let feed: AuditFeed
    package let groupCommit: GroupCommit
    package let history: History
    package let books: Books
    let sessions = Sessions()
    package let grants: Grants
    package let longReads: LongReads
    package let thumbnails: Thumbnails
    package let prompts: Prompts
    package let passwords: Passwords
    package let reloads: PolicyReloads
    package let app: AppServices
    let folders: DeclaredFolders
    private let apps: AppDispatcher
    private let agents: AgentDispatcher
    private let administrators: AdminDispatcher
    private let recovery: SaveRecovery
    private let purges: Purges
    private let restores: Restores
    private let metrics: Metrics
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
        let surroundings = surroundings.withLogLimit()
        self.surroundings = surroundings
        self.access = access
        access.audit.bounds = surroundings.limits.audit
        access.audit.isUser = surroundings.isUser
        access.contactsPerRecord = surroundings.limits.contactsPerAuditRecord

        // The audit, executable checks and password requests.
        feed = AuditFeed(surroundings: surroundings, access: access)
        let sync = AccessSync(access: access, surroundings: surroundings, feed: feed, sync: disk)
        history = History(loop: surroundings.loop)
        groupCommit = GroupCommit(surroundings: surroundings, access: access, sync: sync, feed: feed, history: history)
        let pace = AuditPace(surroundings: surroundings, access: access)
        let checks = ExecutableChecks(surroundings: surroundings, groupCommit: groupCommit)
        passwords = Passwords(surroundings: surroundings, groupCommit: groupCommit, checks: checks)

        // Books and effective access.
        let problems = StoreProblems(surroundings: surroundings, groupCommit: groupCommit)
        recovery = SaveRecovery(surroundings: surroundings, access: access, groupCommit: groupCommit, history: history)
        let shares = GroupShares(
            surroundings: surroundings, access: access, groupCommit: groupCommit, history: history)
        books = Books(
            surroundings: surroundings, access: access, recovery: recovery, shares: shares, problems: problems)
        longReads = LongReads(
            loop: surroundings.loop, releasesMemoryAfter: surroundings.limits.releasesLongReadsAfter, problems: problems
        )
        thumbnails = Thumbnails(surroundings: surroundings, books: books, history: history)
        grants = Grants(
            surroundings: surroundings, access: access, groupCommit: groupCommit, history: history, sessions: sessions,
            books: books, shares: shares)
        folders = DeclaredFolders(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, sessions: sessions,
            history: history)
        let saves = Saves(
            surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, grants: grants,
            history: history,
            recovery: recovery, thumbnails: thumbnails)

        // Prompts.
        let descriptions = PromptDescriptions(surroundings: surroundings, access: access, books: books, grants: grants)
        prompts = Prompts(surroundings: surroundings, descriptions: descriptions)
        let questions = Questions(
            groupCommit: groupCommit, grants: grants, books: books, prompts: prompts, checks: checks, problems: problems
        )

        // Apps.
        let places = HistoryPlaces(
            surroundings: surroundings, access: access, grants: grants, history: history, longReads: longReads,
            problems: problems)
        app = AppServices(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, books: books,
            longReads: longReads,
            history: history, places: places, saves: saves, recovery: recovery, questions: questions, checks: checks,
            pace: pace, problems: problems)
        apps = AppDispatcher(app: app, reads: AppReads(app: app), prompts: AppPrompts(app: app))

        // The agent's socket.
        let described = GrantDescriptions(surroundings: surroundings, access: access, grants: grants)
        let shown = ShownPrompts(books: books, prompts: prompts, problems: problems)
        let rules = PasswordRules(surroundings: surroundings, access: access, grants: grants)
        let answers = AgentAnswers(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, prompts: prompts,
            passwords: passwords, shown: shown, rules: rules,
            picks: PickAnswers(
                surroundings: surroundings, groupCommit: groupCommit, grants: grants, books: books,
                longReads: longReads,
                prompts: prompts, rules: rules),
            proposals: ProposalAnswers(
                surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, books: books,
                prompts: prompts,
                saves: saves, problems: problems))
        agents = AgentDispatcher(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, books: books,
            prompts: prompts, passwords: passwords, problems: problems, descriptions: descriptions,
            described: described,
            searches: AgentSearches(
                surroundings: surroundings, groupCommit: groupCommit, grants: grants, books: books,
                longReads: longReads,
                shown: shown),
            answers: answers,
            folders: AgentFolders(
                surroundings: surroundings, access: access, prompts: prompts, groupCommit: groupCommit,
                folders: folders))

        // The administrator's socket.
        reloads = PolicyReloads(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, prompts: prompts,
            sessions: sessions, history: history)
        purges = Purges(
            surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, grants: grants,
            prompts: prompts,
            sessions: sessions, history: history)
        let changes = GrantChanges(
            surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, grants: grants,
            described: described)
        let lookUps = ContactLookUps(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, sessions: sessions,
            books: books, longReads: longReads, problems: problems, described: described, feed: feed)
        restores = Restores(
            surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, longReads: longReads,
            saves: saves,
            restored: RestoredGrants(surroundings: surroundings, access: access, grants: grants, changes: changes))
        metrics = Metrics(
            surroundings: surroundings, access: access, prompts: prompts, grants: grants, sessions: sessions,
            saves: saves)
        administrators = AdminDispatcher(
            surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants, prompts: prompts,
            passwords: passwords, sessions: sessions, history: history, described: described, changes: changes,
            explanations: Explanations(
                surroundings: surroundings, access: access, grants: grants, prompts: prompts, sessions: sessions,
                described: described),
            audit: AuditQueries(surroundings: surroundings, feed: feed), lookUps: lookUps,
            contactChanges: GrantedContactChanges(
                surroundings: surroundings, access: access, groupCommit: groupCommit, grants: grants,
                described: described, changes: changes, lookUps: lookUps),
            status: StatusReport(
                surroundings: surroundings, access: access, grants: grants, prompts: prompts, sessions: sessions,
                problems: problems, startedAt: surroundings.now()),
            reloads: reloads,
            policies: PolicyEffects(
                surroundings: surroundings, grants: grants, sessions: sessions, described: described),
            purges: purges,
            backUps: BackUps(
                surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, problems: problems),
            restores: restores, metrics: metrics)

        heads = AuditHeads(surroundings: surroundings, access: access, sync: sync)
        alarms = Alarms(surroundings: surroundings, access: access, groupCommit: groupCommit, books: books, feed: feed)
        retention = AuditRetention(
            surroundings: surroundings, access: access, groupCommit: groupCommit, feed: feed, sync: sync)
        begin(sync, problems)
    }

    /// Completes the work that an earlier run left unfinished, and applies the policy.
    private func begin(_ sync: AccessSync, _ problems: StoreProblems) {
        reportLoss()
        reloads.cameIntoForce()
        folders.scheduleExpiry()
        if feed.isForwarded { sync.schedule(within: surroundings.limits.syncInterval) }
        purges.resume()
        restores.removeLeftovers()
        recovery.resolveIntents(books)
        recovery.settle(books, problems)
        AnchorCheck(surroundings: surroundings, feed: feed, groupCommit: groupCommit).schedule()
        heads.schedule()
        books.onOpening = { [weak thumbnails] in thumbnails?.enqueue(at: $0, of: $1) }
        groupCommit.onAccess = { [weak prompts] uid in
            for uid in uid.map({ [$0] }) ?? prompts.map({ Array($0.users.keys) }) ?? [] { prompts?.accessChanged(uid) }
        }
        groupCommit.onDisclosure = { [weak alarms] in alarms?.disclosed($0, to: $1) }
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
        restores.end(session)
        session.check?.giveUp?()
        session.check = nil
        books.leave(session.caller.uid)
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
        guard folders.stillIdentifies(session.caller) else {
            groupCommit.record(.refusal, of: session.caller, detail: "folder no longer declared")
            return call.connection.close()
        }
        guard !session.isAnotherPerson, session.interface == .admin || !books.isRemoving(session.caller.uid) else {
            return call.fail(session.interface == .contacts ? ContactsError.storeUnavailable : .permissionDenied)
        }
        if sessions.open(session, call.connection) {
            books.join(session.caller.uid)
            if session.interface == .contacts { alarms.connected(session.caller) }
        }
        metrics.begin(call)
        switch session.interface {
        case .contacts:
            recovery.recordUndelivered()
            apps.answer(call, session)
        case .agent:
            groupCommit.catchUp()
            agents.answer(call, session)
        case .admin:
            groupCommit.catchUp()
            administrators.answer(call, session)
        }
    }

    /// Whether the stored data for a UID belongs to the user with this name.
    public func isOwner(_ uid: UInt32, named name: String) -> Bool { purges.isOwner(uid, named: name) }

    /// The folders of a user that are declared. A caller that is judged by a folder whose declaration ends meanwhile is
    /// disconnected at its first call.
    public func declaredFolders(of uid: UInt32) -> [DeclaredFolder] { folders.present(of: uid) }

    /// Opens a user's book, if there is one, before the first call needs it. If that fails, the next call
    /// that needs the book tries again.
    public func openBook(of uid: UInt32) { books.with(uid) { _ in } }

    /// Reloads the policy. The files are read off the event loop; `done` runs once the new policy is in
    /// force.
    public func reloadPolicy(_ done: @escaping (Policy) -> Void) { reloads.reload(done) }

    /// Closes the stores. No call can be answered afterwards.
    public func close() {
        groupCommit.close()
        feed.close()
        books.close()
        if let last = access.close(now: surroundings.now()) { heads.report(last) }
    }
}
