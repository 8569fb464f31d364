import BrokerFormatting
import BrokerVarlinkClient

/// The list of apps on the main screen.
extension Agent {
    /// Fetches the list. An error is shown on the main screen.
    func listGrants() {
        isListStale = false
        guard !once, connection?.isRegistered == true else { return }
        call { connection throws(VarlinkClientError) in
            let (grants, total, mistake) = try connection.listGrants()
            home.list(grants, mistake)
            if let reviewed {
                if let now = grants.first(where: reviewed.isReviewed) {
                    screen?.update(contacts: now.contacts, of: total)
                } else {
                    reviewIsStale(reviewed)
                }
            }
        } orRefused: {
            say(.warning(names.text(.listFailed, [.reason: names.words(for: $0)])))
        }
        isHomeChanged = true
    }

    /// Opens the dialogue in which the person reviews one app's access.
    func open(_ grant: AppGrant) {
        call { connection throws(VarlinkClientError) in
            guard let prompt = try connection.manage(grant) else {
                return say(.warning(names.text(.answerUnreadable)))
            }
            queue.insert(prompt, at: 0)
            reviewed = grant
        } orRefused: { _ in
            let app = ShownText.app(grant.displayName, columns: 32, names)
            say(.warning(names.text(.nothingAnyMore, [.app: app])))
            listGrants()
        }
    }

    /// Closes a review whose app has other access than the screen says.
    private func reviewIsStale(_ grant: AppGrant) {
        reviewed = nil
        guard screen?.prompt.isOwn == true else { return }
        leaveDialogue()
        let app = ShownText.app(grant.displayName, columns: 32, names)
        say(.warning(names.text(.reviewStale, [.app: app])))
    }

    /// Whether the main screen can be shown. Before the broker has accepted this agent, it waits for no app.
    var showsHome: Bool { !isTerminalLent && (isServing || isBrokerMissed) }

    func drawHome(clearing: Bool) {
        guard showsHome else { return }
        isHomeChanged = false
        isDrawnArmed = isHomeArmed
        drawn = ContinuousClock.now
        guard let size = terminal.size else { return }
        let lines: [StyledLine]
        if queue.isEmpty || size.isLargeEnough {
            lines =
                home.lines(
                    on: size, isConnected: isServing, once: once, isArmed: isHomeArmed || terminal.isPlain, names)
                + HomeWords(names: names).lines(forQuiet: quiet.first)
        } else {
            lines = HomeWords(names: names).tooSmall(size)
        }
        let hints = home.hints(once: once, hasQuiet: !quiet.isEmpty, isSession: isSession, names)
        show(lines, right: "", hints: hints, message: [], on: size, clearing: clearing)
    }

    /// Draws a whole screen: the title, the lines, the message above the hints, and the hints.
    func show(
        _ lines: [StyledLine], right: String, hints: [Hint], message: [StyledLine], on size: ScreenSize, clearing: Bool
    ) {
        let title = Columns.pad("contact-agent", to: size.columns - Columns.width(right) - 1) + right
        let room = max(0, size.rows - 2)
        // A message covers the last lines only if there is no room above the hints.
        let body = lines.prefix(max(0, room - message.count))
        let blank = Array(repeating: StyledLine(), count: max(0, room - body.count - message.count))
        shownLines = [.dim(title)] + body + blank + message + [Hint.line(hints, columns: size.columns)]
        terminal.enterAlternateScreen()
        terminal.draw(shownLines, clearing: clearing)
    }
}
