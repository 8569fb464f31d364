import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerDisclosure
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// Determines the effective access of every app, which is its grant with the policy applied, and ends grants
/// that expire. It lives on the event loop.
package final class Grants {
    package let surroundings: Surroundings
    package let access: AccessStore
    package let groupCommit: GroupCommit
    private let history: History
    package let sessions: Sessions
    package let books: Books
    package let shares: GroupShares
    /// The administrator's policy.
    package var policy: PolicyInForce { didSet { shares.policyNames = policy.policy.contactGroups } }
    /// Principals with new grants that are not synced yet: how many, and the calls that wait for all of them.
    private var settling: [Principal: (grants: Int, calls: [() -> Void])] = [:]
    /// Principals whose grant the policy alone has ended, each with the revision of that grant. The end of
    /// these grants was already handled.
    private var endedByPolicy: [Principal: Int64] = [:]
    /// Watches on the processes and terminal sessions that grants are bound to.
    private var watches: [Principal: AnyObject] = [:]
    /// The timer for the next grant that expires.
    private var expiry: (any Scheduled)?

    package init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, history: History,
        sessions: Sessions, books: Books, shares: GroupShares
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.history = history
        self.sessions = sessions
        self.books = books
        self.shares = shares
        policy = PolicyInForce(
            surroundings.readPolicy(), revision: access.nextRevision(), loadedAt: surroundings.seconds, surroundings)
        shares.policyNames = policy.policy.contactGroups
    }

    /// Seconds since 1970.
    private var seconds: Int64 { surroundings.seconds }

    // MARK: Effective access

    /// The effective access of an app whose call is decided now. If the app has a grant whose end was not handled, the
    /// grant is ended soon.
    package func accessForCall(by session: CallerSession) -> CallerAccess {
        let known = effectiveAccess(of: session)
        if known.hasLateEnd { surroundings.loop.later { [self] in expire() } }
        return known
    }

    /// A caller's current effective access. To ask for it changes nothing.
    package func effectiveAccess(of session: CallerSession) -> CallerAccess {
        // A call that began before a purge may still run during the purge. The call must not create new data.
        guard !books.isRemoving(session.caller.uid) else {
            return CallerAccess(
                effective: .restricted, ruling: ruling(on: session.caller.principals[0]), mayPrompt: false)
        }
        if let known = session.known, known.epoch == history.version(of: session), !hasExpired(known.effective) {
            return known.effective
        }
        let found = findEffectiveAccess(of: session)
        session.known = (history.version(of: session), found)
        return found
    }

    private func findEffectiveAccess(of session: CallerSession) -> CallerAccess {
        let caller = session.caller
        let widest = caller.principals[caller.principals.endIndex - 1]
        // Rules do not depend on sessions or processes, so all principals of a caller have the same ruling.
        let ruling = ruling(on: widest)
        var found = CallerAccess(
            effective: .restricted, ruling: ruling, mayPrompt: policy.mayPrompt(ruling) && !session.asksNobody)
        guard !ruling.isDenied else { return found }
        guard ruling.declaredUntil.map({ $0 > seconds }) ?? true else {
            found.mayPrompt = false
            return found
        }
        for principal in caller.principals {
            guard let grant = access.grant(of: principal) else { continue }
            guard ruling.end(of: grant).map({ $0 > seconds }) ?? true else {
                found.hasLateEnd = found.hasLateEnd || endedByPolicy[principal] != grant.revision
                continue
            }
            found.unusedEnd = unusedEnd(of: grant, principal, ruling)
            guard found.unusedEnd.map({ $0 > seconds }) ?? true else {
                found.hasLateEnd = found.hasLateEnd || endedByPolicy[principal] != grant.revision
                continue
            }
            found.effective = policy.effectiveAccess(of: grant, ruling, at: seconds)
            found.principal = principal
            found.identifiers = access.identifiers(for: principal, sharesPersistentKey: !caller.isInterpreter)
            found.isDecided = true
            return found
        }
        found.unusedEnd = nil
        found.effective = policy.effectiveAccess(of: nil, ruling, at: seconds)
        guard ruling.standsAlone else { return found }
        found.principal = widest
        if found.effective.status != .denied {
            found.identifiers = access.identifiers(for: widest, sharesPersistentKey: !caller.isInterpreter)
        }
        return found
    }

    /// The stored grant, without the policy; `nil` if there is none. Use it only as the basis for a new
    /// grant, never to decide about a disclosure.
    package func decided(_ known: CallerAccess) -> Grant? {
        known.isDecided ? known.principal.flatMap(access.grant(of:)) : nil
    }

    private func hasExpired(_ known: CallerAccess) -> Bool {
        // The app may have used the grant since, so it has to be looked at again.
        if let end = known.unusedEnd, end <= seconds { return true }
        guard case .granted(let grant) = known.effective, case .untilTime = grant.lifetime else { return false }
        return grant.hasExpired(at: seconds)
    }

    /// The cipher for the identifiers of an app's contacts; `nil` if the app may not see any. An app with a forced level
    /// may see contacts although it has no grant, so its key is created when it first needs the key.
    package func identifiers(for known: CallerAccess, of session: CallerSession) -> IdentifierCipher? {
        if let identifiers = known.identifiers { return identifiers }
        guard !known.isDecided, let principal = known.principal, known.effective.status != .denied else { return nil }
        do {
            let made = try access.makeIdentifiers(
                for: principal, sharesPersistentKey: !session.caller.isInterpreter)
            session.known?.effective.identifiers = made
            // The key must be committed before a reply uses it.
            groupCommit.commitSoon()
            return made
        } catch {
            surroundings.log("cannot create the key for an app's identifiers: \(error)")
            return nil
        }
    }

    /// The policy's ruling on a caller.
    package func ruling(of session: CallerSession) -> Ruling { effectiveAccess(of: session).ruling }

    package func ruling(on principal: Principal) -> Ruling { ruling(on: principal, under: policy) }

    /// The ruling of a policy, with the members of the contact groups that it shares.
    package func ruling(on principal: Principal, under policy: PolicyInForce) -> Ruling {
        var ruling = policy.policy.ruling(on: principal)
        let groups = ruling.contactGroups
        if !groups.isEmpty { ruling.shared = shares.shared(groups, with: principal.uid) }
        if let folder = principal.declaredFolder {
            let isHere = surroundings.mode == .session
            ruling.declaredUntil = isHere ? access.declarations.folder(at: folder, of: principal.uid)?.ends ?? 0 : 0
        }
        return ruling
    }

    /// Whether a grant allows less than the one that it replaces, by itself or with the policy applied.
    package func isNarrower(_ grant: Grant, than former: Grant, for principal: Principal) -> Bool {
        guard grant.isAtLeast(former) else { return true }
        let ruling = ruling(on: principal)
        return policy.effectiveAccess(of: grant, ruling, at: seconds)
            .isNarrower(than: policy.effectiveAccess(of: former, ruling, at: seconds))
    }

    // MARK: New grants

    /// Whether a new grant waits for a sync.
    package var isSettling: Bool { !settling.isEmpty }

    /// Returns whether a grant of this caller waits for a sync. If so, `call` runs once its last grant takes
    /// effect or the sync has failed.
    package func waitsForGrant(_ session: CallerSession, _ call: @escaping () -> Void) -> Bool {
        guard !settling.isEmpty else { return false }
        for principal in session.caller.principals where settling[principal] != nil {
            settling[principal]?.calls.append(call)
            return true
        }
        return false
    }

    /// Puts a grant into effect: changes the store, appends the audit record, commits and syncs. The grant
    /// takes effect only after the sync; until then, the app's calls wait.
    ///
    /// - Parameters:
    ///   - author: who made the grant, for the audit record; `nil` for the person.
    ///   - settled: gets whether the principal has a synced grant. It gets `false`, for example, if the commit
    ///     failed.
    package func settle(
        _ grant: Grant, for principal: Principal, displayName: String, sharesPersistentKey: Bool,
        author: String? = nil, settled: @escaping (Bool) -> Void
    ) {
        // The callers check this first. No grant for an app in a declared folder is full.
        guard principal.strength != .declared || grant.access != .full else { return settled(false) }
        do {
            _ = try access.makeIdentifiers(for: principal, sharesPersistentKey: sharesPersistentKey)
        } catch {
            surroundings.log("cannot create the key for an app's identifiers: \(error)")
            settled(false)
            return
        }
        let former = access.grant(of: principal)
        access.setGrant(grant, for: principal, displayName: displayName, at: books.moment(of: principal.uid))
        history.moved(principal.uid)
        if let former, isNarrower(grant, than: former, for: principal) { narrowed(principal) }
        let set = grant.access.records
        groupCommit.record(.grant, of: principal, naming: set.subtracting(former?.access.records ?? [])) {
            $0.status = grant.access.status
            $0.keys = grant.keys
            $0.revision = grant.revision
            if grant.access.status == .limited { $0.count = set.count }
            let changes = grant.access == .denied ? nil : "changes " + grant.changes.rawValue
            $0.detail = [grant.lifetime.kind.rawValue, changes, author].compactMap(\.self).joined(separator: ", ")
        }
        watch(principal)
        settling[principal, default: (0, [])].grants += 1
        groupCommit.work(
            committed: { [weak self] in
                self?.groupCommit.sync.onDisk { [weak self] isOnDisk in
                    guard let self else { return }
                    let settledGrant = access.grant(of: principal)
                    let isCurrent = settledGrant?.revision == grant.revision
                    // A grant that cannot be synced is revoked. A denial stays in effect as long as the
                    // broker runs.
                    if !isOnDisk, isCurrent, grant.access != .denied { endGrant(principal, detail: "not on disk") }
                    release(principal)
                    // The terminal session may have ended meanwhile, or an administrator may have revoked the
                    // grant.
                    settled(isOnDisk && settledGrant != nil)
                }
            },
            failed: { [weak self] in
                self?.release(principal)
                settled(false)
            })
    }

    private func release(_ principal: Principal) {
        settling[principal]?.grants -= 1
        guard settling[principal]?.grants == 0, let settled = settling.removeValue(forKey: principal) else { return }
        for call in settled.calls { call() }
    }

    /// Watches the terminal session or process that a grant is bound to. When that session or process ends,
    /// the broker revokes the grant.
    private func watch(_ principal: Principal) {
        guard principal.binding != .persistent, watches[principal] == nil else { return }
        let watch = surroundings.watch(principal.binding) { [weak self] in
            self?.endGrant(principal, detail: "ended")
        }
        if let watch {
            watches[principal] = watch
        } else {
            endGrant(principal, detail: "ended")
        }
    }

    package func endWatch(of principal: Principal) { watches[principal] = nil }

    /// Revokes a grant. The next call may prompt the person again. The principal's own identifier key is
    /// removed too. The key that a bound principal shares with the app's persistent principal stays.
    ///
    /// - Parameter detail: for the audit record; `nil` if the record of a denial in its place says it.
    package func endGrant(_ principal: Principal, detail: String?) {
        endWatch(of: principal)
        guard access.grant(of: principal) != nil else { return }
        access.removeGrant(of: principal)
        if let detail { groupCommit.record(.revocation, of: principal, { $0.status = .notDetermined }, detail: detail) }
        narrowed(principal)
        groupCommit.work(committed: { [weak self] in self?.groupCommit.sync.onDisk { _ in } })
    }

    /// Withdraws queued replies after a grant was narrowed or revoked. Once this method returns, the kernel
    /// gets no further byte that was disclosed under the former grant.
    package func narrowed(_ principal: Principal) {
        history.moved(principal.uid)
        var withheld = groupCommit.withdraw(principal, policy.accessDenied)
        for session in sessions.apps where session.disclosedUnder.contains(principal) {
            withheld += session.connection?.withdraw(policy.accessDenied) ?? 0
            withheld += session.endLists(ContactsError.accessDenied)
        }
        if withheld > 0 {
            groupCommit.record(.withheld, of: principal) { $0.count = withheld }
        }
    }

    // MARK: Expiry

    /// Schedules the timer for the next grant that expires.
    package func scheduleExpiry() {
        expiry?.cancel()
        let ends = access.principals.compactMap { principal -> Int64? in
            guard let grant = access.grant(of: principal), endedByPolicy[principal] != grant.revision else {
                return nil
            }
            return end(of: grant, principal)
        }
        guard let next = ends.min() else { return }
        // The timer runs for a day at most, because somebody may set the clock. A time in the past is not
        // subtracted, because the stored number can have any value and the difference could overflow.
        let now = seconds
        let wait = next > now ? min(next - now, 86_400) : 0
        expiry = surroundings.loop.later(after: .seconds(wait)) { [self] in expire() }
    }

    /// Marks the grants that a new policy ends as soon as it comes into force. The broker does not record
    /// the end of these grants.
    package func notePastEnds() {
        endedByPolicy = [:]
        for (principal, grant) in overByPolicy() { endedByPolicy[principal] = grant.revision }
    }

    /// The time when a grant expires, by itself or by the policy, in seconds since 1970; `nil` if it does not
    /// expire. If the policy ends unused grants, a use moves this time.
    package func end(of grant: Grant, _ principal: Principal) -> Int64? {
        let ruling = ruling(on: principal)
        return [ruling.end(of: grant), unusedEnd(of: grant, principal, ruling)].compactMap(\.self).min()
    }

    /// The time when a grant ends because it is not used, in seconds since 1970; `nil` for never.
    func unusedEnd(of grant: Grant, _ principal: Principal, _ ruling: Ruling) -> Int64? {
        guard ruling.maximumUnused != nil else { return nil }
        return ruling.unusedEnd(of: grant, lastUse: access.usage(of: principal).lastUsedAt)
    }

    /// Removes the grants that were not used for as long as the policy allows. They cannot stay in the store: a contact
    /// that the person picks once for the app counts as a use, and must not bring the grant back.
    package func endUnused() {
        for principal in access.principals {
            guard let grant = access.grant(of: principal),
                let end = unusedEnd(of: grant, principal, ruling(on: principal)), end <= seconds
            else { continue }
            endWatch(of: principal)
            access.endGrant(of: principal)
            ended(principal, "expired unused")
        }
    }

    /// Grants that only the policy has ended.
    private func overByPolicy() -> [(Principal, Grant)] {
        access.principals.compactMap { principal in
            guard let grant = access.grant(of: principal), let end = end(of: grant, principal), end <= seconds,
                !grant.hasExpired(at: seconds)
            else { return nil }
            return (principal, grant)
        }
    }

    /// Ends the grants that have expired. The timer for it may be late, because its clock stops while the machine sleeps.
    private func expire() {
        // An expired grant permits nothing, also before it is ended. It may be ended or replaced before its batch.
        surroundings.loop.inBatches(access.expired(at: seconds)[...], of: surroundings.limits.grantsPerIteration) {
            [self] principal in
            guard access.grant(of: principal)?.hasExpired(at: seconds) == true else { return }
            access.endGrant(of: principal)
            ended(principal)
        } then: { [self] in
            endUnused()
            for (principal, grant) in overByPolicy() where endedByPolicy[principal] != grant.revision {
                // The grant stays in the store, and takes effect again if the rule is removed.
                endedByPolicy[principal] = grant.revision
                ended(principal)
            }
            scheduleExpiry()
        }
    }

    private func ended(_ principal: Principal, _ detail: String = "expired") {
        let effective = policy.effectiveAccess(of: access.grant(of: principal), ruling(on: principal), at: seconds)
        groupCommit.record(.revocation, of: principal, { $0.status = effective.status }, detail: detail)
        narrowed(principal)
    }
}
