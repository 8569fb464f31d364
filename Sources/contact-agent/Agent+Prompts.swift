import BrokerFormatting
import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// Shows prompts one at a time, each on the alternate screen.
extension Agent {
    /// Shows one line instead of a screen for a quiet prompt: its app was refused before, or many other apps
    /// have asked.
    func waitQuietly(_ prompt: Prompt) {
        quiet.append(prompt)
        guard dialogue == nil else { return }
        sayQuiet(prompt)
    }

    private func sayQuiet(_ prompt: Prompt) {
        let name = ShownText.quoted(prompt.caller.displayName, columns: 28)
        let wasRefused = prompt.status == "denied"
        terminal.say(.dim(names.text(wasRefused ? .refusedAsksAgain : .crowdAsks, [.app: name, .key: "o"])))
    }

    /// Removes a prompt that was answered elsewhere or has expired, or whose app has disconnected.
    func withdraw(_ cookie: String) {
        queue.removeAll { $0.cookie == cookie }
        quiet.removeAll { $0.cookie == cookie }
        guard let dialogue, dialogue.prompt.cookie == cookie else { return }
        leaveDialogue()
        terminal.say(StyledLine(names.text(.waitsNoMore, [.app: name(dialogue.prompt)])))
        if queue.isEmpty { sayWaiting() }
    }

    /// Updates a prompt's expiry time. The broker extends it when the person presses a key, in this agent or
    /// another one.
    func extend(_ cookie: String, until expires: Int64) {
        if dialogue?.prompt.cookie == cookie { self.expires = expires }
        for index in queue.indices where queue[index].cookie == cookie { queue[index].expires = expires }
        for index in quiet.indices where quiet[index].cookie == cookie { quiet[index].expires = expires }
    }

    /// Tells the broker that the person pressed a key, so the prompt does not end while the person uses it.
    private func keepOpen(_ prompt: Prompt) {
        // A prompt that the person opened has its full time from the start, so keys do not extend it.
        guard !prompt.isOwn, let left = secondsLeft, left < Self.keepsOpenBelow else { return }
        ask { connection throws(VarlinkClientError) in try connection.keepOpen(prompt.cookie) }
    }

    /// Shows the next prompt, if none is shown and the terminal is large enough to read it.
    func showNext() {
        guard dialogue == nil, ending == nil, !isTerminalLent, let next = queue.first else { return }
        guard let size = terminal.size, size.isLargeEnough else { return sayTooSmall() }
        queue.removeFirst()
        let dialogue: any Dialogue =
            switch next.kind {
            case .access: AccessDialogue(next, names)
            case .button: ButtonDialogue(next, names)
            case .manage: ManageDialogue(next, names)
            case .pick: PickDialogue(next, names)
            case .propose: ProposeDialogue(next, names)
            case nil: NoticeDialogue(prompt: next, names: names)
            }
        self.dialogue = dialogue
        expires = next.expires
        isTooSmallSaid = false
        hint = nil
        follow(dialogue.begin(on: size))
        if self.dialogue != nil { becomeVisible() }
    }

    private func sayTooSmall() {
        guard !isTooSmallSaid else { return }
        isTooSmallSaid = true
        let least = ScreenSize.minimum
        let now = terminal.size.map { "\($0.columns)×\($0.rows)" } ?? names.text(.sizeUnknown)
        terminal.say(.warning(names.text(.tooSmall, [.size: now])))
        terminal.say(StyledLine(names.text(.makeLarger, [.size: "\(least.columns)×\(least.rows)"])))
    }

    /// Draws the dialogue on a clean screen. Discards earlier input, and starts the arming time.
    private func becomeVisible() {
        visibleSince = nil
        terminal.enterAlternateScreen()
        // Input is discarded before drawing, because keys that are pressed after drawing are meant for this
        // screen.
        discardInput()
        draw(clearing: true)
        terminal.waitUntilDrawn()
        visibleSince = ContinuousClock.now
    }

    /// Redraws after the terminal was resized, or after another program may have drawn on it.
    func screenChanged() {
        guard dialogue != nil else {
            if terminal.size?.isLargeEnough ?? false { isTooSmallSaid = false }
            return
        }
        visibleSince = nil
        guard let size = terminal.size, size.isLargeEnough else {
            terminal.leaveAlternateScreen()
            return sayTooSmall()
        }
        isTooSmallSaid = false
        if var resized = dialogue {
            let effect = resized.resized(to: size)
            dialogue = resized
            follow(effect)
        }
        if dialogue != nil { becomeVisible() }
    }

    func pressInDialogue(_ key: Key) {
        guard var pressed = dialogue, let size = terminal.size else { return }
        let before = pressed.stage
        hint = nil
        let effect = pressed.press(key, on: size, isArmed: isArmed)
        dialogue = pressed
        follow(effect)
        if let dialogue { keepOpen(dialogue.prompt) }
        guard let after = dialogue else { return }
        if after.stage != before { becomeVisible() } else { draw(clearing: false) }
    }

    private var isArmed: Bool {
        visibleSince.map { ContinuousClock.now >= $0 + Self.armingTime } ?? false
    }

    private func follow(_ effect: Effect) {
        guard let dialogue else { return }
        switch effect {
        case .nothing: break
        case .tooEarly: hint = names.text(.tooSoon)
        case .search(let query, let offset, let limit, let sharedOnly):
            ask { connection throws(VarlinkClientError) in
                let result = try connection.search(
                    dialogue.prompt.cookie, query: query, offset: offset, limit: limit, sharedOnly: sharedOnly)
                self.dialogue?.found(result)
            }
        case .show(let identifier):
            ask { connection throws(VarlinkClientError) in
                if let card = try connection.show(dialogue.prompt.cookie, identifier) { self.dialogue?.shown(card) }
            }
        case .answer(let answer):
            guard answer.isApproval else {
                return ask { connection throws(VarlinkClientError) in
                    try connection.answer(dialogue.prompt.cookie, answer)
                    self.answered(dialogue.prompt, answer)
                }
            }
            // The broker decides which approvals need the password, so the agent lends the terminal for every
            // approval.
            lendTerminal()
            ask { connection throws(VarlinkClientError) in
                do throws(VarlinkClientError) {
                    try connection.answer(dialogue.prompt.cookie, answer) {
                        self.takeSignals()
                        return self.ending != nil
                    }
                } catch {
                    if case .error = error { throw error }
                    let unknown = names.text(.approvalUnknown, [.app: name(dialogue.prompt), .key: "l"])
                    terminal.say(.warning(unknown))
                    throw error
                }
                self.answered(dialogue.prompt, answer)
            }
            takeTerminalBack()
        }
    }

    /// Calls the broker for the prompt on the screen. An error reply ends the prompt, except
    /// `AuthenticationFailed`, which leaves it open.
    private func ask(_ body: (AgentConnection) throws(VarlinkClientError) -> Void) {
        guard let connection else { return }
        do throws(VarlinkClientError) {
            try body(connection)
        } catch {
            guard case .error(let name, let parameters) = error else { return lost("\(error)") }
            let reason = parameters["reason"]?.string.map(ShownText.line)
            let wasNotRecognised = name == "io.contactbroker.Agent.AuthenticationFailed" && reason == nil
            if isTerminalLent, !wasNotRecognised { endPasswordAgent() }
            switch name {
            case "io.contactbroker.Agent.AuthenticationFailed":
                hint = reason.map { names.text(.notTaken, [.reason: $0]) } ?? names.text(.notRecognised)
            case "io.contactbroker.Agent.UnknownPrompt":
                if let dialogue { withdraw(dialogue.prompt.cookie) }
            default:
                let words = [ShownText.line(name), reason].compactMap { $0 }.joined(separator: ": ")
                let prompt = dialogue?.prompt
                leaveDialogue()
                terminal.say(.warning(names.text(.notTaken, [.reason: words])))
                terminal.say(StyledLine(names.text(.nothingShared)))
                if let prompt { try? connection.answer(prompt.cookie, .dismissed) }
                if once { ending = .refused }
            }
        }
    }

    private func answered(_ prompt: Prompt, _ answer: Answer) {
        leaveDialogue()
        let who = name(prompt)
        terminal.say(StyledLine(words(for: answer, prompt, who)))
        if once, !prompt.isOwn {
            ending = answer.isApproval ? .approved : .refused
        } else if queue.isEmpty {
            sayWaiting()
        }
    }

    /// Describes the outcome in one line.
    private func words(for answer: Answer, _ prompt: Prompt, _ app: String) -> String {
        if prompt.kind == .manage { return ManageDialogue.words(for: answer, app, names) }
        if answer.takesCard { return names.text(.cardTaken, [.app: app]) }
        if let picked = answer.picked { return names.text(.gavePicked, count: picked.count, [.app: app]) }
        if answer.level == .full { return names.text(.sharedAll, [.app: app]) }
        if answer.isApproval { return names.text(.shared, count: answer.contacts, [.app: app]) }
        if answer.neverAskAgain == true { return names.text(.neverAgain, [.app: app]) }
        return names.text(answer.level == .denied ? .notAllowed : .nothingSharedWith, [.app: app])
    }

    func leaveDialogue() {
        guard dialogue != nil else { return }
        dialogue = nil
        visibleSince = nil
        terminal.leaveAlternateScreen()
        // Keys that were meant for this screen must not act on the next screen.
        discardInput()
        if let first = quiet.first, ending == nil { sayQuiet(first) }
    }

    private func name(_ prompt: Prompt) -> String { ShownText.quoted(prompt.caller.displayName, columns: 32) }

    // MARK: - Drawing

    /// Redraws when the arming state or the displayed time has changed, and also every ``Agent/redrawTime``,
    /// to overwrite other programs' output.
    func tick() {
        guard let dialogue, visibleSince != nil else { return }
        if let left = secondsLeft, left < -5 {
            // The broker withdraws expired prompts. If it fails to, the prompt must not block the screen.
            return withdraw(dialogue.prompt.cookie)
        }
        if isArmed != isDrawnArmed || shownSecondsLeft != drawnSecondsLeft
            || ContinuousClock.now >= drawn + Self.redrawTime
        {
            draw(clearing: false)
        }
    }

    private var secondsLeft: Int? { expires.map { Int($0) - time(nil) } }

    /// The number of seconds left. While more than 20 are left, the number is a multiple of ten, because a
    /// number that changes every second would draw attention. `nil` if the screen shows no countdown.
    private var shownSecondsLeft: Int? {
        guard dialogue != nil, let left = secondsLeft, left < Self.longestCountdown else { return nil }
        return left > Self.closesSoon ? left / 10 * 10 : max(0, left)
    }

    private func draw(clearing: Bool) {
        guard let dialogue, let size = terminal.size, size.isLargeEnough else { return }
        drawnSecondsLeft = shownSecondsLeft
        isDrawnArmed = isArmed
        drawn = ContinuousClock.now
        let right = [
            queue.isEmpty ? nil : names.text(.moreWaiting, count: queue.count),
            drawnSecondsLeft.map { names.text(.secondsLeft, count: $0) },
        ].compactMap { $0 }.joined(separator: " · ")
        let title = Columns.pad("contact-agent", to: size.columns - Columns.width(right) - 1) + right
        let body = dialogue.lines(on: size, isArmed: isDrawnArmed)
        let closesSoon = drawnSecondsLeft.map { $0 <= Self.closesSoon } ?? false
        let warning = hint ?? (closesSoon && !dialogue.prompt.isOwn ? names.text(.closesSoon) : nil)
        let last = (warning.map { StyledLine.warning($0) } ?? "").wrapped(columns: size.columns)
        let room = size.rows - 1 - last.count
        terminal.draw([.dim(title)] + body.prefix(room) + last, clearing: clearing)
    }
}
