import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// The services that apps' calls need. An app's call gets the book only through the methods of this class. It
/// lives on the event loop.
final class AppServices {
    let surroundings: Surroundings
    let access: AccessStore
    let groupCommit: GroupCommit
    let grants: Grants
    let books: Books
    let longReads: LongReads
    let history: History
    let places: HistoryPlaces
    let saves: Saves
    let recovery: SaveRecovery
    let questions: Questions
    let checks: ExecutableChecks
    let pace: AuditPace
    let problems: StoreProblems

    init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, grants: Grants, books: Books,
        longReads: LongReads, history: History, places: HistoryPlaces, saves: Saves, recovery: SaveRecovery,
        questions: Questions, checks: ExecutableChecks, pace: AuditPace, problems: StoreProblems
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.grants = grants
        self.books = books
        self.longReads = longReads
        self.history = history
        self.places = places
        self.saves = saves
        self.recovery = recovery
        self.questions = questions
        self.checks = checks
        self.pace = pace
        self.problems = problems
    }

    var limits: Limits { surroundings.limits }
    var seconds: Int64 { surroundings.seconds }

    /// Decides a call and opens the book. The call may have to wait for three steps: asking the person,
    /// checking the caller's executable, and opening the book. A grant may be revoked during each wait, so
    /// the call is decided again afterwards.
    ///
    /// - Parameters:
    ///   - question: the question to the person if the app's access is not decided yet.
    ///   - hasAsked: whether the person was already asked for this call. If so, this method does not ask
    ///     again.
    ///   - creating: whether to create the book if there is none.
    ///   - refusing: returns an error if the permitted disclosure is not enough for this call.
    ///   - again: decides the call again, by calling this method once more.
    ///   - body: runs at most once, in the same event loop iteration as the decision.
    func permit(
        _ call: Call, _ session: CallerSession, asking question: @autoclosure () -> Question, hasAsked: Bool,
        creating: Bool = false, refusing: (Disclosure) -> VarlinkError? = { _ in nil },
        again: @escaping (_ hasAsked: Bool) -> Void, _ body: (ReadContext) throws(ReadContext.Failure) -> Void
    ) {
        guard !call.isOver else { return }
        if grants.isSettling, grants.waitsForGrant(session, { again(hasAsked) }) { return }
        let known = grants.effectiveAccess(of: session)
        switch decideAccess(known.effective, mayAsk: !hasAsked && known.mayPrompt) {
        case .permit(let disclosure):
            if let error = refusing(disclosure) { return groupCommit.fail(error, call) }
            open(disclosure, known, call, session, creating: creating, again: { again(hasAsked) }, body)
        case .refuse(let denial): questions.refuse(call, session, denial, known.effective.status)
        case .ask: questions.ask(question(), call, session, again: { again(hasAsked) }) { _ in again(true) }
        }
    }

    /// The second half of ``permit(_:_:asking:hasAsked:creating:refusing:again:_:)``, for a call that was permitted
    /// in this event loop iteration.
    ///
    /// - Parameter failed: runs before the call fails because the book cannot be opened or `body` throws.
    func open(
        _ disclosure: Disclosure, _ known: CallerAccess, _ call: Call, _ session: CallerSession,
        creating: Bool = false, again: @escaping () -> Void, failed: @escaping () -> Void = {},
        _ body: (ReadContext) throws(ReadContext.Failure) -> Void
    ) {
        guard session.hasUsedGrant else { return checks.beforeGrantIsUsed(session, call, again: again) }
        guard let book = books.ready(session.caller.uid, creating: creating) else {
            return books.with(session.caller.uid, creating: creating) { [problems] result in
                guard !call.isOver else { return }
                guard case .failure(let error) = result else { return again() }
                failed()
                problems.unavailable(call, error)
            }
        }
        do throws(ReadContext.Failure) {
            guard let context = ReadContext(disclosure, known, book) else {
                throw .call(ContactsError.storeUnavailable)
            }
            try body(context)
        } catch {
            failed()
            switch error {
            case .call(let error): groupCommit.fail(error, call)
            case .store(let error): problems.unavailable(call, error)
            }
        }
    }

    /// Continues a list after the caller has taken the previous batch. Other calls run first, because a long
    /// list must not delay them.
    func whenRead(_ call: Call, _ goOn: @escaping () -> Void) {
        call.whenWritable { [loop = surroundings.loop] in loop.later(goOn) }
    }
}
