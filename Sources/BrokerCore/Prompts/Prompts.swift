import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink

/// The open prompts, in one queue per user, and the agents that may answer them. It lives on the event loop.
final class Prompts {
    private struct UserPrompts {
        /// Prompts that are shown one at a time. The first one is shown.
        var queue: [Prompt] = []
        /// Quiet prompts. Agents show each as one line next to the first prompt, so that a denied app does
        /// not delay others.
        var quiet: [Prompt] = []
        var agents: [Agent] = []

        /// The prompts that agents may show: the first one of the queue, and all quiet ones.
        var shown: [Prompt] { queue.prefix(1) + quiet }
        var open: [Prompt] { queue + quiet }
    }

    private let surroundings: Surroundings
    private var users: [UInt32: UserPrompts] = [:]
    private var backOff: BackOff
    private let descriptions: PromptDescriptions

    init(surroundings: Surroundings, descriptions: PromptDescriptions) {
        self.descriptions = descriptions
        self.surroundings = surroundings
        backOff = BackOff(limits: surroundings.limits)
    }

    // MARK: Asking

    /// Throws unless the person may be prompted for this caller at this time. Call this before reading
    /// anything for the prompt.
    func mayAsk(_ kind: PromptKind, isQuiet: Bool, for caller: Caller) throws(VarlinkError) {
        if let seconds = backOff.remaining(caller.uid, caller.strength, caller.app, now: surroundings.uptime()) {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: seconds)
        }
        let open = users[caller.uid]?.open ?? []
        let own = open.filter { $0.caller.principals.last == caller.principals.last }
        if kind == .access, own.contains(where: { $0.kind == .access && $0.caller == caller }) { return }
        guard own.isEmpty, open.count < surroundings.limits.prompts, hasRoom(among: open, isQuiet: isQuiet, for: caller)
        else {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: 1)
        }
    }

    /// Whether another prompt fits within the limit that weakly identified callers share. Once one of their
    /// prompts grants nothing, they may together have only one open prompt, like a single app. Other callers
    /// are not limited here.
    private func hasRoom(among open: [Prompt], isQuiet: Bool, for caller: Caller) -> Bool {
        guard caller.strength.namesNobody else { return true }
        // Denied apps, whose prompts are quiet, and other apps are counted separately.
        let crowd = open.filter { $0.caller.strength.namesNobody && $0.isQuiet == isQuiet }
        return crowd.count < (isQuiet || backOff.isFresh(caller) ? surroundings.limits.promptsOfWeakCallers : 1)
    }

    /// Queues a prompt. A call for an access prompt joins the same caller's open access prompt, if there is
    /// one.
    func ask(
        _ prompt: Prompt, for call: Call, done: @escaping (PromptOutcome) -> Void
    ) throws(VarlinkError) {
        try mayAsk(prompt.kind, isQuiet: prompt.isQuiet, for: prompt.caller)
        let uid = prompt.caller.uid
        let joined = users[uid]?.queue.first {
            prompt.kind == .access && $0.kind == .access && $0.caller == prompt.caller && !$0.isAnswered
        }
        let asked = joined ?? prompt
        guard asked.waiting.count < surroundings.limits.callsPerPrompt else {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: 1)
        }
        asked.wait(call, done)
        call.onAbandoned = { [weak self, weak asked, weak call] in
            guard let self, let asked, let call, asked.stopWaiting(call), !asked.isAnswered else { return }
            self.end(asked, .dismissed)
        }
        guard joined == nil else { return }
        if prompt.isQuiet {
            users[uid, default: UserPrompts()].quiet.append(prompt)
        } else {
            users[uid, default: UserPrompts()].queue.append(prompt)
        }
        notifyAgents(uid)
        if users[uid]?.shown.contains(where: { $0 === prompt }) == true { begin(prompt) }
    }

    /// Sends a prompt whose turn has come to the agents that may answer it. If there is no such agent, the
    /// prompt waits for one for a limited time.
    private func begin(_ prompt: Prompt) {
        let agents = users[prompt.caller.uid]?.agents.filter { mayAnswer($0, prompt) } ?? []
        if agents.isEmpty { return startTimer(prompt, surroundings.limits.agentTimeout, .noAgent) }
        for agent in agents { send(prompt, to: agent) }
    }

    /// Whether an agent may answer a prompt. It may not if its process raised the prompt, or if one of the
    /// two processes is an ancestor of the other.
    private func mayAnswer(_ agent: Agent, _ prompt: Prompt) -> Bool {
        !agent.notifyOnly && agent.session.caller.process != prompt.caller.process
            && !surroundings.areKin(agent.session.caller.process, prompt.caller.process)
    }

    private func send(_ prompt: Prompt, to agent: Agent) {
        let uid = prompt.caller.uid
        if prompt.deadline == nil {
            prompt.deadline = surroundings.uptime() + surroundings.limits.promptTimeout.microseconds
            startTimer(prompt, surroundings.limits.promptTimeout, .dismissed)
        }
        prompt.agents.append(agent)
        let left = (prompt.deadline ?? 0) - surroundings.uptime()
        let expires = (surroundings.now() + left) / 1_000_000
        let waiting = max(0, (users[uid]?.queue.count ?? 1) - 1)
        agent.serve.reply(descriptions.describe(prompt, waiting: waiting, expires: expires), continues: true)
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

    /// The prompt that an agent shows under this cookie; `nil` if there is none, or if it is already answered
    /// or has timed out.
    func prompt(_ cookie: String, shownTo agent: Agent) -> Prompt? {
        if let own = agent.own, own.cookie == cookie {
            return own.isAnswered || own.deadline.map { $0 < surroundings.uptime() } ?? true ? nil : own
        }
        return users[agent.session.caller.uid]?.shown.first {
            $0.cookie == cookie && !$0.isAnswered && $0.agents.contains { $0 === agent }
        }
    }

    /// Registers an answer that waits for the person's password. The prompt stays open meanwhile, also for another
    /// agent's answer.
    func wait(_ prompt: Prompt, for password: WantedPassword) {
        prompt.wait(for: password)
        password.onEnd = { [weak self, weak password] verdict in
            guard let self, let password else { return }
            prompt.stopWaiting(for: password)
            guard prompt.passwords.isEmpty, let outcome = prompt.overdue else { return }
            prompt.overdue = nil
            // With the password, the answer gets a short time to take effect. Without it, the deferred timeout
            // applies.
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
    ///   - answering: the agent that answered, which need not be told that the prompt is withdrawn.
    ///   - isCounted: whether the outcome counts toward the app's back-off.
    func end(_ prompt: Prompt, _ outcome: PromptOutcome, answering: Agent? = nil, isCounted: Bool = true) {
        let uid = prompt.caller.uid
        if let answering, answering.own === prompt {
            answering.own = nil
            prompt.withdrawPasswords()
            return
        }
        guard let prompts = users[uid], prompts.open.contains(where: { $0 === prompt }) else { return }
        let wasFirst = prompts.queue.first === prompt
        users[uid]?.queue.removeAll { $0 === prompt }
        users[uid]?.quiet.removeAll { $0 === prompt }
        prompt.timer?.cancel()
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
        // A callback above may have raised the next prompt, which has then already begun.
        if wasFirst, let next = users[uid]?.queue.first, next.timer == nil { begin(next) }
    }

    /// Dismisses the matching open prompts. Answered prompts are left out, because the policy applies to
    /// their answers anyway. The person decided nothing, so this does not count toward the back-off.
    func withdraw(where isMoot: (Prompt) -> Bool) {
        for prompt in users.values.flatMap(\.open) where !prompt.isAnswered && isMoot(prompt) {
            end(prompt, .dismissed, isCounted: false)
        }
    }

    /// Shows prompts again if the policy changed the choices that they offer. The broker withdraws the prompt
    /// from its agents and sends it again under a new cookie. After that, the broker accepts no answer to the
    /// old version. A manage prompt that the person opened is only withdrawn; the person can open it again.
    func showAnew(where isStale: (Prompt) -> Bool) {
        for prompt in users.values.flatMap(\.shown) where !prompt.isAnswered && isStale(prompt) {
            // A prompt whose timeout was deferred ends here, because its password request is withdrawn.
            prompt.withdrawPasswords()
            let agents = prompt.agents
            guard !agents.isEmpty, users[prompt.caller.uid]?.shown.contains(where: { $0 === prompt }) == true
            else { continue }
            let former = prompt.cookie
            prompt.cookie = Prompt.randomName() ?? former
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

    private func count(_ outcome: PromptOutcome, of prompt: Prompt) {
        switch outcome {
        case .granted(let newly) where !newly.isEmpty || prompt.kind == .access: backOff.approved(prompt.caller)
        case .picked, .proposed(.some): backOff.approved(prompt.caller)
        case .granted, .proposed(nil), .refused, .dismissed, .noAgent:
            backOff.grantedNothing(prompt.caller, denied: prompt.isQuiet, now: surroundings.uptime())
        }
    }

    // MARK: Agents

    /// Whether one more agent may serve this user. Notify-only agents have a separate limit: they need no
    /// password, and must not displace agents whose user gave one.
    func hasRoom(ofAgentsOf uid: UInt32, notifyOnly: Bool) -> Bool {
        let agents = users[uid]?.agents ?? []
        return agents.count { $0.notifyOnly == notifyOnly } < surroundings.limits.agents
    }

    /// Starts to serve an agent. Returns `false` if the user has too many agents.
    func serve(_ agent: Agent) -> Bool {
        let uid = agent.session.caller.uid
        let others = users[uid]?.agents.filter { !$0.notifyOnly } ?? []
        guard hasRoom(ofAgentsOf: uid, notifyOnly: agent.notifyOnly) else { return false }
        users[uid, default: UserPrompts()].agents.append(agent)
        let waiting = users[uid]?.open.count ?? 0
        agent.serve.reply(continues: true) {
            if !agent.notifyOnly { $0.member("agent", agent.token) }
            $0.member("waiting", waiting)
            if !agent.notifyOnly { $0.member("others", others.count) }
        }
        if !agent.notifyOnly {
            for other in others {
                other.serve.reply(continues: true) {
                    $0.member("others", others.count)
                    // The broker found the terminal from the agent's process. The agent's own parameter is
                    // not trusted.
                    $0.member("joined", agent.session.caller.terminal ?? "no terminal")
                }
            }
            for prompt in users[uid]?.shown ?? [] where !prompt.isAnswered && mayAnswer(agent, prompt) {
                send(prompt, to: agent)
            }
        }
        return true
    }

    /// The agent with this token. Throws unless the same process serves as that agent.
    func agent(_ token: String, of session: CallerSession) throws(VarlinkError) -> Agent {
        let agent = users[session.caller.uid]?.agents.first {
            !$0.notifyOnly && $0.token == token && $0.session.caller.process == session.caller.process
        }
        guard let agent else { throw AgentError.notAnAgent("this process has no agent with that token") }
        return agent
    }

    /// Removes the agent of a closed connection. A prompt that only this agent showed then waits for another
    /// agent.
    func agentLeft(_ session: CallerSession) {
        let uid = session.caller.uid
        guard let leaving = users[uid]?.agents.first(where: { $0.session === session }) else { return }
        users[uid]?.agents.removeAll { $0 === leaving }
        guard !leaving.notifyOnly else { return }
        let others = users[uid]?.agents.filter { !$0.notifyOnly } ?? []
        for other in others { other.serve.reply(continues: true) { $0.member("others", others.count - 1) } }
        leaving.own?.withdrawPasswords()
        for prompt in users[uid]?.shown ?? [] where !prompt.isAnswered {
            guard prompt.agents.contains(where: { $0 === leaving }) else { continue }
            prompt.agents.removeAll { $0 === leaving }
            // If an answer from this agent waits for a password, the answer no longer counts, although it
            // came on a different connection.
            prompt.withdrawPasswords(of: leaving.session.caller.process)
            guard prompt.agents.isEmpty else { continue }
            prompt.deadline = nil
            startTimer(prompt, surroundings.limits.agentTimeout, .dismissed)
        }
    }

    private func notifyAgents(_ uid: UInt32) {
        let waiting = users[uid]?.open.count ?? 0
        for agent in users[uid]?.agents ?? [] where agent.notifyOnly {
            agent.serve.reply(continues: true) { $0.member("waiting", waiting) }
        }
    }

    /// The number of agents that serve this user; if `uid` is `nil`, all users.
    func agentCount(_ uid: UInt32?) -> Int { users(of: uid).reduce(0) { $0 + $1.agents.count } }

    private func users(of uid: UInt32?) -> [UserPrompts] {
        guard let uid else { return Array(users.values) }
        return users[uid].map { [$0] } ?? []
    }

    /// This user's open prompts, and whether an agent shows each.
    func open(_ uid: UInt32) -> [(prompt: Prompt, isShown: Bool)] {
        let prompts = users[uid] ?? UserPrompts()
        return prompts.open.map { prompt in (prompt, !prompt.agents.isEmpty) }
    }

    /// The number of this user's open prompts; if `uid` is `nil`, of all users' prompts.
    func openCount(_ uid: UInt32?) -> Int { users(of: uid).reduce(0) { $0 + $1.open.count } }

    /// Resets the back-off of some apps of a user; see ``BackOff/drop(_:where:weak:)``.
    func dropWaits(
        _ uid: UInt32, where isMeant: (IdentityStrength, String) -> Bool, weak: Bool
    ) -> [(strength: IdentityStrength, app: String)] {
        backOff.drop(uid, where: isMeant, weak: weak)
    }

    /// The seconds, rounded up, that an app must still wait; `nil` if it need not wait.
    func wait(of principal: Principal) -> Int? {
        backOff.remaining(principal.uid, principal.strength, principal.app, now: surroundings.uptime())
    }

    /// Ends all prompts of a user, and resets the back-off of the user's apps.
    func drop(_ uid: UInt32) {
        // An answer that is being synced finds neither its prompt nor its grant afterwards.
        for prompt in users[uid]?.open ?? [] { end(prompt, .dismissed) }
        for agent in users[uid]?.agents ?? [] { agent.own = nil }
        backOff.drop(uid)
    }
}
