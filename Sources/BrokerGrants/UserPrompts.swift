import BrokerBounds
import BrokerVarlink

/// One user's open prompts and agents. It lives on the event loop.
package struct UserPrompts {
    /// The prompt that the agents show as a whole screen.
    var current: Prompt?
    /// Prompts that wait for their turn, in this order. The crowd's prompts come last.
    private(set) var queue: [Prompt] = []
    /// Prompts that agents show as one line each, in addition to ``current``. They do not delay other
    /// prompts.
    private(set) var quiet: [Prompt] = []
    var agents: [Agent] = []
    var crowd: Crowd
    /// For each app, when a prompt was last announced to notify-only agents.
    private var announced: [AppKey: Int64] = [:]
    /// The timer for the next held prompt.
    var release: (any Scheduled)?
    /// The pause before agents get the next change of access, and whether access changed during it.
    var accessPause: (any Scheduled)?
    var isAccessChanged = false

    private let limits: Limits

    init(limits: Limits) {
        self.limits = limits
        crowd = Crowd(limits: limits)
    }

    /// The prompts whose turn has come.
    var shown: [Prompt] { (current.map { [$0] } ?? []) + quiet.filter(\.hasTurn) }
    var open: [Prompt] { (current.map { [$0] } ?? []) + queue + quiet }
    /// The open prompts whose turn has not come.
    var waiting: [Prompt] { queue + quiet.filter { !$0.hasTurn } }

    /// Whether an agent can show prompts.
    var hasAgent: Bool { agents.contains { !$0.notifyOnly } }
    var hasNotifier: Bool { agents.contains(where: \.notifyOnly) }

    /// Adds a prompt that ``Prompts/mayAsk(_:for:hasGrant:)`` has permitted, and decides whether it is quiet.
    mutating func add(_ prompt: Prompt, now: Int64) {
        let bucket = crowd.bucket(of: prompt.caller, hasGrant: prompt.hasGrant)
        prompt.isOfCrowd = bucket != nil
        prompt.bucket = prompt.isDenied ? nil : bucket
        if let bucket = prompt.bucket, !crowd.take(from: bucket, now: now) {
            prompt.isQuiet = true
            prompt.isAnnounced = false
        } else {
            prompt.isAnnounced = announces(AppKey(prompt.caller), now: now)
        }
        if prompt.isQuiet {
            quiet.append(prompt)
        } else if prompt.isOfCrowd {
            queue.append(prompt)
        } else {
            queue.insert(prompt, at: queue.firstIndex(where: \.isOfCrowd) ?? queue.endIndex)
        }
    }

    /// Returns whether to announce an app's prompt to notify-only agents. Stores the time if such an
    /// agent is connected.
    private mutating func announces(_ key: AppKey, now: Int64) -> Bool {
        if let last = announced[key], now - last < limits.notifiesAgainAfter.microseconds { return false }
        guard hasNotifier else { return true }
        announced[key] = now
        Crowd.removeOldest(of: &announced, beyond: limits.backOffs)
        return true
    }

    /// Removes all counts, approvals and times of announcements.
    mutating func resetLimits() {
        crowd = Crowd(limits: limits)
        announced = [:]
    }

    mutating func remove(_ prompt: Prompt) {
        if current === prompt { current = nil }
        queue.removeAll { $0 === prompt }
        quiet.removeAll { $0 === prompt }
    }

    /// Starts the turns of prompts that are not held, and returns these prompts: the next queued one if there
    /// is no ``current`` prompt, and all quiet ones.
    mutating func takeTurns(now: Int64) -> [Prompt] {
        var begun: [Prompt] = []
        if current == nil, let next = queue.firstIndex(where: { heldUntil($0) <= now }) {
            let prompt = queue.remove(at: next)
            current = prompt
            begun.append(prompt)
        }
        begun += quiet.filter { !$0.hasTurn && heldUntil($0) <= now }
        for prompt in begun { prompt.hasTurn = true }
        return begun
    }

    /// Returns when the next held prompt may be shown; `nil` if there is none. Queued prompts count only if
    /// there is no ``current`` prompt, because otherwise they also wait for its end.
    func nextRelease(after now: Int64) -> Int64? {
        let held = quiet.filter { !$0.hasTurn } + (current == nil ? queue : [])
        return held.map(heldUntil).filter { $0 > now }.min()
    }

    private func heldUntil(_ prompt: Prompt) -> Int64 { prompt.bucket.map(crowd.heldUntil) ?? 0 }
}
