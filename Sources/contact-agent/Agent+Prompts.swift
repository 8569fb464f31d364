import BrokerFormatting
import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// Shows prompts one at a time, each on the alternate screen.
extension Agent {
    /// Removes a prompt that was answered elsewhere or has expired, or whose app has disconnected.
    func withdraw(_ cookie: String) {
        queue.removeAll { $0.cookie == cookie }
        quiet.removeAll { $0.cookie == cookie }
        isHomeChanged = true
        guard let prompt = screen?.prompt, prompt.cookie == cookie else { return }
        let isExpired = secondsLeft.map { $0 <= 1 } ?? false
        leaveDialogue()
        say(StyledLine(names.text(isExpired ? .closedUnanswered : .closedElsewhere, [.app: name(prompt)])))
    }

    /// Takes another query of an access button's app. The first match is highlighted again, and approving keys
    /// have no effect until the new result was visible long enough.
    func update(_ cookie: String, query: String) {
        for index in queue.indices where queue[index].cookie == cookie { queue[index].query = query }
        guard screen?.prompt.cookie == cookie, var button = screen?.dialogue as? ButtonDialogue,
            let size = terminal.size
        else { return }
        let effect = button.update(query: query, on: size)
        guard effect != .nothing else { return }
        screen?.dialogue = button
        follow(effect)
        if screen != nil { becomeVisible() }
    }

    /// Updates a prompt's expiry time. The broker extends it when the person presses a key, in this agent or
    /// another one.
    func extend(_ cookie: String, until expires: Int64) {
        if screen?.prompt.cookie == cookie { self.expires = expires }
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
        guard screen == nil, ending == nil, !isTerminalLent, let queued = queue.first else { return }
        guard let size = terminal.size, size.isLargeEnough else { return }
        queue.removeFirst()
        connection?.names.nameOrder = queued.nameOrder
        var next = PromptScreen(queued, names)
        let effect = next.dialogue.begin(on: size)
        screen = next
        expires = queued.expires
        hint = nil
        follow(effect)
        if screen != nil { becomeVisible() }
    }

    /// Draws the dialogue on a clean screen. Discards earlier input, and starts the arming time.
    private func becomeVisible() {
        visibleSince = nil
        // Input is discarded before drawing, because keys that are pressed after drawing are meant for this
        // screen.
        discardInput()
        draw(clearing: true)
        terminal.waitUntilDrawn()
        visibleSince = ContinuousClock.now
    }

    /// Redraws after the terminal was resized, or after another program may have drawn on it.
    func screenChanged() {
        guard screen != nil else { return drawHome(clearing: true) }
        visibleSince = nil
        guard let size = terminal.size, size.isLargeEnough else {
            if let size = terminal.size {
                show(
                    HomeWords(names: names).tooSmall(size), right: "", hints: [], message: [], on: size, clearing: true)
            }
            return
        }
        if let effect = screen?.dialogue.resized(to: size) { follow(effect) }
        if screen != nil { becomeVisible() }
    }

    func pressInDialogue(_ key: Key) {
        guard let before = screen?.stage, let size = terminal.size else { return }
        hint = nil
        let top = screen?.dialogue.top
        let effect = screen?.press(key, on: size, isArmed: isArmed) ?? .nothing
        follow(effect)
        if let screen { keepOpen(screen.prompt) }
        guard let after = screen?.stage else { return }
        guard after == before else { return becomeVisible() }
        // Line mode leaves out lines that it wrote last, but equal lines of the next page are other lines.
        draw(clearing: terminal.isPlain && screen?.dialogue.top != top)
    }

    private var isArmed: Bool {
        visibleSince.map { ContinuousClock.now >= $0 + Self.armingTime } ?? false
    }

    private func follow(_ effect: Effect) {
        guard let prompt = screen?.prompt else { return }
        switch effect {
        case .nothing: break
        case .tooEarly: hint = names.text(.tooSoon)
        case .search(let query, let offset, let limit, let sharedOnly):
            ask { connection throws(VarlinkClientError) in
                let result = try connection.search(
                    prompt.cookie, query: query, offset: offset, limit: limit, sharedOnly: sharedOnly)
                self.screen?.dialogue.found(result)
            }
        case .show(let identifier):
            ask { connection throws(VarlinkClientError) in
                if let card = try connection.show(prompt.cookie, identifier) { self.screen?.dialogue.shown(card) }
            }
        case .answer(let answer):
            guard answer.isApproval else {
                return ask { connection throws(VarlinkClientError) in
                    let wait = try connection.answer(prompt.cookie, answer)
                    self.answered(prompt, answer, wait: wait)
                }
            }
            approve(prompt) { connection, isOver throws(VarlinkClientError) in
                try connection.answer(prompt.cookie, answer, until: isOver)
                self.answered(prompt, answer, wait: nil)
            }
        case .listChanges:
            ask { connection throws(VarlinkClientError) in
                let saves = try connection.listChanges(prompt.cookie)
                self.screen?.changePast { $0.listed(saves) }
            }
        case .foresee(let request):
            ask { connection throws(VarlinkClientError) in
                let result = try connection.foresee(prompt.cookie, request)
                self.screen?.changePast { $0.foreseen(request, result) }
            }
        case .putBack(let request):
            var isDone = false
            approve(prompt) { connection, isOver throws(VarlinkClientError) in
                let result = try connection.putBack(prompt.cookie, request, until: isOver)
                self.screen?.changePast { $0.madeSo(result) }
                isDone = true
            }
            guard isDone else { break }
            follow(.listChanges)
            hint = past?.done
        }
    }

    /// What the person did about the saves of the app in a review.
    private var past: PastChanges? { (screen?.dialogue as? ManageDialogue)?.past }

    /// Makes a call that approves something. The broker decides which of these need the password, so the agent lends the
    /// terminal for each.
    private func approve(
        _ prompt: Prompt, _ body: (AgentConnection, () -> Bool) throws(VarlinkClientError) -> Void
    ) {
        lendTerminal()
        ask { connection throws(VarlinkClientError) in
            do throws(VarlinkClientError) {
                try body(connection) {
                    self.takeSignals()
                    return self.ending != nil
                }
            } catch {
                if case .error = error { throw error }
                let unknown = names.text(.approvalUnknown, [.app: name(prompt)])
                say(.warning(unknown))
                throw error
            }
        }
        takeTerminalBack()
    }

    /// Calls the broker for the prompt on the screen. An error reply ends the prompt, except
    /// `AuthenticationFailed`, which leaves it open.
    private func ask(_ body: (AgentConnection) throws(VarlinkClientError) -> Void) {
        guard let connection else { return }
        do throws(VarlinkClientError) {
            try body(connection)
        } catch {
            guard case .error(let name, let parameters) = error else { return lost(error) }
            let reason = names.words(for: error)
            let wasNotRecognised =
                name == "io.contactbroker.Agent.AuthenticationFailed" && parameters["reason"]?.string == nil
            if isTerminalLent, !wasNotRecognised { loan.endPasswordAgent() }
            switch name {
            case "io.contactbroker.Agent.AuthenticationFailed":
                hint = wasNotRecognised ? names.text(.notRecognised) : names.text(.notTaken, [.reason: reason])
            case "io.contactbroker.Agent.UnknownPrompt":
                if let screen { withdraw(screen.prompt.cookie) }
            default:
                let prompt = screen?.prompt
                leaveDialogue()
                say(.warning(names.text(.notTaken, [.reason: reason])))
                let isSave = prompt?.kind == .change
                say(StyledLine(names.text(isSave ? .nothingChanged : .nothingShared)))
                if let prompt { _ = try? connection.answer(prompt.cookie, .dismissed) }
                if once { ending = .refused }
            }
        }
    }

    private func answered(_ prompt: Prompt, _ answer: Answer, wait: Int?) {
        let putBack = answer == .dismissed ? past?.done : nil
        let chosen = screen?.dialogue.chosen.first { $0.identifier == answer.identifiers?.first }
        reviewed = nil
        leaveDialogue()
        let who = name(prompt)
        say(StyledLine(putBack ?? HomeWords(names: names).words(for: answer, prompt, who, chosen)))
        if let wait, wait > 0, answer.neverAskAgain != true {
            say(.dim(names.text(.mustWait, count: wait, [.app: who])))
        }
        if once, !prompt.isOwn { ending = answer.isApproval ? .approved : .refused }
        if ending == nil { listGrants() }
    }

    func leaveDialogue() {
        guard screen != nil else { return }
        screen = nil
        visibleSince = nil
        isHomeChanged = true
        homeVisibleSince = .now
        // Keys that were meant for this screen must not act on the next screen.
        discardInput()
    }

    private func name(_ prompt: Prompt) -> String { ShownText.app(prompt.caller.displayName, columns: 32, names) }

    // MARK: - Drawing

    /// Redraws when the arming state or the displayed time has changed, and also every ``Agent/redrawTime``,
    /// to overwrite other programs' output.
    func tick() {
        guard !isTerminalLent, ending == nil else { return }
        let isStale = ContinuousClock.now >= drawn + Self.redrawTime
        guard let screen else {
            let isArmedNow = home.folders != nil && isHomeArmed != isDrawnArmed
            if isHomeChanged || isStale || isArmedNow { drawHome(clearing: false) }
            return
        }
        guard visibleSince != nil else { return }
        if let left = secondsLeft, left < -5 {
            // The broker withdraws expired prompts. If it fails to, the prompt must not block the screen.
            return withdraw(screen.prompt.cookie)
        }
        if isArmed != isDrawnArmed || shownSecondsLeft != drawnSecondsLeft || isStale { draw(clearing: false) }
    }

    private var secondsLeft: Int? { expires.map { Int($0) - time(nil) } }

    /// The number of seconds left. While more than 20 are left, the number is a multiple of ten, because a
    /// number that changes every second would draw attention. `nil` if the screen shows no countdown.
    private var shownSecondsLeft: Int? {
        guard screen != nil, let left = secondsLeft, left < Self.longestCountdown else { return nil }
        return left > Self.closesSoon ? left / 10 * 10 : max(0, left)
    }

    private func draw(clearing: Bool) {
        guard let screen, let size = terminal.size, size.isLargeEnough else { return }
        drawnSecondsLeft = shownSecondsLeft
        isDrawnArmed = isArmed
        drawn = ContinuousClock.now
        let more = queue.count + waiting
        let right = [
            more == 0 ? nil : names.text(.moreWaiting, count: more),
            drawnSecondsLeft.map { names.text(.secondsLeft, count: $0) },
        ].compactMap { $0 }.joined(separator: " · ")
        let closesSoon = drawnSecondsLeft.map { $0 <= Self.closesSoon } ?? false
        let warning = hint ?? (closesSoon && !screen.prompt.isOwn ? names.text(.closesSoon) : nil)
        let message = warning.map { StyledLine.warning($0).wrapped(columns: size.columns) } ?? []
        show(
            screen.lines(on: size, isArmed: isDrawnArmed || terminal.isPlain), right: right, hints: screen.hints,
            message: message, on: size,
            clearing: clearing)
    }
}
