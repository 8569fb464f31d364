import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Dispatches the calls on the agent's socket.
package struct AgentDispatcher: UsesServices {
    package let services: BrokerServices

    package init(services: BrokerServices) { self.services = services }

    package func answer(_ call: Call, _ session: CallerSession) {
        guard call.interface == ContactsInterface.agent.name, let method = AgentMethod(rawValue: String(call.name))
        else {
            return call.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            switch method {
            case .serve: try serve(call, session)
            case .search: try AgentSearches(services: services).search(call, session)
            case .show: try AgentSearches(services: services).show(call, session)
            case .answer: try AgentAnswers(services: services).answer(call, session)
            case .listGrants: try listGrants(call, session)
            case .manage: try manage(call, session)
            case .keepOpen: try keepOpen(call, session)
            case .declareFolder: try AgentFolders(services: services).declare(call, session)
            case .listFolders: try AgentFolders(services: services).list(call, session)
            case .endFolder: try AgentFolders(services: services).end(call, session)
            case .listChanges: try AgentChanges(services: services).list(call, session)
            case .putBack: try AgentChanges(services: services).putBack(call, session)
            }
        } catch {
            call.fail(error)
        }
    }

    private func serve(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ServeParameters(call.parameters)
        guard call.more else { throw .expectedMore }
        // A notify-only agent needs no password: it gets only the number of waiting prompts.
        guard !parameters.notifyOnly, grants.policy.need(for: .agent) == .password else {
            return try serve(parameters, call, session, hasPassword: false)
        }
        guard prompts.hasRoom(ofAgentsOf: session.caller.uid, notifyOnly: false) else { throw AgentError.tooManyAgents }
        passwords.want(.answer, of: session, mayInteract: true, for: call) { verdict in
            do throws(VarlinkError) {
                try grants.policy.accept(verdict)
                try serve(parameters, call, session, hasPassword: verdict == .granted)
            } catch {
                call.fail(error)
            }
        }
    }

    private func serve(
        _ parameters: ServeParameters, _ call: Call, _ session: CallerSession, hasPassword: Bool
    ) throws(VarlinkError) {
        guard let token = Prompt.randomName() else {
            throw AgentError.notAnAgent("the system has no randomness for a token")
        }
        let agent = Agent(
            token: token, session: session, notifyOnly: parameters.notifyOnly, watches: parameters.watch,
            isInstalled: surroundings.mode == .system, serve: call)
        guard prompts.serve(agent) else { throw AgentError.tooManyAgents }
        guard !agent.notifyOnly else { return }
        groupCommit.record(
            .agent, of: session.caller, detail: "joined, " + AnswerSource.words(hasPassword: hasPassword))
    }

    /// Handles `KeepOpen`: the agent reports that the person pressed a key at a prompt.
    private func keepOpen(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try PromptParameters(call.parameters)
        let agent = try prompts.agent(parameters.agent, of: session)
        guard let prompt = prompts.prompt(parameters.cookie, shownTo: agent) else { throw AgentError.unknownPrompt }
        prompt.query?.freeze()
        prompts.keepOpen(prompt)
        call.reply()
    }

    private func listGrants(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 1, let token = call.parameters["agent"]?.identifier() else {
            throw .invalidParameter("agent")
        }
        _ = try prompts.agent(token, of: session)
        let found = described.listed(uid: session.caller.uid)
        grants.openPolicyGroups(of: found.map(\.principal)) {
            call.reply {
                described.write(found, forAdministrator: false, &$0)
                $0.member(
                    "totalContacts", try? books.opened(session.caller.uid)?.count(ContactQuery(scope: .all), .bounded))
                $0.member("reason", grants.policy.unreadable?.rawValue)
                if grants.policy.rejected != nil { $0.member("formerRules", true) }
            }
        }
    }

    // MARK: One app's grant

    /// Opens a manage prompt at the person's own request. Only the agent that sends this call shows the
    /// prompt. The prompt is in no queue and delays no app's prompt.
    func manage(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ManageParameters(call.parameters)
        let agent = try prompts.agent(parameters.agent, of: session)
        let found = described.listed(uid: session.caller.uid).filter { principal, _ in
            principal.app == parameters.app && principal.strength == parameters.strength
                && (parameters.session == nil || principal.binding.words == parameters.session)
        }
        // If several grants match, the most recent one is opened.
        guard let (principal, _) = found.max(by: { ($0.grant?.revision ?? 0) < ($1.grant?.revision ?? 0) }) else {
            throw .invalidParameter("app")
        }
        books.with(session.caller.uid) { result in
            guard !call.isOver else { return }
            switch result {
            case .success: openOwn(principal, agent, call)
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }

    private func openOwn(_ principal: Principal, _ agent: Agent, _ call: Call) {
        let absent = CallerSession(caller: caller(actingFor: principal), interface: .contacts) { done in
            done(.same)
            return nil
        }
        guard let prompt = Prompt(Question(kind: .manage), of: absent, hasGrant: true) else {
            return call.fail(ContactsError.storeUnavailable)
        }
        let time = services.limits.ownPromptTimeout.microseconds
        prompt.deadline = surroundings.uptime() + time
        let former = agent.own
        agent.own = prompt
        former?.withdrawPasswords()
        call.reply(descriptions.describe(prompt, waiting: 0, expires: (surroundings.now() + time) / 1_000_000))
    }

    /// Returns a stand-in for an app that may not be running. With it, the broker looks up the app's grant as
    /// for a real caller.
    private func caller(actingFor principal: Principal) -> Caller {
        var process = ProcessIdentity(pid: 0, startTime: 0)
        var session: SessionIdentity?
        switch principal.binding {
        case .persistent: break
        case .session(let bound): session = bound
        case .process(let bound): process = bound
        }
        // The folder and the file name do not tell which file below the folder the app last ran.
        let path = principal.strength == .declared ? nil : principal.path.map(String.init)
        return Caller(
            uid: principal.uid, strength: principal.strength, app: principal.app,
            displayName: access.displayName(of: principal) ?? principal.app,
            executable: path, process: process, session: session, terminal: nil,
            isInterpreter: access.isInterpreter(principal), isSandboxed: false)
    }
}
