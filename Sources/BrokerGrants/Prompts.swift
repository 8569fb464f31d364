import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// The open prompts, in one queue per user, and the agents that may answer them. It lives on the event loop.
/// An extension in another file manages the agents.
package final class Prompts {
    package let surroundings: Surroundings
    package var users: [UInt32: UserPrompts] = [:]
    private var backOffs: [UInt32: BackOff] = [:]
    private let descriptions: PromptDescriptions

    package init(surroundings: Surroundings, descriptions: PromptDescriptions) {
        self.descriptions = descriptions
        self.surroundings = surroundings
    }

    /// Reads or changes the prompts and agents of one user.
    package func with<Result>(_ uid: UInt32, _ body: (inout UserPrompts) -> Result) -> Result {
        body(&users[uid, default: UserPrompts(limits: surroundings.limits)])
    }

    // MARK: Asking

    /// Throws if the limits do not permit this prompt now. Call this before reading any data for the prompt.
    ///
    /// - Parameter hasGrant: whether the caller has access.
    package func mayAsk(_ question: Question, for caller: Caller, hasGrant: Bool) throws(VarlinkError) {
        let key = AppKey(caller)
        if let seconds = backOffs[caller.uid]?.remaining(key, now: surroundings.uptime()) {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: seconds, reason: .refusals)
        }
        guard let user = users[caller.uid] else { return }
        let own = user.open.filter { AppKey($0.caller) == key }
        if own.contains(where: { isJoined($0, by: question, of: caller) }) { return }
        guard own.isEmpty else { throw ContactsError.tooManyPrompts(retryAfterSeconds: 1) }
        guard user.open.count < surroundings.limits.prompts, hasRoom(among: user, question, for: caller, hasGrant)
        else {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: 1, reason: .crowd)
        }
    }

    /// Whether the shared limit on open prompts permits one more. The limit applies only to weakly identified
    /// callers that were never approved.
    private func hasRoom(
        among user: UserPrompts, _ question: Question, for caller: Caller, _ hasGrant: Bool
    ) -> Bool {
        guard user.crowd.bucket(of: caller, hasGrant: hasGrant) != nil else { return true }
        // Denied apps and other apps are counted separately, because a denied app must not block other apps.
        let crowd = user.open.count { $0.isOfCrowd && $0.isDenied == question.isQuiet }
        return crowd < surroundings.limits.promptsOfWeakCallers
    }

    /// Whether a call joins this prompt. It does not if an agent that shows the prompt could not answer its caller.
    private func isJoined(_ prompt: Prompt, by question: Question, of caller: Caller) -> Bool {
        prompt.isJoined(by: question, of: caller)
            && prompt.agents.allSatisfy { !isRelated($0.session.caller.process, caller.process) }
    }

    /// Queues a prompt. A call for access or for more keys joins the same app's open prompt of that kind, if there is one.
    package func ask(
        _ prompt: Prompt, for call: Call, done: @escaping (PromptOutcome) -> Void
    ) throws(VarlinkError) {
        try mayAsk(prompt.question, for: prompt.caller, hasGrant: prompt.hasGrant)
        let uid = prompt.caller.uid
        let joined = users[uid]?.open.first {
            isJoined($0, by: prompt.question, of: prompt.caller) && !$0.isAnswered
        }
        let asked = joined ?? prompt
        guard asked.waiting.count < surroundings.limits.callsPerPrompt else {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: 1)
        }
        asked.wait(call, of: prompt.caller, done)
        call.onAbandoned = { [weak self, weak asked, weak call] in
            guard let self, let asked, let call, asked.stopWaiting(call), !asked.isAnswered else { return }
            withdrawn(asked)
        }
        guard joined == nil else { return }
        with(uid) { $0.add(prompt, now: surroundings.uptime()) }
        notifyAgents(uid)
        if users[uid]?.hasAgent != true { awaitAgent(prompt) }
        takeTurns(uid)
    }

    /// Ends a prompt after all its callers have disconnected. The withdrawal counts only if the prompt was
    /// sent to an agent, because otherwise it disturbed nobody.
    private func withdrawn(_ prompt: Prompt) {
        let wasShown = prompt.sentAt != nil
        if wasShown, let bucket = prompt.bucket {
            with(prompt.caller.uid) { $0.crowd.withdrew(bucket, now: surroundings.uptime()) }
        }
        end(prompt, .dismissed, isCounted: wasShown)
    }

    /// Sends the prompts whose turn has come, and starts the timer for the next held prompt.
    private func takeTurns(_ uid: UInt32) {
        let now = surroundings.uptime()
        for prompt in with(uid, { $0.takeTurns(now: now) }) { begin(prompt) }
        tellWaiting(uid)
        users[uid]?.release?.cancel()
        let next = users[uid]?.nextRelease(after: now)
        users[uid]?.release = next.map { next in
            surroundings.loop.later(after: .microseconds(next - now)) { [weak self] in self?.takeTurns(uid) }
        }
    }

    /// Sends a prompt whose turn has come to the agents that may answer it. If there is no such agent, the
    /// prompt waits for one for a limited time.
    private func begin(_ prompt: Prompt) {
        let agents = users[prompt.caller.uid]?.agents.filter { mayAnswer($0, prompt) } ?? []
        // If the user has no agent, the timer is already running.
        if agents.isEmpty, prompt.timer == nil { awaitAgent(prompt) }
        for agent in agents { send(prompt, to: agent) }
    }

    /// Limits the wait for an agent that may answer the prompt. If the prompt was never sent to an agent,
    /// this timeout does not count toward the back-off.
    func awaitAgent(_ prompt: Prompt) {
        let uid = prompt.caller.uid
        let isSomebodyThere = users[uid]?.hasNotifier == true || surroundings.hasLoginSession(uid)
        prompt.deadline = nil
        startTimer(
            prompt,
            isSomebodyThere ? surroundings.limits.agentTimeoutWithPerson : surroundings.limits.agentTimeout,
            prompt.sentAt == nil ? .noAgent : .dismissed)
    }

    /// Whether an agent may answer a prompt. It may not if its own process, or an ancestor or descendant
    /// of this process, raised or joined the prompt.
    func mayAnswer(_ agent: Agent, _ prompt: Prompt) -> Bool {
        !agent.notifyOnly && !prompt.processes.contains { isRelated(agent.session.caller.process, $0) }
    }

    private func isRelated(_ agent: ProcessIdentity, _ app: ProcessIdentity) -> Bool {
        agent == app || surroundings.areKin(agent, app)
    }

    package func send(_ prompt: Prompt, to agent: Agent) {
        let uid = prompt.caller.uid
        let now = surroundings.uptime()
        if prompt.sentAt == nil {
            prompt.sentAt = now
            prompt.record(true)
        }
        if prompt.deadline == nil { setDeadline(prompt, latestEnd(of: prompt, now: now)) }
        prompt.agents.append(agent)
        let waiting = users[uid]?.queue.count ?? 0
        let description = descriptions.describe(prompt, waiting: waiting, expires: expires(prompt))
        agent.serve.reply(description, continues: true)
    }

    /// Returns the new deadline of a prompt that is about to be sent to an agent, or at which the person
    /// just pressed a key.
    private func latestEnd(of prompt: Prompt, now: Int64) -> Int64 {
        let limits = surroundings.limits
        return min(
            now + limits.promptTimeout.microseconds, (prompt.sentAt ?? now) + limits.longestPromptTime.microseconds)
    }

    private func setDeadline(_ prompt: Prompt, _ deadline: Int64) {
        prompt.deadline = deadline
        startTimer(prompt, .microseconds(max(0, deadline - surroundings.uptime())), .dismissed)
    }

    /// Returns the prompt's deadline in seconds since 1970.
    private func expires(_ prompt: Prompt) -> Int64 {
        (surroundings.now() + (prompt.deadline ?? 0) - surroundings.uptime()) / 1_000_000
    }

    /// Extends the deadline of a prompt after the person pressed a key, and reports it to the prompt's
    /// agents.
    package func keepOpen(_ prompt: Prompt) {
        // A prompt that the person opened has no `sentAt`: it gets its full time when it is opened.
        guard let deadline = prompt.deadline, prompt.sentAt != nil, prompt.overdue == nil else { return }
        let end = latestEnd(of: prompt, now: surroundings.uptime())
        guard end > deadline else { return }
        setDeadline(prompt, end)
        let expires = Timestamp.text(seconds: expires(prompt))
        for agent in prompt.agents {
            agent.serve.reply(continues: true) {
                $0.member("extended", prompt.cookie)
                $0.member("expires", expires)
            }
        }
    }

    private func startTimer(_ prompt: Prompt, _ delay: Duration, _ outcome: PromptOutcome) {
        prompt.timer?.cancel()
        prompt.timer = surroundings.loop.later(after: delay) { [self] in
            // An answer that is being synced came in time. An answer that waits for a password also came in
            // time, so the timeout is deferred.
            if prompt.isAnswered { return }
            guard prompt.passwords.isEmpty else {
                prompt.overdue = outcome
                return
            }
            end(prompt, outcome)
        }
    }

    // MARK: Answering

    /// Returns the prompt that an agent shows under this cookie; `nil` if there is none, or if it is already
    /// answered or has timed out.
    package func prompt(_ cookie: String, shownTo agent: Agent) -> Prompt? {
        if let own = agent.own, own.cookie == cookie {
            return own.isAnswered || own.deadline.map { $0 < surroundings.uptime() } ?? true ? nil : own
        }
        return users[agent.session.caller.uid]?.shown.first {
            $0.cookie == cookie && !$0.isAnswered && $0.agents.contains { $0 === agent }
        }
    }

    /// Registers an answer that waits for the person's password. Meanwhile the prompt stays open, and another
    /// agent can answer it.
    package func wait(_ prompt: Prompt, for password: WantedPassword) {
        prompt.wait(for: password)
        password.onEnd = { [weak self, weak password] verdict in
            guard let self, let password else { return }
            prompt.stopWaiting(for: password)
            guard prompt.passwords.isEmpty, let outcome = prompt.overdue else { return }
            prompt.overdue = nil
            // With the password, the answer gets a short time to take effect. Without it, the deferred
            // timeout applies.
            if verdict == .granted {
                startTimer(prompt, surroundings.limits.agentTimeout, outcome)
            } else {
                end(prompt, outcome)
            }
        }
    }

    /// Ends a prompt: withdraws it from the agents that show it, passes the outcome to the waiting calls, and
    /// shows the next prompt.
    ///
    /// - Parameters:
    ///   - answering: the agent that answered. The prompt is not withdrawn from this agent.
    ///   - isCounted: whether the outcome counts toward the app's back-off.
    package func end(_ prompt: Prompt, _ outcome: PromptOutcome, answering: Agent? = nil, isCounted: Bool = true) {
        let uid = prompt.caller.uid
        if let answering, answering.own === prompt {
            answering.own = nil
            prompt.withdrawPasswords()
            return
        }
        guard let prompts = users[uid], prompts.open.contains(where: { $0 === prompt }) else { return }
        users[uid]?.remove(prompt)
        if prompt.sentAt == nil { prompt.record(false) }
        prompt.timer?.cancel()
        prompt.query?.timer?.cancel()
        prompt.timer = nil
        prompt.overdue = nil
        // Answers that wait for a password can no longer take effect, so their password requests are
        // withdrawn.
        prompt.withdrawPasswords()
        if isCounted { count(outcome, of: prompt) }
        for agent in prompt.agents where agent !== answering {
            agent.serve.reply(continues: true) { $0.member("withdrawn", prompt.cookie) }
        }
        for (call, done) in prompt.waiting where !call.isOver {
            call.onAbandoned = nil
            done(outcome)
        }
        notifyAgents(uid)
        takeTurns(uid)
    }

    /// Ends a prompt that the person answered.
    ///
    /// - Parameter isSilenced: whether the app may not ask again, so that it has nothing to wait for.
    /// - Returns: the reply to `Answer`, which says how long the app must now wait.
    package func end(
        _ prompt: Prompt, _ outcome: PromptOutcome, answeredBy agent: Agent, isSilenced: Bool = false
    ) -> [UInt8] {
        // The app of a prompt that the person opened may not be running, so its path is not known.
        let isOwn = agent.own === prompt
        end(prompt, outcome, answering: agent)
        let (caller, now) = (prompt.caller, surroundings.uptime())
        let backOff = backOffs[caller.uid]
        let wait =
            isOwn
            ? backOff?.remaining(caller.strength, caller.app, now: now)
            : backOff?.remaining(AppKey(caller), now: now)
        var writer = JSONWriter()
        writer.object { $0.member("wait", isSilenced ? nil : wait) }
        return writer.bytes
    }

    /// Dismisses the matching open prompts. Answered prompts are left out, because the policy applies to
    /// their answers anyway. The person decided nothing, so this does not count toward the back-off.
    package func withdraw(where isMoot: (Prompt) -> Bool) {
        for prompt in users.values.flatMap(\.open) where !prompt.isAnswered && isMoot(prompt) {
            end(prompt, .dismissed, isCounted: false)
        }
    }

    /// Shows prompts again if the policy changed the choices that they offer. The broker withdraws the prompt
    /// from its agents and sends it again under a new cookie. After that, the broker accepts no answer to the
    /// old version. A manage prompt that the person opened is only withdrawn; the person can open it again.
    ///
    /// - Parameter randomName: makes the new cookie. Without one, the prompt is dismissed.
    package func showAnew(where isStale: (Prompt) -> Bool, randomName: () -> String? = Prompt.randomName) {
        for prompt in users.values.flatMap(\.shown) where !prompt.isAnswered && isStale(prompt) {
            // A prompt whose timeout was deferred ends here, because its password request is withdrawn.
            prompt.withdrawPasswords()
            let agents = prompt.agents
            guard !agents.isEmpty, users[prompt.caller.uid]?.shown.contains(where: { $0 === prompt }) == true
            else { continue }
            guard let cookie = randomName() else {
                end(prompt, .dismissed, isCounted: false)
                continue
            }
            let former = prompt.cookie
            prompt.cookie = cookie
            prompt.asOf = nil
            prompt.agents = []
            for agent in agents {
                agent.serve.reply(continues: true) { $0.member("withdrawn", former) }
                send(prompt, to: agent)
            }
        }
        for agent in users.values.flatMap(\.agents) {
            guard let own = agent.own, !own.isAnswered, isStale(own) else { continue }
            agent.own = nil
            own.withdrawPasswords()
            agent.serve.reply(continues: true) { $0.member("withdrawn", own.cookie) }
        }
    }

    /// Shows the prompts again that show records which have changed.
    package func showAnew(after made: [BookChange], uid: UInt32) {
        showAnew { prompt in prompt.caller.uid == uid && prompt.question.save?.concerns(made) == true }
    }

    private func count(_ outcome: PromptOutcome, of prompt: Prompt) {
        let caller = prompt.caller
        let now = surroundings.uptime()
        switch outcome {
        case .granted(let newly) where !newly.isEmpty || prompt.kind == .access || prompt.kind == .keys:
            approved(caller, now: now)
        case .picked, .proposed(.some), .allowed: approved(caller, now: now)
        case .granted, .proposed(nil), .refused, .dismissed:
            backOffs[caller.uid, default: BackOff(limits: surroundings.limits)]
                .grantedNothing(caller, denied: prompt.isDenied, now: now)
        case .noAgent: break
        }
    }

    private func approved(_ caller: Caller, now: Int64) {
        backOffs[caller.uid]?.approved(caller)
        with(caller.uid) { $0.crowd.approved(caller, now: now) }
    }

    // MARK: Administrators

    /// Resets the back-off of some apps of a user. If one of these apps is weakly identified, also resets the
    /// limits that such apps share.
    ///
    /// - Parameters:
    ///   - isMeant: whether to reset the app with this strength and identifier.
    ///   - callers: the connected callers of these apps.
    ///   - weak: whether to reset the shared limits even if no back-off of a weakly identified app is reset.
    /// - Returns: the apps whose back-off was reset.
    package func dropWaits(
        _ uid: UInt32, where isMeant: (IdentityStrength, String) -> Bool, connected callers: [Caller], weak: Bool
    ) -> [(strength: IdentityStrength, app: String)] {
        let dropped = backOffs[uid]?.drop(where: isMeant, keys: Set(callers.map(AppKey.init))) ?? []
        if weak || dropped.contains(where: \.strength.sharesCrowd) { users[uid]?.crowd.reset(where: isMeant) }
        takeTurns(uid)
        return dropped
    }

    /// The users who have an app that must wait.
    package var waitingUsers: Dictionary<UInt32, BackOff>.Keys { backOffs.keys }

    /// Returns the seconds, rounded up, that an app must still wait; `nil` if it does not have to wait.
    package func wait(of principal: Principal) -> Int? {
        backOffs[principal.uid]?.remaining(principal.strength, principal.app, now: surroundings.uptime())
    }

    /// Ends all prompts of a user, and resets the user's back-off and shared limits.
    package func drop(_ uid: UInt32) {
        // An answer that is being synced then finds neither its prompt nor its grant.
        for prompt in users[uid]?.open ?? [] { end(prompt, .dismissed, isCounted: false) }
        for agent in users[uid]?.agents ?? [] { agent.own = nil }
        backOffs[uid] = nil
        users[uid]?.resetLimits()
    }
}
