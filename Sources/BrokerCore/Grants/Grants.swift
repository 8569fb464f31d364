import BrokerAccessControl
import BrokerAccessStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// A standing, and what it rests on.
struct PrincipalStanding {
    /// What counts: the grant with the policy laid over it.
    var standing: Standing
    /// What the policy says of the caller.
    var ruling: Ruling
    /// The person may be asked.
    var mayPrompt: Bool
    /// `nil` where nothing was decided.
    var principal: Principal?
    var identifiers: IdentifierCipher?
    /// It rests on a decision, and not on the policy alone.
    var isDecided = false
}

/// What counts for each app: what was decided, the policy over it, and until when. It lives on the loop.
final class Grants {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let turn: Turn
    private let history: History
    private let sessions: Sessions
    private let books: Books
    /// What the administrator rules.
    var policy: PolicyInForce
    /// Principals whose new grant is not on the disk yet, and the calls that wait for it to count.
    private var settling: [Principal: [() -> Void]] = [:]
    /// Grants that are over by the policy alone, by the revision as of which that was told.
    private var endedByPolicy: [Principal: Int64] = [:]
    /// What ends when a process or a terminal session ends.
    private var watches: [Principal: AnyObject] = [:]
    /// When the next grant runs out.
    private var expiry: (any Scheduled)?

    init(
        surroundings: Surroundings, access: AccessStore, turn: Turn, history: History,
        sessions: Sessions, books: Books
    ) {
        self.surroundings = surroundings
        self.access = access
        self.turn = turn
        self.history = history
        self.sessions = sessions
        self.books = books
        policy = PolicyInForce(
            surroundings.readPolicy(), revision: access.nextRevision(), loadedAt: surroundings.seconds, surroundings)
    }

    /// Seconds since 1970.
    private var seconds: Int64 { surroundings.seconds }

    // MARK: What holds

    /// What holds for a caller now.
    func standing(of session: CallerSession) -> PrincipalStanding {
        // A call that had begun may go on for a moment while everything of its user is removed: nothing is made anew.
        guard !books.isRemoving(session.caller.uid) else {
            return PrincipalStanding(
                standing: .restricted, ruling: ruling(on: session.caller.principals[0]), mayPrompt: false)
        }
        if let known = session.known, known.epoch == history.version, !hasExpired(known.standing) {
            return known.standing
        }
        let found = findStanding(of: session)
        session.known = (history.version, found)
        return found
    }

    private func findStanding(of session: CallerSession) -> PrincipalStanding {
        let caller = session.caller
        let widest = caller.principals[caller.principals.endIndex - 1]
        // Rules know nothing of sessions and processes, so any of the principals will do.
        let ruling = ruling(on: widest)
        var found = PrincipalStanding(standing: .restricted, ruling: ruling, mayPrompt: policy.mayPrompt(ruling))
        guard !ruling.isDenied else { return found }
        for principal in caller.principals {
            guard let grant = access.grant(of: principal) else { continue }
            guard ruling.end(of: grant).map({ $0 > seconds }) ?? true else {
                tellOfEnd(of: grant, principal)
                continue
            }
            found.standing = policy.standing(of: grant, ruling, at: seconds)
            found.principal = principal
            found.identifiers = access.identifiers(for: principal, sharesStandingKey: !caller.isInterpreter)
            found.isDecided = true
            return found
        }
        found.standing = policy.standing(of: nil, ruling, at: seconds)
        guard ruling.standsAlone else { return found }
        found.principal = widest
        if found.standing.status != .denied { found.identifiers = identifiersOfForced(widest, caller) }
        return found
    }

    /// What was decided, as the store has it: the terms on which it goes on, never what decides about a disclosure.
    func decided(_ known: PrincipalStanding) -> Grant? {
        known.isDecided ? known.principal.flatMap(access.grant(of:)) : nil
    }

    private func hasExpired(_ known: PrincipalStanding) -> Bool {
        guard case .granted(let grant) = known.standing, case .untilTime = grant.lifetime else { return false }
        return grant.hasExpired(at: seconds)
    }

    /// An app whose level is forced names contacts though nobody decided about it: its key is made when it first comes.
    private func identifiersOfForced(_ principal: Principal, _ caller: Caller) -> IdentifierCipher? {
        if let known = access.identifiers(for: principal, sharesStandingKey: !caller.isInterpreter) { return known }
        do {
            let made = try access.makeIdentifiers(for: principal, sharesStandingKey: !caller.isInterpreter)
            // A key that is not in the file must name nothing.
            turn.commitSoon()
            return made
        } catch {
            surroundings.log("no key for an app's identifiers: \(error)")
            return nil
        }
    }

    /// What the policy says of a caller.
    func ruling(of session: CallerSession) -> Ruling { standing(of: session).ruling }

    func ruling(on principal: Principal) -> Ruling { policy.policy.ruling(on: principal) }

    /// Whether a grant gives less than the one whose place it takes, by itself or under the policy.
    func isNarrower(_ grant: Grant, than former: Grant, for principal: Principal) -> Bool {
        guard grant.isAtLeast(former) else { return true }
        let ruling = ruling(on: principal)
        return policy.standing(of: grant, ruling, at: seconds)
            .isNarrower(than: policy.standing(of: former, ruling, at: seconds))
    }

    // MARK: New grants

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
        access.setGrant(grant, for: principal, displayName: displayName, at: books.moment(of: principal.uid))
        history.moved()
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
                self?.turn.sync.onDisk { [weak self] isOnDisk in
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
        guard principal.binding != .standing, watches[principal] == nil else { return }
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
        turn.work(committed: { [weak self] in self?.turn.sync.onDisk { _ in } })
    }

    /// A grant became narrower, or is gone: once this returns, the kernel is handed no further byte of what was
    /// taken back.
    func narrowed(_ principal: Principal) {
        history.moved()
        var withheld = turn.withdraw(principal, ContactsError.accessDenied)
        for session in sessions.apps where session.disclosedUnder.contains(principal) {
            withheld += session.connection?.withdraw(ContactsError.accessDenied) ?? 0
            for fetch in session.fetches.values { withheld += fetch.end() }
        }
        if withheld > 0 {
            turn.record(.withheld, of: principal) { $0.count = withheld }
        }
    }

    // MARK: Ends

    /// Wakes when the next grant runs out.
    func scheduleExpiry() {
        expiry?.cancel()
        let ends = access.principals.compactMap { principal -> Int64? in
            guard let grant = access.grant(of: principal), endedByPolicy[principal] != grant.revision else {
                return nil
            }
            return end(of: grant, principal)
        }
        guard let next = ends.min() else { return }
        // At most a day ahead: clocks get set. What is over is not subtracted: the file may say any number.
        let now = seconds
        let wait = next > now ? min(next - now, 86_400) : 0
        expiry = surroundings.loop.later(after: .seconds(wait)) { [self] in expire() }
    }

    /// A grant was met whose time is over. The timer runs on another clock, which stands still while the machine sleeps.
    func tellOfEnd(of grant: Grant, _ principal: Principal) {
        guard endedByPolicy[principal] != grant.revision else { return }
        surroundings.loop.later { [self] in expire() }
    }

    /// What is over as the policy comes into force is no news.
    func notePastEnds() {
        endedByPolicy = [:]
        for (principal, grant) in overByPolicy() { endedByPolicy[principal] = grant.revision }
    }

    /// When a grant runs out, by itself or by the policy, in seconds since 1970.
    func end(of grant: Grant, _ principal: Principal) -> Int64? { ruling(on: principal).end(of: grant) }

    /// Grants that would hold on by themselves.
    private func overByPolicy() -> [(Principal, Grant)] {
        access.principals.compactMap { principal in
            guard let grant = access.grant(of: principal), let end = end(of: grant, principal), end <= seconds,
                !grant.hasExpired(at: seconds)
            else { return nil }
            return (principal, grant)
        }
    }

    private func expire() {
        for principal in access.expired(at: seconds) {
            access.endGrant(of: principal)
            ended(principal)
        }
        for (principal, grant) in overByPolicy() where endedByPolicy[principal] != grant.revision {
            // It stays in the store: what the person decided counts again if the rule goes.
            endedByPolicy[principal] = grant.revision
            ended(principal)
        }
        scheduleExpiry()
    }

    private func ended(_ principal: Principal) {
        let standing = policy.standing(of: access.grant(of: principal), ruling(on: principal), at: seconds)
        turn.record(.revocation, of: principal, { $0.status = standing.status }, detail: "expired")
        narrowed(principal)
    }

    // MARK: Never ask again

    /// The person does not want to be asked about this app again. What has a lasting name stays so over restarts.
    func silence(_ caller: Caller) {
        guard let principal = caller.principals.last, access.silenceCount(caller.uid) < surroundings.limits.silences
        else { return }
        access.silence(principal, now: seconds)
    }

    func isSilenced(_ caller: Caller) -> Bool { caller.principals.contains(where: access.isSilenced) }
}
