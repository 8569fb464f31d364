import BrokerAccessControl
import BrokerLedger
import BrokerModel

/// The result of the password request for an answer, once it was accepted.
package struct Approval {
    /// The contacts that the answer would have granted when the password was requested.
    package let rows: Set<RecordNumber>
    /// Whether the password was given. It was not if nothing can ask for one and the policy permits that.
    package let hasPassword: Bool

    package init(rows: Set<RecordNumber>, hasPassword: Bool) {
        self.rows = rows
        self.hasPassword = hasPassword
    }
}

/// Who gave an answer: the agent that sent it, and whether a password was given with it. Anybody who can run a
/// program as the user may run an agent, so an answer is only as good as its agent.
package struct AnswerSource {
    package let agent: Caller
    package let hasPassword: Bool
    private let isInstalled: Bool
    /// The review that the agent opened itself.
    private let review: Prompt?

    package init(_ agent: Agent, _ approval: Approval?) {
        (self.agent, hasPassword, isInstalled, review) = (
            agent.session.caller, approval?.hasPassword ?? false, agent.isInstalled, agent.own
        )
    }

    /// - Parameter agent: the connection of an agent in session mode, where nothing asks for a password.
    package init(_ agent: CallerSession) {
        (self.agent, hasPassword, isInstalled, review) = (agent.caller, false, false, nil)
    }

    func isReview(_ prompt: Prompt) -> Bool { review === prompt }

    /// The words for the audit and the grant.
    package var words: String {
        // The record of the agent's joining has the hash too.
        let name = agent.app.hasPrefix("/") ? agent.executable ?? agent.app : agent.app
        let words = isInstalled ? "the installed agent" : "\(name) (\(agent.strength.rawValue))"
        return "by \(words), \(Self.words(hasPassword: hasPassword))"
    }

    package static func words(hasPassword: Bool) -> String { hasPassword ? "with the password" : "without a password" }
}

extension GroupCommit {
    /// Records an answer to a prompt.
    ///
    /// - Parameter what: the answer, if the record's status does not say it.
    package func recordAnswer(
        to prompt: Prompt, from source: AnswerSource, _ what: String? = nil,
        _ fill: (inout AuditRecord) -> Void = { _ in }
    ) {
        let detail = [what, source.words].compactMap(\.self).joined(separator: ", ")
        record(.answer, of: prompt.caller, fill, detail: (source.isReview(prompt) ? AuditRecord.inReview : "") + detail)
    }
}
