import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink

/// What the persons are being asked: one queue for each user, and the agents that may answer. It lives on the loop.
final class Prompts {
    private struct Desk {
        /// Taken in turn: the first one is shown.
        var queue: [Prompt] = []
        /// One line each, beside whatever is shown: an app that was denied must not keep others waiting.
        var quiet: [Prompt] = []
        var agents: [Agent] = []

        /// The prompts that agents have now.
        var shown: [Prompt] { queue.prefix(1) + quiet }
        var open: [Prompt] { queue + quiet }
    }

    private let surroundings: Surroundings
    private var desks: [UInt32: Desk] = [:]
    private var backOff: BackOff
    private let descriptions: PromptDescriptions

    init(surroundings: Surroundings, descriptions: PromptDescriptions) {
        self.descriptions = descriptions
        self.surroundings = surroundings
        backOff = BackOff(limits: surroundings.limits)
    }

    // MARK: Asking

    /// Makes sure that the person may be asked for this caller now; looked at before anything is read for the prompt.
    func mayAsk(_ kind: PromptKind, isQuiet: Bool, for caller: Caller) throws(VarlinkError) {
        if let seconds = backOff.remaining(caller.uid, caller.strength, caller.app, now: surroundings.uptime()) {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: seconds)
        }
        let open = desks[caller.uid]?.open ?? []
        let own = open.filter { $0.caller.principals.last == caller.principals.last }
        if kind == .access, own.contains(where: { $0.kind == .access && $0.caller == caller }) { return }
        guard own.isEmpty, open.count < surroundings.limits.prompts, hasRoom(among: open, isQuiet: isQuiet, for: caller)
        else {
            throw ContactsError.tooManyPrompts(retryAfterSeconds: 1)
        }
    }

    /// A hundred processes that go by no lasting name are one crowd. Once a prompt of theirs granted nothing, they are
    /// asked about as one program is: one prompt, and the wait after it.
    private func hasRoom(among open: [Prompt], isQuiet: Bool, for caller: Caller) -> Bool {
        guard caller.strength.namesNobody else { return true }
        // One that was denied keeps those from asking that were denied, and nobody else.
        let crowd = open.filter { $0.caller.strength.namesNobody && $0.isQuiet == isQuiet }
        return crowd.count < (isQuiet || backOff.isFresh(caller) ? surroundings.limits.promptsOfWeakCallers : 1)
    }

    /// Puts a question into the queue, or joins the same caller's question for access.
    func ask(
        _ prompt: Prompt, for call: Call, done: @escaping (PromptOutcome) -> Void
    ) throws(VarlinkError) {
        try mayAsk(prompt.kind, isQuiet: prompt.isQuiet, for: prompt.caller)
        let uid = prompt.caller.uid
        let joined = desks[uid]?.queue.first {
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
            desks[uid, default: Desk()].quiet.append(prompt)
        } else {
            desks[uid, default: Desk()].queue.append(prompt)
        }
        tellNotifiers(uid)
        if desks[uid]?.shown.contains(where: { $0 === prompt }) == true { begin(prompt) }
    }

    /// Shows a prompt whose turn has come.
    private func begin(_ prompt: Prompt) {
        let agents = desks[prompt.caller.uid]?.agents.filter { mayAnswer($0, prompt) } ?? []
        if agents.isEmpty { return startTimer(prompt, surroundings.limits.agentTimeout, .noAgent) }
        for agent in agents { send(prompt, to: agent) }
    }

    /// A caller does not answer its own prompt: neither from within nor through what it started or was started by.
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
        let waiting = max(0, (desks[uid]?.queue.count ?? 1) - 1)
        agent.serve.reply(descriptions.describe(prompt, waiting: waiting, expires: expires), continues: true)
    }

    private func startTimer(_ prompt: Prompt, _ delay: Duration, _ outcome: PromptOutcome) {
        prompt.timer?.cancel()
        prompt.timer = surroundings.loop.later(after: delay) { [self] in
            // An answer that is on its way to the disk was in time, and so was one that waits for the password: then that.
            if prompt.isAnswered { return }
            guard prompt.passwords.isEmpty else {
                prompt.overdue = outcome
                return
            }
            end(prompt, outcome)
        }
    }

    // MARK: Answering

    /// The prompt that an agent is showing under this cookie.
    func prompt(_ cookie: String, shownTo agent: Agent) -> Prompt? {
        if let own = agent.own, own.cookie == cookie {
            return own.isAnswered || own.deadline.map { $0 < surroundings.uptime() } ?? true ? nil : own
        }
        return desks[agent.session.caller.uid]?.shown.first {
            $0.cookie == cookie && !$0.isAnswered && $0.agents.contains { $0 === agent }
        }
    }

    /// An answer waits for the person's password. The prompt stays open meanwhile, also for another agent's answer.
    func wait(_ prompt: Prompt, for password: WantedPassword) {
        prompt.wait(for: password)
        password.onEnd = { [weak self, weak password] verdict in
            guard let self, let password else { return }
            prompt.stopWaiting(for: password)
            guard prompt.passwords.isEmpty, let outcome = prompt.overdue else { return }
            prompt.overdue = nil
            // With the password the answer has a moment to count; without it the time that was over is over.
            if verdict == .granted {
                startTimer(prompt, surroundings.limits.agentTimeout, outcome)
            } else {
                end(prompt, outcome)
            }
        }
    }

    /// The prompt is over: tells the calls that wait, the agents that show it, and asks the next question.
    ///
    /// - Parameters:
    ///   - answering: the agent that answered, which need not be told.
    ///   - isCounted: whether the app has to wait for its next question where this one granted nothing.
    func end(_ prompt: Prompt, _ outcome: PromptOutcome, answering: Agent? = nil, isCounted: Bool = true) {
        let uid = prompt.caller.uid
        if let answering, answering.own === prompt {
            answering.own = nil
            prompt.withdrawPasswords()
            return
        }
        guard let desk = desks[uid], desk.open.contains(where: { $0 === prompt }) else { return }
        let wasFirst = desk.queue.first === prompt
        desks[uid]?.queue.removeAll { $0 === prompt }
        desks[uid]?.quiet.removeAll { $0 === prompt }
        prompt.timer?.cancel()
        prompt.timer = nil
        prompt.overdue = nil
        // What would be answered is over: nobody has to give a password for it any more.
        prompt.withdrawPasswords()
        if isCounted { count(outcome, of: prompt) }
        for agent in prompt.agents where agent !== answering {
            agent.serve.reply(continues: true) { $0.member("withdrawn", prompt.cookie) }
        }
        for (call, done) in prompt.waiting where !call.isOver {
            call.onAbandoned = nil
            done(outcome)
        }
        tellNotifiers(uid)
        // One that was raised meanwhile has begun already.
        if wasFirst, let next = desks[uid]?.queue.first, next.timer == nil { begin(next) }
    }

    /// Ends the open questions that must not be asked any more. What was answered already is judged by what it comes to. The
    /// person said nothing to them, so that no app has to wait for it.
    func withdraw(where isMoot: (Prompt) -> Bool) {
        for prompt in desks.values.flatMap(\.open) where !prompt.isAnswered && isMoot(prompt) {
            end(prompt, .dismissed, isCounted: false)
        }
    }

    /// Has agents show anew what can no longer be answered as they show it: they forget the question and are asked it again,
    /// under another cookie, since an answer to what was shown before is none to what is shown now.
    /// A grant that the person opened themselves is closed at the agent; they open it as it is now.
    func showAnew(where isStale: (Prompt) -> Bool) {
        for prompt in desks.values.flatMap(\.shown) where !prompt.isAnswered && isStale(prompt) {
            // Whose time was over ends with the password that was waited for.
            prompt.withdrawPasswords()
            let agents = prompt.agents
            guard !agents.isEmpty, desks[prompt.caller.uid]?.shown.contains(where: { $0 === prompt }) == true
            else { continue }
            let former = prompt.cookie
            prompt.cookie = Prompt.randomName() ?? former
            prompt.agents = []
            for agent in agents {
                agent.serve.reply(continues: true) { $0.member("withdrawn", former) }
                send(prompt, to: agent)
            }
        }
        for agent in desks.values.flatMap(\.agents) {
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

    /// Whether one more agent may serve this user. Those that are only notified have places of their own: they are asked
    /// for no password, and must not take the places of those who were.
    func hasRoom(ofAgentsOf uid: UInt32, notifyOnly: Bool) -> Bool {
        let agents = desks[uid]?.agents ?? []
        return agents.count { $0.notifyOnly == notifyOnly } < surroundings.limits.agents
    }

    /// An agent begins to serve; `false` if there are too many.
    func serve(_ agent: Agent) -> Bool {
        let uid = agent.session.caller.uid
        let others = desks[uid]?.agents.filter { !$0.notifyOnly } ?? []
        guard hasRoom(ofAgentsOf: uid, notifyOnly: agent.notifyOnly) else { return false }
        desks[uid, default: Desk()].agents.append(agent)
        let waiting = desks[uid]?.open.count ?? 0
        agent.serve.reply(continues: true) {
            if !agent.notifyOnly { $0.member("agent", agent.token) }
            $0.member("waiting", waiting)
            if !agent.notifyOnly { $0.member("others", others.count) }
        }
        if !agent.notifyOnly {
            for other in others {
                other.serve.reply(continues: true) {
                    $0.member("others", others.count)
                    // By the kernel's word, not the agent's own.
                    $0.member("joined", agent.session.caller.terminal ?? "no terminal")
                }
            }
            for prompt in desks[uid]?.shown ?? [] where !prompt.isAnswered && mayAnswer(agent, prompt) {
                send(prompt, to: agent)
            }
        }
        return true
    }

    /// The agent of this token, if the caller is the same process.
    func agent(_ token: String, of session: CallerSession) throws(VarlinkError) -> Agent {
        let agent = desks[session.caller.uid]?.agents.first {
            !$0.notifyOnly && $0.token == token && $0.session.caller.process == session.caller.process
        }
        guard let agent else { throw AgentError.notAnAgent("this process serves no agent of that token") }
        return agent
    }

    /// A connection is gone; if an agent served on it, its prompt waits for another one.
    func agentLeft(_ session: CallerSession) {
        let uid = session.caller.uid
        guard let leaving = desks[uid]?.agents.first(where: { $0.session === session }) else { return }
        desks[uid]?.agents.removeAll { $0 === leaving }
        guard !leaving.notifyOnly else { return }
        let others = desks[uid]?.agents.filter { !$0.notifyOnly } ?? []
        for other in others { other.serve.reply(continues: true) { $0.member("others", others.count - 1) } }
        leaving.own?.withdrawPasswords()
        for prompt in desks[uid]?.shown ?? [] where !prompt.isAnswered {
            guard prompt.agents.contains(where: { $0 === leaving }) else { continue }
            prompt.agents.removeAll { $0 === leaving }
            // Its answer, on another connection, would be nobody's.
            prompt.withdrawPasswords(of: leaving.session.caller.process)
            guard prompt.agents.isEmpty else { continue }
            prompt.deadline = nil
            startTimer(prompt, surroundings.limits.agentTimeout, .dismissed)
        }
    }

    private func tellNotifiers(_ uid: UInt32) {
        let waiting = desks[uid]?.open.count ?? 0
        for agent in desks[uid]?.agents ?? [] where agent.notifyOnly {
            agent.serve.reply(continues: true) { $0.member("waiting", waiting) }
        }
    }

    /// Agents that serve this user; `nil` for all users.
    func agentCount(_ uid: UInt32?) -> Int { desks(of: uid).reduce(0) { $0 + $1.agents.count } }

    private func desks(of uid: UInt32?) -> [Desk] {
        guard let uid else { return Array(desks.values) }
        return desks[uid].map { [$0] } ?? []
    }

    /// Prompts of this user that are open, and whether an agent has them.
    func open(_ uid: UInt32) -> [(prompt: Prompt, isShown: Bool)] {
        let desk = desks[uid] ?? Desk()
        return desk.open.map { prompt in (prompt, !prompt.agents.isEmpty) }
    }

    /// Prompts of this user that are open; `nil` for all users.
    func openCount(_ uid: UInt32?) -> Int { desks(of: uid).reduce(0) { $0 + $1.open.count } }

    /// Forgets how long some apps of a user must wait; see ``BackOff/forget(_:where:weak:)``.
    func forgetWaits(
        _ uid: UInt32, where isMeant: (IdentityStrength, String) -> Bool, weak: Bool
    ) -> [(strength: IdentityStrength, app: String)] {
        backOff.forget(uid, where: isMeant, weak: weak)
    }

    /// Whole seconds that an app must still wait; `nil` if it need not.
    func wait(of principal: Principal) -> Int? {
        backOff.remaining(principal.uid, principal.strength, principal.app, now: surroundings.uptime())
    }

    /// Ends every question of a user, and forgets how long their apps must wait.
    func forget(_ uid: UInt32) {
        // What was answered already finds nothing left to count for.
        for prompt in desks[uid]?.open ?? [] { end(prompt, .dismissed) }
        for agent in desks[uid]?.agents ?? [] { agent.own = nil }
        backOff.forget(uid)
    }
}
