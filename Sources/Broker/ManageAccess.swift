import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Varlink

/// The access picker: the person looks through what an app may see, adds and removes.
extension Broker {
    func manageAccess(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(firstName(call.parameters)) }
        let known = standing(of: session)
        switch decideManage(known.standing, mayAsk: known.mayPrompt) {
        case .answerEmpty: answerEmpty(call)
        case .ask:
            if isSilenced(session.caller) { return answerEmpty(call) }
            ask(Question(kind: .manage), call, session) { [weak self] in self?.answerNewlyGranted($0, call, session) }
        }
    }

    /// The person looks after one app's grant of their own accord. The prompt is shown to their agent alone, stands in
    /// no queue, and holds up no app's question.
    func manage(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ManageParameters(call.parameters)
        guard let agent = prompts.agent(parameters.agent, of: session) else {
            throw AgentError.notAnAgent("this process serves no agent of that token")
        }
        let found = grantedPrincipals(uid: session.caller.uid).filter { principal, _ in
            principal.app == parameters.app && principal.strength == parameters.strength
                && (parameters.session == nil || Self.words(for: principal.binding) == parameters.session)
        }
        // Where the agent does not say which: what was decided last.
        guard let (principal, _) = found.max(by: { $0.grant.revision < $1.grant.revision }) else {
            throw .invalidParameter("app")
        }
        books.with(session.caller.uid) { [weak self] result in
            guard let self, !call.isOver else { return }
            switch result {
            case .success: openOwn(principal, agent, call)
            case .failure(let error): unavailable(call, error)
            }
        }
    }

    private func openOwn(_ principal: Principal, _ agent: Agent, _ call: Call) {
        guard let cookie = Self.randomName(), let key = IdentifierCipher.randomKey(),
            let rows = IdentifierCipher(key: key)
        else { return call.fail(ContactsError.storeUnavailable) }
        let absent = CallerSession(caller: caller(standingFor: principal), door: .contacts) { done in
            done(.same)
            return nil
        }
        let prompt = Prompt(
            cookie: cookie, kind: .manage, session: absent, isQuiet: false, rows: rows)
        let time = limits.ownPromptTimeout.microseconds
        prompt.deadline = surroundings.uptime() + time
        let former = agent.own
        agent.own = prompt
        former?.withdrawPasswords()
        call.reply(describe(prompt, waiting: 0, expires: (surroundings.now() + time) / 1_000_000))
    }

    /// Stands for an app that may not even run, so that its grant can be looked up as if it called.
    private func caller(standingFor principal: Principal) -> Caller {
        var process = ProcessIdentity(pid: 0, startTime: 0)
        var session: SessionIdentity?
        // Only an interpreter's sessions and processes have identifiers of their own.
        var isInterpreter = false
        switch principal.binding {
        case .standing: break
        case .session(let bound): session = bound
        case .process(let bound): process = bound
        }
        if principal.binding != .standing {
            isInterpreter = access.identifiers(for: principal, sharesStandingKey: false) != nil
        }
        let path = principal.app.lastIndex(of: " ").map { String(principal.app[..<$0]) }
        return Caller(
            uid: principal.uid, strength: principal.strength, app: principal.app,
            displayName: access.displayName(of: principal) ?? principal.app,
            executable: principal.app.hasPrefix("/") ? path : nil, process: process, session: session, terminal: nil,
            isInterpreter: isInterpreter, isSandboxed: false)
    }

    /// How a grant that ends with a session or a process is told from the app's other ones.
    static func words(for binding: Principal.Binding) -> String? {
        switch binding {
        case .standing: nil
        case .session(let session): "terminal session of process \(session.leader.pid)"
        case .process(let process): "process \(process.pid)"
        }
    }
}
