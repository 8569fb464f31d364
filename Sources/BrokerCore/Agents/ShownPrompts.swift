import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerVarlink

/// Looks up the prompt that an agent's call concerns.
struct ShownPrompts {
    let books: Books
    let prompts: Prompts
    let problems: StoreProblems

    /// Opens the book, and passes the agent, the prompt and the book to `body`. A call on the agent's second
    /// connection names the agent and the prompt.
    ///
    /// The agent and the prompt are looked up again once the book is open, because the prompt may have ended
    /// meanwhile.
    func withShown(
        _ token: String, _ cookie: String, _ call: Call, _ session: CallerSession,
        _ body: @escaping (Agent, Prompt, ContactsStore?) throws(StoreError) -> Void
    ) throws(VarlinkError) {
        _ = try shown(token, cookie, session)
        books.with(session.caller.uid) { result in
            do throws(VarlinkError) {
                let (agent, prompt) = try shown(token, cookie, session)
                do throws(StoreError) {
                    try body(agent, prompt, try result.get())
                } catch {
                    problems.unavailable(call, error)
                }
            } catch {
                call.fail(error)
            }
        }
    }

    func shown(
        _ token: String, _ cookie: String, _ session: CallerSession
    ) throws(VarlinkError) -> (Agent, Prompt) {
        let agent = try prompts.agent(token, of: session)
        guard let prompt = prompts.prompt(cookie, shownTo: agent) else { throw AgentError.unknownPrompt }
        return (agent, prompt)
    }
}
