import BrokerAccessControl
import BrokerBounds
import BrokerDisclosure
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// One prompt, from the call that raised it to the person's answer. It lives on the event loop.
package final class Prompt {
    /// Identifies the prompt to agents. It changes when the prompt is shown again.
    package var cookie: String
    package let question: Question
    package let session: CallerSession
    /// Whether the caller has access.
    package let hasGrant: Bool
    /// The shared limits that apply to the prompt; `nil` if none apply or the person denied the app before.
    var bucket: Crowd.Bucket?
    /// Whether the caller is weakly identified and was never approved. Prompts of other callers come first.
    var isOfCrowd = false
    /// Whether agents show the prompt as one line that the person may open.
    package var isQuiet: Bool
    /// Whether the prompt's turn has come. Only then is the prompt sent to agents.
    var hasTurn = false
    /// Whether notify-only agents count the prompt.
    var isAnnounced = true
    /// The query of an access button, which the app may change.
    package let query: PromptQuery?
    /// The contacts that match ``Question/ignored``; `nil` until an agent first requests rows. This avoids
    /// the look-up for a prompt that the person never sees.
    package var ignoredRecords: Set<RecordNumber>?
    /// For an offered card, the contacts that resemble it; `nil` until an agent first requests rows.
    package var similar: [SimilarContact]?
    /// For a save, the book's last change when the prompt was last described to an agent. No record of the save has changed
    /// between this and ``Question/save``.
    package var asOf: Int64?
    /// The choices that the policy allowed when the prompt was last described to an agent.
    package var offer: PromptOffer?
    /// Encrypts the rows' identifiers with a key that only this prompt has.
    package let rows: IdentifierCipher
    /// The processes that waited for the answer. No agent that is related to one of them may answer.
    private(set) var processes: Set<ProcessIdentity> = []
    /// The waiting calls, each with the callback that gets the outcome.
    package private(set) var waiting: [(call: Call, done: (PromptOutcome) -> Void)] = []
    /// The agents that show the prompt.
    package var agents: [Agent] = []
    /// When the prompt was first sent to an agent, in microseconds of ``Surroundings/uptime``.
    var sentAt: Int64?
    /// Records the prompt, once: when it is first sent to an agent, or when it ends without that.
    package var record: (_ isShown: Bool) -> Void = { _ in }
    /// When the prompt counts as dismissed, in microseconds of ``Surroundings/uptime``; `nil` while the
    /// prompt waits for an agent.
    package var deadline: Int64?
    /// The timer for the current timeout. While no agent shows the prompt, it limits the wait for an agent;
    /// otherwise, the wait for the person's answer.
    var timer: (any Scheduled)?
    /// Whether an answer is being committed and synced. If so, no other answer is accepted.
    package var isAnswered = false
    /// The password requests of answers that wait for the person's password. Several agents may each have
    /// sent such an answer.
    private(set) var passwords: [WantedPassword] = []
    /// Set if the prompt timed out while an answer waited for the password. If the password is not given, the
    /// prompt ends with this outcome.
    var overdue: PromptOutcome?

    /// Returns `nil` if libcrypto has no randomness or no memory.
    package init?(_ question: Question, of session: CallerSession, hasGrant: Bool) {
        guard let cookie = Self.randomName(), let key = IdentifierCipher.randomKey(),
            let rows = IdentifierCipher(key: key)
        else { return nil }
        self.cookie = cookie
        self.question = question
        self.session = session
        self.hasGrant = hasGrant
        self.rows = rows
        isQuiet = question.isQuiet
        query = question.query.map(PromptQuery.init)
        processes = [session.caller.process]
    }

    package var kind: PromptKind { question.kind }
    /// Whether the person denied the app before.
    package var isDenied: Bool { question.isQuiet }
    package var caller: Caller { session.caller }

    /// 128 random bits in hexadecimal digits; `nil` if libcrypto has no randomness or no memory.
    package static func randomName() -> String? {
        guard let key = IdentifierCipher.randomKey(), let cipher = IdentifierCipher(key: key) else { return nil }
        // A block encrypted under a random key, which is then discarded, is as unpredictable as random bits.
        return cipher.identifier(of: RecordNumber(0), as: .agentRow)
    }

    /// Returns the contact of a row with this identifier, which the broker gave to an agent.
    package func record(ofRow identifier: String) throws(VarlinkError) -> RecordNumber {
        guard let record = rows.record(identifier, as: .agentRow) else {
            throw AgentError.invalidAnswer(.malformed, "the prompt has no such row")
        }
        return record
    }

    /// The contact group of a row with this identifier; `nil` if the row is none.
    package func group(ofRow identifier: String) -> RecordNumber? { rows.record(identifier, as: .group) }

    /// Whether a second call with this question joins this prompt, instead of having to wait for its end. The call may be
    /// of another process of the same app. Scripts do not count as one app.
    func isJoined(by question: Question, of caller: Caller) -> Bool {
        switch kind {
        case .access, .keys:
            question.kind == kind
                && (caller == self.caller
                    || !caller.isInterpreter && caller.app == self.caller.app
                        && AppKey(caller) == AppKey(self.caller))
        case .button, .manage, .pick, .propose, .change: false
        }
    }

    package func wait(_ call: Call, of caller: Caller, _ done: @escaping (PromptOutcome) -> Void) {
        processes.insert(caller.process)
        waiting.append((call, done))
    }

    package func wait(for password: WantedPassword) { passwords.append(password) }

    /// Withdraws the password requests for answers to this prompt. If `agent` is given, only that agent's
    /// requests are withdrawn.
    package func withdrawPasswords(of agent: ProcessIdentity? = nil) {
        for password in passwords where agent == nil || password.session.caller.process == agent {
            password.withdraw()
        }
    }

    func stopWaiting(for password: WantedPassword) { passwords.removeAll { $0 === password } }

    /// Removes the call of a caller that has disconnected. Returns whether no other call waits.
    func stopWaiting(_ call: Call) -> Bool {
        waiting.removeAll { $0.call === call }
        return waiting.isEmpty
    }
}

/// The choices that the policy leaves to the person. An agent should offer only these.
package struct PromptOffer: Hashable {
    package let allowsAll: Bool
    package let keys: ContactKeySet
    package let changes: ChangeRight
    /// The longest lifetime in seconds from the decision; `nil` for no limit.
    package let longest: Int64?
}

/// The outcome of a prompt.
package enum PromptOutcome: Hashable {
    /// The person allowed access. `newly` are the contacts that the answer added to the app's effective
    /// access.
    case granted(newly: Set<RecordNumber>)
    /// The person made a one-time pick, which is never empty.
    case picked(Picked)
    /// The person accepted the card. `visible` is the new card; `nil` if the card was merged or the app may
    /// not see contacts.
    case proposed(visible: RecordNumber?)
    /// The person allowed the save as it was shown, when this change was the book's last.
    case allowed(asOf: Int64, withPassword: Bool)
    /// The person denied access, and the denial was stored.
    case refused
    /// The person decided nothing, or the decision had no effect. For example, the prompt was dismissed,
    /// timed out or was withdrawn.
    case dismissed
    /// No agent was available to show the prompt. This outcome does not count toward the back-off.
    case noAgent
}

/// One connected agent. It shows prompts to the person, or only their number if it is notify-only. It lives
/// on the event loop.
package final class Agent {
    /// Identifies the agent in calls on its second connection.
    package let token: String
    package let session: CallerSession
    /// Whether the agent gets only the number of waiting prompts.
    package let notifyOnly: Bool
    /// Whether it is the installed program, which alone has the group of the system's agent socket.
    package let isInstalled: Bool
    /// Whether the agent wants to know when an app's access changes or is used, and how many prompts wait.
    package let watches: Bool
    /// The number of waiting prompts that was last sent to the agent.
    var toldWaiting = 0
    package let serve: Call
    /// The manage prompt that the person opened in this agent. Opening another one replaces it.
    package var own: Prompt?

    package init(
        token: String, session: CallerSession, notifyOnly: Bool, watches: Bool, isInstalled: Bool, serve: Call
    ) {
        self.token = token
        self.session = session
        self.notifyOnly = notifyOnly
        self.watches = watches
        self.isInstalled = isInstalled
        self.serve = serve
    }
}
