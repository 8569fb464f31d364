import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// What answering an app takes, and the one way in which a call comes from its app's standing to the book. It lives on the loop.
final class AppServices {
    let surroundings: Surroundings
    let access: AccessStore
    let turn: Turn
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
        surroundings: Surroundings, access: AccessStore, turn: Turn, grants: Grants, books: Books,
        longReads: LongReads, history: History, places: HistoryPlaces, saves: Saves, recovery: SaveRecovery,
        questions: Questions, checks: ExecutableChecks, pace: AuditPace, problems: StoreProblems
    ) {
        self.surroundings = surroundings
        self.access = access
        self.turn = turn
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

    /// Decides a call and opens the book. If the person has to be asked first, the caller's executable checked or the book opened, a
    /// grant may be revoked meanwhile, so the call is decided again.
    ///
    /// - Parameters:
    ///   - question: what the person is asked where nothing was decided.
    ///   - hasAsked: they were asked for this call before, and are not asked again.
    ///   - creating: the book is made if there is none.
    ///   - refusing: why what is permitted is not enough for this call.
    ///   - again: decides the call again, by calling this once more.
    ///   - body: runs in this turn, with what was permitted in it, or not at all.
    func permit(
        _ call: Call, _ session: CallerSession, asking question: @autoclosure () -> Question, hasAsked: Bool,
        creating: Bool = false, refusing: (Disclosure) -> VarlinkError? = { _ in nil },
        again: @escaping (_ hasAsked: Bool) -> Void, _ body: (Reading) throws(Reading.Failure) -> Void
    ) {
        guard !call.isOver else { return }
        if grants.isSettling, grants.waitsForGrant(session, { again(hasAsked) }) { return }
        let known = grants.standing(of: session)
        switch decideAccess(known.standing, mayAsk: !hasAsked && known.mayPrompt) {
        case .permit(let disclosure):
            if let error = refusing(disclosure) { return turn.fail(error, call) }
            open(disclosure, known, call, session, creating: creating, again: { again(hasAsked) }, body)
        case .refuse(let denial): questions.refuse(call, session, denial, known.standing.status)
        case .ask: questions.ask(question(), call, session, again: { again(hasAsked) }) { _ in again(true) }
        }
    }

    /// The second half of ``permit(_:_:asking:hasAsked:creating:refusing:again:_:)``, for what is permitted in this turn.
    ///
    /// - Parameter failed: runs before the call fails here.
    func open(
        _ disclosure: Disclosure, _ known: PrincipalStanding, _ call: Call, _ session: CallerSession,
        creating: Bool = false, again: @escaping () -> Void, failed: @escaping () -> Void = {},
        _ body: (Reading) throws(Reading.Failure) -> Void
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
        do throws(Reading.Failure) {
            guard let reading = Reading(disclosure, known, book) else { throw .call(ContactsError.storeUnavailable) }
            try body(reading)
        } catch {
            failed()
            switch error {
            case .call(let error): turn.fail(error, call)
            case .store(let error): problems.unavailable(call, error)
            }
        }
    }

    /// Goes on with a list when its reader has taken what it was sent, and others were heard: a long one must not make them wait.
    func whenRead(_ call: Call, _ goOn: @escaping () -> Void) {
        call.whenWritable { [loop = surroundings.loop] in loop.later(goOn) }
    }
}
