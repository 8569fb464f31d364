import BrokerAccessControl
import BrokerModel

/// The result of the password request for an answer, once it was accepted.
struct Approval {
    /// The contacts that the answer would have granted when the password was requested.
    let rows: Set<RecordNumber>
    /// Whether the password was given. It was not if nothing can ask for one and the policy permits that.
    let hasPassword: Bool
}

/// Who gave an answer: the agent that sent it, and whether a password was given with it. Anybody who can run a
/// program as the user may run an agent, so an answer is only as good as its agent.
struct AnswerSource {
    let agent: Caller
    let hasPassword: Bool

    init(_ agent: Agent, _ approval: Approval?) {
        (self.agent, hasPassword) = (agent.session.caller, approval?.hasPassword ?? false)
    }

    /// - Parameter agent: the connection of an agent in session mode, where nothing asks for a password.
    init(_ agent: CallerSession) { (self.agent, hasPassword) = (agent.caller, false) }

    /// The words for the audit and the grant.
    var words: String {
        // The record of the agent's joining has the hash too.
        let name = agent.app.hasPrefix("/") ? agent.executable ?? agent.app : agent.app
        return "by \(name) (\(agent.strength.rawValue)), \(Self.words(hasPassword: hasPassword))"
    }

    static func words(hasPassword: Bool) -> String { hasPassword ? "with the password" : "without a password" }
}

extension GroupCommit {
    /// Records an answer to a prompt.
    ///
    /// - Parameter what: the answer, if the record's status does not say it.
    func recordAnswer(
        to prompt: Prompt, from source: AnswerSource, _ what: String? = nil,
        _ fill: (inout AuditRecord) -> Void = { _ in }
    ) {
        let detail = [what, source.words].compactMap(\.self).joined(separator: ", ")
        record(.answer, of: prompt.caller, fill, detail: detail)
    }
}
