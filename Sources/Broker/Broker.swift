import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import ContactsStore
import Policy
import Varlink

/// Answers calls: asks for the decision, does it, records it. It lives on the loop and knows no socket.
///
/// What is mutable has its owner here: ``access`` what was decided and what is on record, ``policy`` what the administrator
/// rules, ``books`` the contacts, ``prompts`` what the person is being asked, ``turn`` what waits for the commit.
public final class Broker {
    let surroundings: Surroundings
    let limits: Limits
    let access: AccessStore
    let books: Books
    let longReads: LongReads
    let turn: Turn
    let prompts: Prompts
    let auditPace: AuditPace
    var auditFollowers: [AuditFollower] = []
    var auditForwarder: AuditForwarder?
    let history: History
    let thumbnails: Thumbnails
    /// Passwords that are wanted just now.
    var passwords = Passwords()
    let startedAt: Int64

    private(set) var sessions: [ObjectIdentifier: CallerSession] = [:]
    /// Counts every change of any grant, so that what was worked out from them is known to be stale.
    private(set) var grantsEpoch = 0
    /// What the administrator rules.
    var policy: PolicyInForce
    /// Grants that are over by the policy alone, by the revision as of which that was told.
    var endedByPolicy: [Principal: Int64] = [:]
    /// Principals whose new grant is not on the disk yet, and the calls that wait for it to count.
    private var settling: [Principal: [() -> Void]] = [:]
    /// What users are called, as of when they last connected, or else when their book was opened; always looked up off the loop.
    var userNames: [UInt32: String] = [:]
    /// Users whose purge is on its way.
    var purging: Set<UInt32> = []
    /// What was wrong with a book last.
    var lastProblem: StoreProblem?
    /// What ends when a process or a terminal session ends.
    private var watches: [Principal: AnyObject] = [:]
    let accessSync: AccessSync
    /// See ``retryRecording()``.
    var isRetryScheduled = false
    /// When the next grant runs out.
    var expiry: (any Scheduled)?
    private var savesWaiting: [UInt32: Int] = [:]
    /// Saves that wait for the one that is on its way; there is an entry while one is.
    private var saves: [UInt32: [() -> Void]] = [:]

    /// - Parameter access: the open store; the broker closes it.
    public init(surroundings: Surroundings, limits: Limits = Limits(), access: AccessStore) {
        let surroundings = surroundings.withRemarks()
        self.surroundings = surroundings
        self.limits = limits
        self.access = access
        startedAt = surroundings.now()
        books = Books(
            folder: surroundings.stateFolder, loop: surroundings.loop, uptime: surroundings.uptime,
            userName: surroundings.userName, forgetsAfter: limits.forgetsAfter, restsAfter: limits.restsAfter,
            closesAfter: limits.closesBooksAfter, log: surroundings.log)
        books.region = surroundings.region
        books.readBound = (limits.stepsPerTurn, limits.timePerRead)
        longReads = LongReads(loop: surroundings.loop, restsAfter: limits.longReadsRestAfter)
        turn = Turn(surroundings: surroundings, limits: limits, access: access)
        accessSync = AccessSync(access: access, loop: surroundings.loop, log: surroundings.log)
        prompts = Prompts(surroundings: surroundings, limits: limits)
        access.auditBounds = limits.audit
        access.contactsPerRecord = limits.contactsPerAuditRecord
        auditPace = AuditPace(surroundings: surroundings, limits: limits, access: access)
        history = History(loop: surroundings.loop)
        thumbnails = Thumbnails(surroundings: surroundings, books: books, history: history)
        policy = PolicyInForce(
            surroundings.readPolicy(), revision: access.nextRevision(), loadedAt: surroundings.now() / 1_000_000,
            surroundings)
        prompts.describe = { [weak self] prompt, waiting, expires in
            self?.describe(prompt, waiting: waiting, expires: expires) ?? Array("{}".utf8)
        }
        turn.didCommit = { [weak self] in
            guard let self else { return }
            accessSync.schedule(within: self.limits.syncInterval)
            tellFollowers()
        }
        access.userName = { [weak self] uid in self?.userNames[uid] }
        books.knownName = { [weak self] uid in self?.userNames[uid] }
        books.learnName = { [weak self] uid, name in
            // A number in place of a name may be a failure that passes.
            guard let self, userNames[uid] == nil, name != "\(uid)" else { return }
            userNames[uid] = name
        }
        access.moment = { [weak self] uid in
            SetMoment(change: self?.books.opened(uid)?.lastChange ?? 0, time: self?.seconds ?? 0)
        }
        turn.onDisk = { [weak self] done in self?.onDisk(done) }
        turn.filesAreGone = { [weak self] error in self?.recordsAreNotKept(error) }
        accessSync.synced = { [weak self] in self?.auditForwarder?.onDisk(upTo: $0.position.sequence) }
        accessSync.failed = { [weak self] in self?.recordsAreNotKept($0) }
        reportLoss()
        access.setsMoved = { [weak self] in self?.grantsChanged() }
        books.takeOver = { [weak self] uid, entries in self?.takeOver(entries, of: uid) }
        books.noteDamage = { [weak self] uid, card in self?.note(card, of: uid) }
        books.rested = { [weak self] in self?.access.rest() }
        books.mayClose = { [weak self] _ in self?.access.hasUndelivered != true }
        policyCameIntoForce()
        auditForwarder = surroundings.auditKeeper.map { AuditForwarder($0, broker: self) }
        if auditForwarder != nil { accessSync.schedule(within: limits.syncInterval) }
        resumePurges()
        recoverSaves()
        settleBooks()
        checkAnchors()
    }

    // MARK: Connections

    /// A connection is gone.
    public func closed(_ connection: any Connection) {
        guard let session = sessions.removeValue(forKey: ObjectIdentifier(connection)) else { return }
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
        if session.connection == nil {
            session.connection = call.connection
            sessions[ObjectIdentifier(call.connection)] = session
            books.join(session.caller.uid)
        }
        switch session.door {
        case .contacts:
            recordUndelivered()
            answerApp(call, session)
        case .agent:
            turn.catchUp()
            answerAgent(call, session)
        case .admin:
            turn.catchUp()
            answerAdministrator(call, session)
        }
    }

    /// Closes the stores. No call is answered afterwards.
    public func close() {
        accessSync.close()
        books.close()
        access.close(now: surroundings.now())
    }

    /// Grants changed in the access store.
    func grantsChanged() {
        grantsEpoch += 1
        history.moved()
    }

    // MARK: Grants

    /// Some grant waits for the disk.
    var isSettling: Bool { !settling.isEmpty }

    /// Whether a grant of this caller waits for the disk. The call then runs when it is there.
    func waitsForGrant(_ session: CallerSession, _ call: @escaping () -> Void) -> Bool {
        guard !settling.isEmpty else { return false }
        for principal in session.caller.principals where settling[principal] != nil {
            settling[principal]?.append(call)
            return true
        }
        return false
    }

    /// Makes what the person decided hold: in the store, on the record, on the disk, in this order; only then
    /// does it count.
    ///
    /// - Parameter settled: whether it holds. If it could not be written it does not.
    func settle(
        _ grant: Grant, for principal: Principal, displayName: String, sharesStandingKey: Bool,
        settled: @escaping (Bool) -> Void
    ) {
        do {
            _ = try access.makeIdentifiers(for: principal, sharesStandingKey: sharesStandingKey)
        } catch {
            surroundings.log("no key for an app's identifiers: \(error)")
            settled(false)
            return
        }
        let former = access.grant(of: principal)
        access.setGrant(grant, for: principal, displayName: displayName)
        grantsChanged()
        if let former, isNarrower(grant, than: former, for: principal) { narrowed(principal) }
        let set = grant.access.records
        turn.record(.grant, of: principal, naming: set.subtracting(former?.access.records ?? [])) {
            $0.status = grant.access.status
            $0.keys = grant.keys
            $0.revision = grant.revision
            if grant.access.status == .limited { $0.count = set.count }
            $0.detail = grant.lifetime.kind.rawValue
        }
        watch(principal)
        settling[principal, default: []] += []
        turn.work(
            committed: { [weak self] in
                self?.onDisk { [weak self] isOnDisk in
                    guard let self else { return }
                    let settledGrant = access.grant(of: principal)
                    let isStanding = settledGrant?.revision == grant.revision
                    // What cannot be kept does not count; but a no is a no for as long as the broker runs.
                    if !isOnDisk, isStanding, grant.access != .denied { takeBack(principal, detail: "not on disk") }
                    release(principal)
                    // Meanwhile its session may have ended, or an administrator taken it back.
                    settled(isOnDisk && settledGrant != nil)
                }
            },
            failed: { [weak self] in
                self?.grantsChanged()
                self?.release(principal)
                settled(false)
            })
    }

    private func release(_ principal: Principal) {
        let waiting = settling.removeValue(forKey: principal) ?? []
        for call in waiting { call() }
    }

    /// Ends the grants of what has ended: a terminal session, a process.
    private func watch(_ principal: Principal) {
        switch principal.binding {
        case .standing: return
        case .session, .process: break
        }
        guard watches[principal] == nil else { return }
        let watch = surroundings.watch(principal.binding) { [weak self] in
            self?.takeBack(principal, detail: "ended")
        }
        if let watch {
            watches[principal] = watch
        } else {
            takeBack(principal, detail: "ended")
        }
    }

    func endWatch(of principal: Principal) { watches[principal] = nil }

    /// Takes a grant back whole: the person is asked again. A bound principal's own identifiers go with it; those
    /// that a terminal session shares with the app's standing principal stay.
    func takeBack(_ principal: Principal, detail: String) {
        endWatch(of: principal)
        guard access.grant(of: principal) != nil else { return }
        access.removeGrant(of: principal)
        turn.record(.revocation, of: principal, { $0.status = .notDetermined }, detail: detail)
        narrowed(principal)
        turn.work(committed: { [weak self] in self?.onDisk { _ in } })
    }

    /// A grant became narrower, or is gone: once this returns, the kernel is handed no further byte of what was
    /// taken back.
    func narrowed(_ principal: Principal) {
        grantsChanged()
        var withheld = turn.withdraw(principal, ContactsError.accessDenied)
        for session in sessions.values where session.door == .contacts {
            guard session.disclosedUnder.contains(principal) else { continue }
            withheld += session.connection?.withdraw(ContactsError.accessDenied) ?? 0
            for fetch in session.fetches.values { withheld += fetch.end() }
        }
        if withheld > 0 {
            turn.record(.withheld, of: principal) { $0.count = withheld }
        }
    }

    // MARK: Saves of one user

    /// Takes a place in the user's queue of saves; `false` if all are taken.
    func beginWaitingToSave(_ uid: UInt32) -> Bool {
        guard savesWaiting[uid, default: 0] < limits.savesWaiting else { return false }
        savesWaiting[uid, default: 0] += 1
        return true
    }

    func cancelWaitingToSave(_ uid: UInt32) {
        savesWaiting[uid, default: 1] -= 1
    }

    /// Runs the save when no other one of the user is on its way to the book, so that it is decided by what holds then.
    func whenItsTurnToSave(_ uid: UInt32, _ save: @escaping () -> Void) {
        guard saves[uid] != nil else {
            saves[uid] = []
            return save()
        }
        saves[uid]?.append(save)
    }

    /// Whether the next save of the user would wait for one that is on its way, and for no other.
    func isNextToSave(_ uid: UInt32) -> Bool { saves[uid]?.isEmpty == true }

    func endedSaving(_ uid: UInt32) {
        savesWaiting[uid, default: 1] -= 1
        guard let next = saves[uid]?.first else {
            saves[uid] = nil
            return
        }
        saves[uid]?.removeFirst()
        // In a later turn: what waits must not grow the stack.
        let bound = LoopBound(next, loop: surroundings.loop)
        surroundings.loop.execute { bound.value() }
    }
}
