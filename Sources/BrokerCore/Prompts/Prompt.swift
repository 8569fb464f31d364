import BrokerAccessControl
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// One question to the person, from the call that raised it to the answer. It lives on the loop.
final class Prompt {
    /// Names the prompt to agents, as it was shown to them last.
    var cookie: String
    let question: Question
    let session: CallerSession
    /// The contacts that ``Question/ignored`` names, once an agent has asked for rows: nothing is looked up before somebody
    /// is there to look at it.
    var ignoredRecords: Set<RecordNumber>?
    /// What the policy left to the person's choice when the prompt was last described to an agent.
    var offer: PromptOffer?
    /// Makes the rows' identifiers; dies with the prompt.
    let rows: IdentifierCipher
    /// The calls that wait, each with what to do when the person has answered.
    private(set) var waiting: [(call: Call, done: (PromptOutcome) -> Void)] = []
    /// Agents that were sent the prompt.
    var agents: [Agent] = []
    /// When it counts as dismissed, in microseconds of ``Surroundings/uptime``; `nil` while no agent has it.
    var deadline: Int64?
    /// Ends the wait for an agent, or for the person.
    var timer: (any Scheduled)?
    /// An answer is on its way to the disk; no other one counts.
    var isAnswered = false
    /// Answers that wait for the person's password. There can be several, by different agents.
    private(set) var passwords: [WantedPassword] = []
    /// Its time was over while an answer waited for the password: how it ends if that does not come.
    var overdue: PromptOutcome?

    /// `nil` where the system has no randomness.
    init?(_ question: Question, of session: CallerSession) {
        guard let cookie = Self.randomName(), let key = IdentifierCipher.randomKey(),
            let rows = IdentifierCipher(key: key)
        else { return nil }
        self.cookie = cookie
        self.question = question
        self.session = session
        self.rows = rows
    }

    var kind: PromptKind { question.kind }
    var isQuiet: Bool { question.isQuiet }
    var caller: Caller { session.caller }

    /// 128 bits that nobody can guess, in hexadecimal digits; `nil` where the system has no randomness.
    static func randomName() -> String? {
        guard let key = IdentifierCipher.randomKey(), let cipher = IdentifierCipher(key: key) else { return nil }
        // One block under a key that is thrown away.
        return cipher.identifier(of: RecordNumber(0), as: .agentRow)
    }

    /// The contact of a row that the agent was shown.
    func record(ofRow identifier: String) throws(VarlinkError) -> RecordNumber {
        guard let record = rows.record(identifier, as: .agentRow) else {
            throw AgentError.invalidAnswer("a row of no prompt, or of another one")
        }
        return record
    }

    func wait(_ call: Call, _ done: @escaping (PromptOutcome) -> Void) {
        waiting.append((call, done))
    }

    func wait(for password: WantedPassword) { passwords.append(password) }

    /// Nobody has to give a password for it any more, or for that agent's answer.
    func withdrawPasswords(of agent: ProcessIdentity? = nil) {
        for password in passwords where agent == nil || password.session.caller.process == agent {
            password.withdraw()
        }
    }

    func stopWaiting(for password: WantedPassword) { passwords.removeAll { $0 === password } }

    /// A caller is gone. Returns whether nobody waits any more.
    func stopWaiting(_ call: Call) -> Bool {
        waiting.removeAll { $0.call === call }
        return waiting.isEmpty
    }
}

/// What the policy leaves to the person's choice. The agent offers no more than this.
struct PromptOffer: Hashable {
    let allowsAll: Bool
    let keys: ContactKeySet
    /// Seconds from the person's decision.
    let longest: Int64?
}

/// What came of a prompt.
enum PromptOutcome: Hashable {
    /// Something was decided or granted; `newly` is what the app can see since then and could not before.
    case granted(newly: Set<RecordNumber>)
    /// The person picked this for once; never empty.
    case picked(Picked)
    /// The person took the card. `told`: the new card, of an app that may know of it.
    case proposed(told: RecordNumber?)
    /// The person said no, and that was stored.
    case refused
    /// Nobody said anything: dismissed, timed out, or nothing to choose from.
    case dismissed
    /// Nobody was there to be asked.
    case noAgent
}

/// One agent that serves: the program that the person sees. It lives on the loop.
final class Agent {
    /// Binds the second connection to this one.
    let token: String
    let session: CallerSession
    /// Learns how many prompts wait, and nothing else.
    let notifyOnly: Bool
    let serve: Call
    /// The grant that the person opened at this agent themselves; it ends with the agent, or with the next one opened.
    var own: Prompt?

    init(token: String, session: CallerSession, notifyOnly: Bool, serve: Call) {
        self.token = token
        self.session = session
        self.notifyOnly = notifyOnly
        self.serve = serve
    }
}
