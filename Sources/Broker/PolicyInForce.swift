import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import Dispatch
import JSON
import Policy
import Varlink

/// The policy as it is in force, and since when.
struct PolicyInForce {
    let policy: Policy
    /// From the store's counter: what rests on the policy is told apart from what rested on another one.
    let revision: Int64
    /// Seconds since 1970.
    let loadedAt: Int64
    /// Some rule sets a lifetime.
    let limitsLifetimes: Bool
    /// Somebody may be there to ask for the person's password; whether they are shows when they are asked.
    private let hasAuthority: Bool
    /// What becomes of an answer that wants the password where nobody can ask for it; `nil` where nobody said.
    private let withoutAuthentication: Policy.WithoutAuthentication?

    init(_ policy: Policy, revision: Int64, loadedAt: Int64, _ surroundings: Surroundings) {
        self.policy = policy
        self.revision = revision
        hasAuthority = surroundings.wantsPasswords
        withoutAuthentication = Policy.stricter(policy.withoutAuthentication, surroundings.withoutAuthentication)
        self.loadedAt = loadedAt
        limitsLifetimes = policy.rules.contains { $0.maximumLifetime != nil }
    }

    func standing(of grant: Grant?, _ ruling: Ruling, at now: Int64) -> Standing {
        ruling.standing(of: grant, at: now, revision: revision, loadedAt: loadedAt)
    }

    /// Whether the person may be asked. Where nothing can be granted, there is nothing to ask.
    func mayPrompt(_ ruling: Ruling) -> Bool { ruling.mayPrompt && !ruling.isDenied && canGrant(ruling) }

    /// Whether anything can be granted, or a password is wanted that nobody can ask for.
    func canGrant(_ ruling: Ruling) -> Bool {
        hasAuthority || !ruling.requiresAuthentication || mayDoWithout
    }

    /// Whether an answer may share everything, or many contacts, if with a password.
    var allowsMuch: Bool { hasAuthority || withoutAuthentication != .refuse }

    /// Whether an answer that wants a password counts where nobody is there to ask for it.
    var mayDoWithout: Bool { withoutAuthentication == .allow }

    func offer(_ ruling: Ruling) -> PromptOffer {
        PromptOffer(
            allowsAll: mayShareAll(ruling), keys: ruling.maximumKeys, longest: ruling.maximumLifetime)
    }

    /// Whether an answer at a prompt may share all contacts.
    func mayShareAll(_ ruling: Ruling) -> Bool {
        !ruling.capsLevel && ruling.forcedLevel != .limited && ruling.forcedLevel != .denied && allowsMuch
    }
}

extension Broker {
    // MARK: Asking

    /// What the policy says of a caller; worked out once for each connection and policy.
    func ruling(of session: CallerSession) -> Ruling {
        if let kept = session.ruling, kept.revision == policy.revision { return kept.ruling }
        let principals = session.caller.principals
        // Rules know nothing of sessions and processes, so any of them will do.
        let ruling = ruling(on: principals[principals.endIndex - 1])
        session.ruling = (policy.revision, ruling)
        return ruling
    }

    func ruling(on principal: Principal) -> Ruling { policy.policy.ruling(on: principal) }

    /// Whether a grant gives less than the one whose place it takes, by itself or under the policy.
    func isNarrower(_ grant: Grant, than former: Grant, for principal: Principal) -> Bool {
        guard grant.isAtLeast(former) else { return true }
        let ruling = ruling(on: principal)
        return policy.standing(of: grant, ruling, at: seconds)
            .isNarrower(than: policy.standing(of: former, ruling, at: seconds))
    }

    // MARK: Loading

    private static let policyQueue = DispatchQueue(label: "policy")

    /// Reads the policy anew. Once this has answered, nothing more is told of what it took back.
    func reloadPolicy(_ call: Call) {
        reloadPolicy { [self] policy in
            replyOnDisk(call, error: policy.problem.map(Self.refusal)) {
                $1.member("rules", policy.rules.count)
            }
        }
    }

    private static func refusal(_ problem: Policy.Problem) -> VarlinkError {
        switch problem {
        case .policy(let error): AdminError.invalidValue("policy", reason: "\(error)")
        case .settings(let error): AdminError.invalidValue("settings", reason: "\(error)")
        }
    }

    /// The same, for whoever runs the broker.
    public func reloadPolicy(_ done: @escaping (Policy) -> Void) {
        let read = surroundings.readPolicy
        let loop = surroundings.loop
        let bound = LoopBound((self, done), loop: loop)
        Self.policyQueue.async {
            let policy = read()
            loop.execute {
                let (broker, done) = bound.value
                broker.bringIntoForce(policy)
                done(policy)
            }
        }
    }

    /// Lets another policy hold from now on, and takes back what it does not allow any more.
    func bringIntoForce(_ new: Policy) {
        let former = policy
        policy = PolicyInForce(new, revision: access.nextRevision(), loadedAt: seconds, surroundings)
        grantsChanged()
        let told = Set(sessions.values.lazy.filter { $0.door == .contacts }.flatMap(\.disclosedUnder))
        for principal in told where isNarrower(for: principal, than: former) { narrowed(principal) }
        prompts.withdraw { [self] in !mayStillAsk($0) }
        prompts.showAnew { [self] in $0.offer != nil && $0.offer != policy.offer(ruling(of: $0.session)) }
        policyCameIntoForce()
    }

    /// Puts the policy on record, and what hangs on it in order.
    func policyCameIntoForce() {
        let rules = policy.policy.rules.count
        var detail = "\(rules) rule\(rules == 1 ? "" : "s")"
        if let digest = policy.policy.digest { detail += ", sha256:" + digest }
        if let problem = policy.policy.problem {
            let notice: Notice
            switch problem {
            case .policy: (notice, detail) = (.policyUnreadable, "unreadable")
            case .settings: (notice, detail) = (.settingsUnreadable, "settings unreadable")
            }
            surroundings.notice(notice, problem.words + "; " + problem.advice(in: surroundings.mode), [])
        } else if surroundings.mode == .system {
            surroundings.notice(.policyInForce, "the policy is in force: \(detail)", [])
        }
        access.append(
            AuditRecord(time: surroundings.now(), uid: surroundings.ownUID, event: .policy, detail: detail))
        turn.isDurable = policy.policy.isAuditDurable
        notePastEnds()
        scheduleExpiry()
        turn.work(committed: {})
    }

    /// Whether an app may be told less than under a former policy.
    private func isNarrower(for principal: Principal, than former: PolicyInForce) -> Bool {
        let (before, now) = (former.policy.ruling(on: principal), ruling(on: principal))
        // Also of what was picked for once, which rests on no grant.
        guard now.maximumKeys.isSuperset(of: before.maximumKeys) else { return true }
        let grant = access.grant(of: principal)
        return policy.standing(of: grant, now, at: seconds)
            .isNarrower(than: former.standing(of: grant, before, at: seconds))
    }

    /// Whether a question that is open would be asked today.
    private func mayStillAsk(_ prompt: Prompt) -> Bool {
        let known = standing(of: prompt.session)
        guard known.mayPrompt else { return false }
        let ruling = ruling(of: prompt.session)
        let standing = known.standing
        switch prompt.kind {
        case .access: return decideRequest(standing, mayAsk: true) == .ask
        case .manage: return decideManage(standing, mayAsk: true) == .ask
        case .button:
            guard ruling.forcedLevel != .denied, case .ask = decideButton(standing, mayAsk: true) else { return false }
        case .pick:
            guard case .ask = decideOffer(standing, mayAsk: true) else { return false }
        case .propose:
            guard prompt.proposal?.card.present.isSubset(of: ruling.maximumKeys) != false,
                case .ask = decideOffer(standing, mayAsk: true)
            else { return false }
        }
        return true
    }
}

extension Policy.Problem {
    /// What the administrator does about it.
    public func advice(in mode: BrokerMode) -> String {
        switch (self, mode) {
        case (.policy, _): "correct the file, then: contactctl reload"
        case (.settings, .system): "correct the file, then: systemctl restart contactbroker.service"
        case (.settings, .session): "correct the file, then restart contactbrokerd"
        }
    }
}

extension Standing {
    /// Allows less than the other one. Whatever it does not allow is to be taken back.
    func isNarrower(than other: Standing) -> Bool {
        switch (self, other) {
        case (.restricted, .restricted), (_, .restricted): false
        case (.restricted, _): true
        case (.granted(let grant), .granted(let former)): !grant.isAtLeast(former)
        case (.notDetermined, .granted(let former)): former.access != .denied
        case (_, .notDetermined): false
        }
    }
}
