import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerVarlink

/// Manages the agents, and counts agents and open prompts for notify-only agents and administrators.
extension Prompts {
    /// Whether one more agent may serve this user. Notify-only agents have a separate limit, because they
    /// need no password and must not keep out agents that need one.
    package func hasRoom(ofAgentsOf uid: UInt32, notifyOnly: Bool) -> Bool {
        let agents = users[uid]?.agents ?? []
        return agents.count { $0.notifyOnly == notifyOnly } < surroundings.limits.agents
    }

    /// Starts to serve an agent; returns `false` if the user has too many agents.
    package func serve(_ agent: Agent) -> Bool {
        let uid = agent.session.caller.uid
        let others = users[uid]?.agents.filter { !$0.notifyOnly } ?? []
        guard hasRoom(ofAgentsOf: uid, notifyOnly: agent.notifyOnly) else { return false }
        with(uid) { $0.agents.append(agent) }
        let waiting = users[uid]?.open.count { !agent.notifyOnly || $0.isAnnounced } ?? 0
        agent.serve.reply(continues: true) {
            if !agent.notifyOnly { $0.member("agent", agent.token) }
            $0.member("waiting", waiting)
            if !agent.notifyOnly { $0.member("others", others.count) }
        }
        if !agent.notifyOnly {
            for other in others {
                other.serve.reply(continues: true) {
                    $0.member("others", others.count)
                    // The broker found this terminal itself. It ignores the terminal that the agent sent.
                    $0.member("joined", agent.session.caller.terminal ?? "no terminal")
                }
            }
            // Prompts that waited for an agent now wait for their turn.
            for prompt in users[uid]?.waiting ?? [] {
                prompt.timer?.cancel()
                prompt.timer = nil
            }
            for prompt in users[uid]?.shown ?? [] where !prompt.isAnswered && mayAnswer(agent, prompt) {
                send(prompt, to: agent)
            }
        }
        return true
    }

    /// Returns the agent with this token. Throws if there is none, or if the caller is a different process.
    package func agent(_ token: String, of session: CallerSession) throws(VarlinkError) -> Agent {
        let agent = users[session.caller.uid]?.agents.first {
            !$0.notifyOnly && $0.token == token && $0.session.caller.process == session.caller.process
        }
        guard let agent else { throw AgentError.notAnAgent("this process has no agent with that token") }
        return agent
    }

    /// Removes the agent of a closed connection. Prompts that only this agent showed wait for another agent.
    ///
    /// - Returns: whether there was an agent that could answer prompts.
    package func agentLeft(_ session: CallerSession) -> Bool {
        let uid = session.caller.uid
        guard let leaving = users[uid]?.agents.first(where: { $0.session === session }) else { return false }
        users[uid]?.agents.removeAll { $0 === leaving }
        guard !leaving.notifyOnly else { return false }
        let others = users[uid]?.agents.filter { !$0.notifyOnly } ?? []
        for other in others { other.serve.reply(continues: true) { $0.member("others", others.count - 1) } }
        leaving.own?.withdrawPasswords()
        for prompt in users[uid]?.shown ?? [] where !prompt.isAnswered {
            guard prompt.agents.contains(where: { $0 === leaving }) else { continue }
            prompt.agents.removeAll { $0 === leaving }
            // The agent's answers, which came on its other connection, must not take effect.
            prompt.withdrawPasswords(of: leaving.session.caller.process)
            if prompt.agents.isEmpty { awaitAgent(prompt) }
        }
        guard others.isEmpty else { return true }
        for prompt in users[uid]?.waiting ?? [] { awaitAgent(prompt) }
        return true
    }

    func notifyAgents(_ uid: UInt32) {
        let waiting = users[uid]?.open.count(where: \.isAnnounced) ?? 0
        for agent in users[uid]?.agents ?? [] where agent.notifyOnly {
            agent.serve.reply(continues: true) { $0.member("waiting", waiting) }
        }
    }

    /// Tells the agents that watch how many prompts wait for the one that they show, if the number has changed.
    func tellWaiting(_ uid: UInt32) {
        let waiting = users[uid]?.queue.count ?? 0
        for agent in users[uid]?.agents ?? [] where agent.watches && !agent.notifyOnly && agent.toldWaiting != waiting {
            agent.toldWaiting = waiting
            agent.serve.reply(continues: true) { $0.member("waiting", waiting) }
        }
    }

    /// Tells a user's agents that watch that an app's access has changed or was used: at once, and then at most once in
    /// ``Limits/accessPause``.
    package func accessChanged(_ uid: UInt32) {
        guard let user = users[uid], user.agents.contains(where: \.watches) else { return }
        guard user.accessPause == nil else {
            users[uid]?.isAccessChanged = true
            return
        }
        for agent in user.agents where agent.watches && !agent.notifyOnly {
            agent.serve.reply(continues: true) { $0.member("accessChanged", true) }
        }
        users[uid]?.isAccessChanged = false
        users[uid]?.accessPause = surroundings.loop.later(after: surroundings.limits.accessPause) { [weak self] in
            guard let self else { return }
            users[uid]?.accessPause = nil
            if users[uid]?.isAccessChanged == true { accessChanged(uid) }
        }
    }

    /// Returns the number of this user's agents, or of all agents if `uid` is `nil`.
    package func agentCount(_ uid: UInt32?) -> Int { users(of: uid).reduce(0) { $0 + $1.agents.count } }

    private func users(of uid: UInt32?) -> [UserPrompts] {
        guard let uid else { return Array(users.values) }
        return users[uid].map { [$0] } ?? []
    }

    /// Returns the open prompts of this user, or of all users if `uid` is `nil`, each with whether an agent shows it.
    package func open(_ uid: UInt32?) -> [(prompt: Prompt, isShown: Bool)] {
        users(of: uid).flatMap(\.open).map { prompt in (prompt, !prompt.agents.isEmpty) }
    }

    /// Returns the number of this user's open prompts, or of all open prompts if `uid` is `nil`.
    package func openCount(_ uid: UInt32?) -> Int { users(of: uid).reduce(0) { $0 + $1.open.count } }
}
