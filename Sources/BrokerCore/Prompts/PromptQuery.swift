import BrokerAccessControl
import BrokerJSON
import BrokerVarlink

/// The query of an access button. The app may change it until the person uses the prompt. It lives on the event loop.
final class PromptQuery {
    /// The queries since the prompt was raised; the last one is the present one.
    private var texts: [String]
    /// When the last changes were made, in microseconds of ``Surroundings/uptime``.
    private var changes: [Int64] = []
    /// Whether the person has used the prompt. The app cannot change what the person is looking at.
    private(set) var isFrozen = false

    init(_ text: String) { texts = [text] }

    var text: String { texts[texts.endIndex - 1] }

    /// Changes the query. Does nothing if the query is frozen or the limits do not permit the change.
    ///
    /// - Returns: whether the query is a different one now.
    func change(to text: String, now: Int64, _ limits: Limits) -> Bool {
        guard !isFrozen, text != self.text, texts.count <= limits.queryChanges else { return false }
        changes.removeAll { now - $0 >= 1_000_000 }
        guard changes.count < limits.queryChangesPerSecond else { return false }
        changes.append(now)
        texts.append(text)
        return true
    }

    func freeze() { isFrozen = true }

    /// Freezes the query if the person searched for another text. An agent may still search for an earlier query
    /// whose change it did not get yet.
    func noteSearch(_ text: String) { if !texts.contains(text) { isFrozen = true } }
}

extension Prompts {
    /// Changes the query of a caller's open access button, and reports it to the agents that show the prompt.
    ///
    /// - Parameter token: the caller's name for its request.
    func update(_ query: String, ofRequest token: String, by caller: Caller) {
        let prompt = users[caller.uid]?.open.first { $0.question.token == token && $0.caller == caller }
        guard let prompt, !prompt.isAnswered,
            prompt.query?.change(to: query, now: surroundings.uptime(), surroundings.limits) == true
        else { return }
        for agent in prompt.agents {
            agent.serve.reply(continues: true) {
                $0.member("updated", prompt.cookie)
                $0.member("query", query)
            }
        }
    }
}
