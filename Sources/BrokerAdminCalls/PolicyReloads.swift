import BrokerAccessControl
import BrokerAccessStore
import BrokerCalls
import BrokerGrants
import BrokerLedger
import BrokerModel
import Dispatch

/// Applies the administrator's policy, at the start and after each reload.
package struct PolicyReloads: UsesServices {
    package let services: BrokerServices

    package init(services: BrokerServices) { self.services = services }

    /// One policy is read after the other, also one that is only tried.
    package static let queue = DispatchQueue(label: "policy")

    /// Reads the policy off the event loop. Once `done` runs, the broker discloses nothing that the new
    /// policy forbids. If the files have a mistake, the rules in force stay in force: a typing error must not refuse every
    /// app of every user. The reload then is an error, and status, why and the agent say so until one succeeds.
    package func reload(_ done: @escaping (Policy) -> Void) {
        surroundings.loop.run(on: Self.queue, surroundings.readPolicy) { read in
            let policy = read.get()
            bringIntoForce(policy)
            done(policy)
        }
    }

    /// Replaces the policy unless the new one cannot be read, and withdraws replies and prompts that the new policy does not
    /// allow.
    func bringIntoForce(_ new: Policy) {
        let former = grants.policy
        if let problem = new.problem, former.policy.problem == nil { return keepFormer(problem) }
        grants.policy = PolicyInForce(
            new, revision: access.nextRevision(), loadedAt: services.seconds, surroundings)
        history.movedOfAll()
        grants.followGroupsOfOpenBooks()
        let disclosedTo = Set(sessions.apps.flatMap(\.disclosedUnder))
        for principal in disclosedTo where isNarrower(for: principal, than: former) { grants.narrowed(principal) }
        prompts.withdraw { !mayStillAsk($0) }
        prompts.showAnew { $0.offer != nil && $0.offer != grants.policy.offer(grants.ruling(of: $0.session)) }
        cameIntoForce()
    }

    private func keepFormer(_ problem: Policy.Problem) {
        grants.policy.rejected = problem
        surroundings.notice(
            .policyNotReloaded, problem.wordsOfReload + "; " + problem.advice(in: surroundings.mode), [])
        groupCommit.record(.policy, uid: surroundings.ownUID, detail: "unreadable, the former rules stay in force")
    }

    /// Records the policy in the audit, and updates the state that depends on the policy.
    package func cameIntoForce() {
        let rules = grants.policy.policy.rules.count
        var detail = "\(rules) rule\(rules == 1 ? "" : "s")"
        if let digest = grants.policy.policy.digest { detail += ", sha256:" + digest }
        if let problem = grants.policy.policy.problem {
            let notice: Notice
            switch problem.subject {
            case .policy: (notice, detail) = (.policyUnreadable, "unreadable")
            case .settings: (notice, detail) = (.settingsUnreadable, "settings unreadable")
            }
            surroundings.notice(notice, problem.words + "; " + problem.advice(in: surroundings.mode), [])
        } else if surroundings.mode == .system {
            surroundings.notice(.policyInForce, "the policy is in force: \(detail)", [])
        }
        groupCommit.record(.policy, uid: surroundings.ownUID, detail: detail)
        groupCommit.isDurable = grants.policy.policy.isAuditDurable
        grants.endUnused()
        grants.notePastEnds()
        grants.scheduleExpiry()
    }

    /// Whether the new policy gives an app less access than the former policy.
    private func isNarrower(for principal: Principal, than former: PolicyInForce) -> Bool {
        let (before, now) = (former.policy.ruling(on: principal), grants.ruling(on: principal))
        // What the groups of the former policy shared is not known any more.
        guard before.contactGroups == now.contactGroups else { return true }
        // The permitted keys also limit one-time picks, which depend on no grant.
        guard now.maximumKeys.isSuperset(of: before.maximumKeys) else { return true }
        let grant = access.grant(of: principal)
        return grants.policy.effectiveAccess(of: grant, now, at: services.seconds)
            .isNarrower(
                than: former.effectiveAccess(
                    of: grant, grants.ruling(on: principal, under: former), at: services.seconds))
    }

    /// Whether an open prompt would still be shown under the new policy.
    private func mayStillAsk(_ prompt: Prompt) -> Bool {
        let known = grants.effectiveAccess(of: prompt.session)
        guard known.mayPrompt else { return false }
        let (effective, ruling) = (known.effective, known.ruling)
        switch prompt.kind {
        case .access: return decideRequest(effective, mayAsk: true) == .ask
        case .keys:
            let lacking = grants.lacked(of: prompt.question.keys, known)
            guard case .askForKeys = decideRequest(effective, lacking: lacking, mayAsk: true) else { return false }
        case .change:
            guard case .granted(let grant) = effective, grant.access != .denied, let changes = prompt.question.changes,
                changes <= grant.changes || ruling.leavesToPerson(changes)
            else { return false }
        case .manage: return decideManage(effective, mayAsk: true) == .ask
        case .button:
            guard ruling.forcedLevel != .denied, case .ask = decideButton(effective, mayAsk: true) else { return false }
        case .pick:
            guard case .ask = decideOffer(effective, mayAsk: true) else { return false }
        case .propose:
            guard prompt.question.proposal?.card.present.isSubset(of: ruling.maximumKeys) != false,
                case .ask = decideOffer(effective, mayAsk: true)
            else { return false }
        }
        return true
    }
}
