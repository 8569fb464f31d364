import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// The broker without its sockets: makes its services, and hands each call to the one that answers. It lives on the loop.
///
/// What is mutable has its owner among them: ``access`` what was decided and what is on record, ``grants`` what counts of it, ``books``
/// the contacts, ``prompts`` what the person is being asked, ``turn`` what waits for the commit.
public final class Broker {
    let surroundings: Surroundings
    let access: AccessStore
    let feed: AuditFeed
    let turn: Turn
    let history: History
    let books: Books
    let sessions = Sessions()
    let grants: Grants
    let longReads: LongReads
    let thumbnails: Thumbnails
    let prompts: Prompts
    let passwords: Passwords
    let reloads: PolicyReloads
    let app: AppServices
    private let apps: AppDoor
    private let agents: AgentDoor
    private let administrators: AdminDoor
    private let recovery: SaveRecovery
    private let purges: Purges

    /// - Parameter access: the open store; the broker closes it.
    public init(surroundings: Surroundings, limits: Limits = Limits(), access: AccessStore) {
        let surroundings = surroundings.withRemarks()
        self.surroundings = surroundings
        self.access = access
        access.auditBounds = limits.audit
        access.contactsPerRecord = limits.contactsPerAuditRecord

        // Records, and what waits for them.
        feed = AuditFeed(surroundings: surroundings, limits: limits, access: access)
        let sync = AccessSync(access: access, surroundings: surroundings, feed: feed)
        turn = Turn(surroundings: surroundings, limits: limits, access: access, sync: sync, feed: feed)
        let pace = AuditPace(surroundings: surroundings, limits: limits, access: access)
        let checks = ExecutableChecks(surroundings: surroundings, limits: limits, turn: turn)
        passwords = Passwords(surroundings: surroundings, limits: limits, turn: turn, checks: checks)

        // Books, and what counts for whom.
        history = History(loop: surroundings.loop)
        let problems = StoreProblems(surroundings: surroundings, turn: turn)
        recovery = SaveRecovery(
            surroundings: surroundings, limits: limits, access: access, turn: turn, history: history)
        books = Books(
            surroundings: surroundings, limits: limits, access: access, recovery: recovery, problems: problems)
        longReads = LongReads(
            loop: surroundings.loop, restsAfter: limits.longReadsRestAfter, problems: problems)
        thumbnails = Thumbnails(surroundings: surroundings, books: books, history: history)
        grants = Grants(
            surroundings: surroundings, limits: limits, access: access, turn: turn, history: history,
            sessions: sessions, books: books)
        let saves = Saves(
            surroundings: surroundings, limits: limits, access: access, turn: turn, books: books, grants: grants,
            history: history, recovery: recovery, thumbnails: thumbnails)

        // What the person is asked.
        let descriptions = PromptDescriptions(
            surroundings: surroundings, access: access, books: books, grants: grants)
        prompts = Prompts(surroundings: surroundings, limits: limits, descriptions: descriptions)
        let questions = Questions(
            limits: limits, turn: turn, grants: grants, books: books, prompts: prompts, checks: checks,
            problems: problems)

        // Apps.
        let places = HistoryPlaces(
            surroundings: surroundings, access: access, grants: grants, history: history, longReads: longReads,
            problems: problems)
        app = AppServices(
            surroundings: surroundings, limits: limits, access: access, turn: turn, grants: grants, books: books,
            longReads: longReads, history: history, places: places, saves: saves, recovery: recovery,
            questions: questions, checks: checks, pace: pace, problems: problems)
        apps = AppDoor(app: app, reads: AppReads(app: app), prompts: AppPrompts(app: app))

        // The person's agent.
        let described = GrantDescriptions(surroundings: surroundings, access: access, grants: grants)
        let shown = ShownPrompts(books: books, prompts: prompts, problems: problems)
        let rules = PasswordRules(surroundings: surroundings, limits: limits, grants: grants)
        let answers = AgentAnswers(
            surroundings: surroundings, access: access, turn: turn, grants: grants, prompts: prompts,
            passwords: passwords, shown: shown, rules: rules,
            picks: PickAnswers(
                limits: limits, turn: turn, grants: grants, books: books, longReads: longReads, prompts: prompts,
                rules: rules),
            proposals: ProposalAnswers(
                surroundings: surroundings, access: access, turn: turn, grants: grants, books: books,
                prompts: prompts, saves: saves, problems: problems))
        agents = AgentDoor(
            surroundings: surroundings, limits: limits, access: access, grants: grants, books: books,
            prompts: prompts, passwords: passwords, problems: problems, descriptions: descriptions,
            described: described,
            searches: AgentSearches(
                limits: limits, turn: turn, grants: grants, books: books, longReads: longReads, shown: shown),
            answers: answers)

        // Administrators.
        reloads = PolicyReloads(
            surroundings: surroundings, access: access, turn: turn, grants: grants, prompts: prompts,
            sessions: sessions, history: history)
        purges = Purges(
            surroundings: surroundings, access: access, turn: turn, books: books, grants: grants, prompts: prompts,
            sessions: sessions, history: history)
        administrators = AdminDoor(
            surroundings: surroundings, access: access, turn: turn, grants: grants, prompts: prompts,
            passwords: passwords, sessions: sessions, history: history, described: described,
            changes: GrantChanges(
                surroundings: surroundings, access: access, turn: turn, grants: grants, described: described),
            explanations: Explanations(
                surroundings: surroundings, access: access, grants: grants, prompts: prompts, sessions: sessions,
                described: described),
            audit: AuditQueries(surroundings: surroundings, limits: limits, feed: feed),
            status: StatusReport(
                surroundings: surroundings, access: access, grants: grants, prompts: prompts, sessions: sessions,
                problems: problems, startedAt: surroundings.now()),
            reloads: reloads, purges: purges)

        access.userName = { [books] in books.userNames[$0] }
        access.moment = { [books] in
            SetMoment(change: books.opened($0)?.lastChange ?? 0, time: surroundings.seconds)
        }
        access.setsMoved = { [history] in history.moved() }
        begin(limits, sync, problems)
    }

    /// Settles what the last run left, and brings the policy into force.
    private func begin(_ limits: Limits, _ sync: AccessSync, _ problems: StoreProblems) {
        reportLoss()
        reloads.cameIntoForce()
        if feed.isForwarded { sync.schedule(within: limits.syncInterval) }
        purges.resume()
        recovery.resolveIntents(books)
        recovery.settle(books, problems)
        AnchorCheck(surroundings: surroundings, limits: limits, access: access, feed: feed, turn: turn).schedule()
    }

    /// The last run had records on the disk that are not there any more.
    private func reportLoss() {
        guard let loss = access.loss else { return }
        surroundings.notice(
            .recordsLost,
            "audit records are lost from \(surroundings.stateFolder)/access.sqlite: \(loss.description); every grant was "
                + "denied: compare with a backup, then run contactctl reset APP so that the person is asked again", [])
    }

    // MARK: Connections

    /// A connection is gone.
    public func closed(_ connection: any Connection) {
        guard let session = sessions.close(connection) else { return }
        session.fetches = [:]
        session.check?.giveUp?()
        session.check = nil
        books.leave(session.caller.uid)
        prompts.agentLeft(session)
    }

    /// Answers a call to one of the broker's own interfaces. The connection's context is its ``CallerSession``.
    public func answer(_ call: Call) {
        guard let session = call.connection.context as? CallerSession else {
            call.fail(.permissionDenied)
            return
        }
        guard !session.isAnotherPerson, session.door == .admin || !books.isRemoving(session.caller.uid) else {
            return call.fail(session.door == .contacts ? ContactsError.storeUnavailable : .permissionDenied)
        }
        if sessions.open(session, call.connection) { books.join(session.caller.uid) }
        switch session.door {
        case .contacts:
            recovery.recordUndelivered()
            apps.answer(call, session)
        case .agent:
            turn.catchUp()
            agents.answer(call, session)
        case .admin:
            turn.catchUp()
            administrators.answer(call, session)
        }
    }

    /// Whether what is kept for a user number is the user's who is called this now.
    public func isOwner(_ uid: UInt32, named name: String) -> Bool { purges.isOwner(uid, named: name) }

    /// Opens a user's book, if there is one, before anybody asks for it. Whoever asks finds out whether that went well.
    public func openBook(of uid: UInt32) { books.with(uid) { _ in } }

    /// Reads the policy anew, off the loop.
    public func reloadPolicy(_ done: @escaping (Policy) -> Void) { reloads.reload(done) }

    /// Closes the stores. No call is answered afterwards.
    public func close() {
        turn.sync.close()
        books.close()
        access.close(now: surroundings.now())
    }
}
