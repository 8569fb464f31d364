import BrokerAccessControl
import BrokerBounds
import BrokerJSON
import BrokerLedger
import BrokerVarlink

/// The query of an access button. The app may change it until the person uses the prompt. It lives on the event loop.
package final class PromptQuery {
    /// The queries that were sent to agents; the last one is current.
    private var texts: [String]
    /// The newest query, while the limits do not permit showing it.
    private var next: String?
    /// Shows ``next``.
    var timer: (any Scheduled)?
    /// The changes, on the clock ``Surroundings/uptime``.
    private var changes = SlidingWindow()
    /// Whether the person has used the prompt. The app cannot change what the person is looking at.
    private(set) var isFrozen = false

    init(_ text: String) { texts = [text] }

    var text: String { texts[texts.endIndex - 1] }

    /// What to do about a query that differs from the shown one.
    enum Change {
        case show(String)
        /// Wait until the limits permit showing it.
        case wait(Duration)
    }

    /// Sets the query to show next. Does nothing if the query is frozen.
    func want(_ text: String) { if !isFrozen { next = text == self.text ? nil : text } }

    /// Returns `nil` if there is no other query to show.
    func change(now: Int64, _ limits: Limits) -> Change? {
        guard let next else { return nil }
        if let wait = changes.take(limits.queryChangesPerSecond, within: .seconds(1), now: now) { return .wait(wait) }
        texts = texts.suffix(limits.formerQueries) + [next]
        self.next = nil
        return .show(next)
    }

    package func freeze() {
        isFrozen = true
        next = nil
    }

    /// Freezes the query if the person searched for another text. An agent may still search for an earlier query
    /// whose change it did not get yet.
    package func noteSearch(_ text: String) { if !texts.contains(text) { freeze() } }
}

extension Prompts {
    /// Changes the query of a caller's open access button, and reports it to the agents that show the prompt.
    ///
    /// - Parameter token: the caller's name for its request.
    package func update(_ query: String, ofRequest token: String, by caller: Caller) {
        let prompt = users[caller.uid]?.open.first { $0.question.token == token && $0.caller == caller }
        prompt?.query?.want(query)
        if let prompt { showQuery(of: prompt) }
    }

    /// Reports the newest query to the prompt's agents, as soon as the limits permit it.
    private func showQuery(of prompt: Prompt) {
        guard let query = prompt.query, !prompt.isAnswered, query.timer == nil else { return }
        switch query.change(now: surroundings.uptime(), surroundings.limits) {
        case nil: return
        case .wait(let time):
            query.timer = surroundings.loop.later(after: time) { [weak self, weak prompt] in
                guard let prompt else { return }
                prompt.query?.timer = nil
                self?.showQuery(of: prompt)
            }
        case .show(let text):
            for agent in prompt.agents {
                agent.serve.reply(continues: true) {
                    $0.member("updated", prompt.cookie)
                    $0.member("query", text)
                }
            }
        }
    }
}
