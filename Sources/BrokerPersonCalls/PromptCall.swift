import BrokerAccessControl
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerVarlink

extension UsesServices {
    /// Looks up the prompt that an agent's call concerns.
    func shown(
        _ token: String, _ cookie: String, _ session: CallerSession
    ) throws(VarlinkError) -> (Agent, Prompt) {
        let agent = try prompts.agent(token, of: session)
        guard let prompt = prompts.prompt(cookie, shownTo: agent) else { throw AgentError.unknownPrompt }
        return (agent, prompt)
    }
}

/// A call of an agent that concerns a prompt which it shows, and needs the user's book. The agent and the prompt are looked
/// up before each step, because the prompt may have ended. A call on the agent's second connection names both.
protocol PromptCall: SteppedCall where Services: UsesServices {
    var agent: String { get }
    var cookie: String { get }

    /// Answers the call.
    ///
    /// - Parameter book: `nil` if the user has none.
    mutating func step(
        _ agent: Agent, _ prompt: Prompt, _ book: ContactsStore?, _ services: Services
    ) throws(StoreError) -> Step<Self>
}

extension PromptCall {
    package mutating func step(_ services: Services) -> Step<Self> {
        do throws(VarlinkError) {
            let (agent, prompt) = try services.shown(agent, cookie, session)
            guard let book = services.books.ready(session.caller.uid) else {
                return .wait(for: .book(creating: false))
            }
            do throws(StoreError) {
                return try step(agent, prompt, book, services)
            } catch {
                services.problems.unavailable(call, error)
            }
        } catch {
            call.fail(error)
        }
        return .done
    }

    package func fail(_ error: VarlinkError) -> Step<Self> {
        call.fail(error)
        return .done
    }
}
