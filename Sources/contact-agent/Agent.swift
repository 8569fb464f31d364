import BrokerFormatting
import BrokerJSON
import BrokerPasswordPrompt
import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// The agent's main loop: shows prompts and reads the person's keys. It owns the terminal, the connection and
/// the queue.
final class Agent {
    /// The time that a screen must have been visible before an approving key counts.
    static let armingTime = Duration.milliseconds(500)
    /// The interval at which the agent redraws a prompt, to overwrite other programs' output.
    static let redrawTime = Duration.seconds(1)
    /// The screen shows the countdown only if fewer seconds than this are left.
    static let longestCountdown = 600
    /// With this many seconds or fewer left, the screen warns that the prompt closes soon.
    static let closesSoon = 20
    /// Only if fewer seconds than this are left, a key causes a call to keep the prompt open. The broker then
    /// sets the time left to 120 seconds, so quick typing does not cause a call for every key.
    static let keepsOpenBelow = 116
    /// The first pause between connection attempts. Each further pause is twice as long, up to
    /// ``longestPause``.
    static let firstPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(30)

    enum Ending: Hashable {
        case quit
        case approved, refused
        case signal(CInt)
        /// This process cannot connect again and must restart itself. `attempt` counts failed attempts in a
        /// row.
        case startAnew(attempt: Int)
        /// The agent failed. The text describes the failure, and the advice suggests what to try.
        case failed(String, advice: String)
    }

    let terminal: any Display
    /// Texts in the person's language.
    let names: LocalizedNames
    let once: Bool
    private let signals: CInt
    private let connector: AgentConnector
    let loan: TerminalLoan
    /// Whether the password agent uses the terminal. Meanwhile this program reads no keys and draws nothing.
    var isTerminalLent: Bool { loan.isLent }

    var connection: AgentConnection?
    /// The time of the next connection attempt. `attempt` counts failed attempts in a row.
    private var retry = ContinuousClock.now
    private var attempt: Int
    private(set) var isBrokerMissed: Bool
    private var others = 0

    /// The number of times that input was discarded. If one key changes the screen, the keys that were read
    /// with it must not act on the new screen.
    private var discarded = 0

    /// Waiting prompts, in the order in which they will be shown.
    var queue: [Prompt] = []
    /// Quiet prompts, each shown as one line. They wait until the person opens them.
    var quiet: [Prompt] = []
    /// The prompt on the screen, if there is one; otherwise the screen shows ``home``.
    var screen: PromptScreen?
    var home = Home()
    /// The grant that the person reviews, as it was when the review was opened.
    var reviewed: AppGrant?
    /// Whether the broker has reported a change since the apps were listed.
    var isListStale = false
    /// How many prompts the broker keeps back until the one on the screen is answered.
    var waiting = 0
    /// Whether ``home`` must be drawn again.
    var isHomeChanged = true
    /// When the prompt on the screen expires, in seconds since 1970; `nil` if the broker did not send it.
    var expires: Int64?
    /// When the current stage became readable; `nil` while it is not.
    var visibleSince: ContinuousClock.Instant?
    var hint: String?
    /// The lines on the screen, by which a click finds its action.
    var shownLines: [StyledLine] = []
    /// The time left and the arming state as last drawn. A change causes a redraw.
    var drawnSecondsLeft: Int?
    var isDrawnArmed = false
    var drawn = ContinuousClock.now
    /// When the main screen last showed another question.
    var homeVisibleSince = ContinuousClock.now
    var ending: Ending?

    init(
        terminal: any Display, names: LocalizedNames, signals: CInt, once: Bool, attempt: Int,
        connector: AgentConnector,
        password: PasswordAgent?
    ) {
        self.terminal = terminal
        self.names = names
        self.signals = signals
        self.once = once
        self.attempt = attempt
        isBrokerMissed = attempt > 0
        self.connector = connector
        loan = TerminalLoan(of: terminal, to: password, names)
        if isBrokerMissed { home.say(.dim(names.text(.tryingAgain))) }
    }

    /// Runs until the person quits, a signal arrives or an error ends the agent. If `once` is set, also ends
    /// after the first answered prompt.
    func run() -> Ending {
        tryBroker()
        while ending == nil {
            wait()
            takeSignals()
            takeKeys()
            takeEvents()
            if isListStale { listGrants() }
            loan.noticeMissingPassword()
            if connection == nil, ContinuousClock.now >= retry { tryAgain() }
            showNext()
            tick()
        }
        leaveDialogue()
        connection?.close()
        // The full screen disappears with the program; the outcome should stay.
        takeTerminalBack()
        terminal.suspend()
        if once, ending != .quit { home.messages.forEach { terminal.say($0) } }
        return ending ?? .quit
    }

    /// Adds a line to the main screen. While another program uses the terminal, writes it there.
    func say(_ line: StyledLine) {
        home.say(line)
        isHomeChanged = true
        if isTerminalLent { terminal.say(line) }
    }

    /// The pause before this connection attempt, counted from 0.
    static func pause(before attempt: Int) -> Duration {
        // `min` bounds the shift; 2^10 times the first pause exceeds the longest pause.
        min(firstPause * (1 << min(attempt, 10)), longestPause)
    }

    // MARK: - The terminal and the password

    /// Hands the terminal to the password agent, if there is one.
    func lendTerminal() {
        guard ending == nil, loan.lend() else { return }
        visibleSince = nil
    }

    /// Takes the terminal back. Discards the input that was typed meanwhile, because it was meant for the
    /// password agent.
    func takeTerminalBack() {
        guard loan.takeBack() else { return }
        discardInput()
        screenChanged()
    }

    // MARK: - Waiting

    private func wait() {
        guard connection?.hasBufferedReply != true else { return }
        var waiting = [
            pollfd(fd: terminal.fileDescriptor, events: isTerminalLent ? 0 : Int16(POLLIN), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        if let connection {
            waiting.append(pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0))
        }
        poll(&waiting, nfds_t(waiting.count), milliseconds(until: nextTime))
        if waiting[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { ending = .signal(SIGHUP) }
    }

    /// The next time at which there is work: reconnecting, a missing password prompt, arming or redrawing; `nil`
    /// if there is none.
    private var nextTime: ContinuousClock.Instant? {
        var times: [ContinuousClock.Instant] = []
        if connection == nil { times.append(retry) }
        if let check = loan.nextCheck { times.append(check) }
        if screen != nil, let visibleSince {
            if !isDrawnArmed { times.append(visibleSince + Self.armingTime) }
            times.append(drawn + Self.redrawTime)
        } else if screen == nil, showsHome {
            if home.folders != nil, !isHomeArmed { times.append(homeVisibleSince + Self.armingTime) }
            times.append(isHomeChanged ? .now : drawn + Self.redrawTime)
        }
        return times.min()
    }

    /// The poll(2) timeout, rounded up; -1 (no timeout) if `time` is `nil`.
    private func milliseconds(until time: ContinuousClock.Instant?) -> CInt {
        guard let time else { return -1 }
        return CInt(clamping: max(0, ContinuousClock.now.duration(to: time).milliseconds + 1))
    }

    // MARK: - Signals

    func takeSignals() {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(signals, &bytes, bytes.count)
        guard count > 0 else { return }
        for signal in Set(bytes.prefix(count)).map(CInt.init) {
            switch signal {
            case SIGTSTP:
                terminal.suspend()
                _ = clinux_take_signal(SIGTSTP)
                resume()
            case SIGCONT: resume()
            case SIGWINCH: if !isTerminalLent { screenChanged() }
            default: if ending == nil { ending = .signal(signal) }
            }
        }
    }

    private func resume() {
        guard !isTerminalLent else { return }
        terminal.resume()
        screenChanged()
    }

    // MARK: - Keys

    private func takeKeys() {
        guard !isTerminalLent else { return }
        guard let keys = terminal.read() else {
            ending = .signal(SIGHUP)
            return
        }
        let shown = discarded
        for key in keys where ending == nil && discarded == shown { press(key) }
    }

    private func press(_ key: Key) {
        if case .click(let row, _) = key {
            guard shownLines.indices.contains(row), let action = shownLines[row].action else { return }
            return press(action)
        }
        if screen != nil {
            // A prompt that is not readable takes no keys.
            if visibleSince != nil { pressInDialogue(key) }
            return
        }
        isHomeChanged = true
        let former = home.folders
        defer {
            if home.folders?.asksOtherwise(than: former) ?? (former != nil) {
                discardInput()
                homeVisibleSince = .now
            }
        }
        switch home.press(key, on: terminal.size ?? .minimum, isArmed: isHomeArmed) {
        case .quit: ending = .quit
        case .open(let grant): open(grant)
        case .openFolders: if !once { openFolders() }
        case .folders(let action): follow(action)
        case .openQuiet: if !quiet.isEmpty { queue.insert(quiet.removeFirst(), at: 0) }
        // Apps can have used their access since the last key. The key itself acts on the list that the person sees.
        case nil: break
        }
    }

    /// Whether the main screen was visible long enough for a key that gives something.
    var isHomeArmed: Bool { ContinuousClock.now >= homeVisibleSince + Self.armingTime }
    /// Whether the broker runs in session mode, which never asks for a password.
    var isSession: Bool { !loan.isPossible }

    /// Discards input that was typed before the person could see the current screen.
    func discardInput() {
        terminal.discardInput()
        discarded += 1
    }

    // MARK: - The broker

    private func tryAgain() {
        // The installed agent has given up the group that the socket requires. Only a new process has that
        // group.
        if connector.canOpenAgain { tryBroker() } else { ending = .startAnew(attempt: attempt) }
    }

    private func tryBroker() {
        do {
            let opened = try AgentConnection(opening: connector, names)
            // The system's broker has polkit authenticate the person before it accepts an agent.
            lendTerminal()
            try opened.serve(terminal: terminal.name)
            connection = opened
        } catch {
            lost(error)
        }
    }

    private func takeEvents() {
        do throws(VarlinkClientError) {
            while let connection, let event = try connection.nextEvent() {
                if connection.isRegistered, attempt != 0 || isBrokerMissed || !isServing { registered() }
                take(event)
            }
        } catch {
            guard case .error(let name, let parameters) = error else { return lost(error) }
            let isPassword = name == "io.contactbroker.Agent.AuthenticationFailed"
            let wasNotRecognised = isPassword && parameters["reason"]?.string == nil
            let reason = wasNotRecognised ? names.text(.startNotRecognised) : names.words(for: error)
            ending = .failed(
                names.text(.startAgent, [.reason: reason]),
                advice: names.text(wasNotRecognised ? .adviceOwnPassword : isPassword ? .adviceNobody : .adviceOthers))
        }
    }

    /// Whether the broker has accepted this connection.
    private(set) var isServing = false

    private func registered() {
        takeTerminalBack()
        attempt = 0
        if isBrokerMissed { say(StyledLine(names.text(.brokerBack))) }
        isBrokerMissed = false
        isServing = true
        listGrants()
    }

    /// Takes one reply of `Serve`.
    private func take(_ event: JSONValue) {
        // How many other agents serve this person, and the terminal of the one that joined last.
        if let others = event["others"]?.int, others != self.others {
            if others > self.others {
                say(.warning(HomeWords(names: names).words(forOthers: others, joined: event["joined"]?.string)))
            }
            self.others = others
        }
        if let json = event["prompt"], !json.isNull {
            if let prompt = Prompt(json) {
                // In a terminal that is too small, the main screen says that a prompt waits.
                isHomeChanged = true
                if prompt.isQuiet { quiet.append(prompt) } else { queue.append(prompt) }
            } else if let cookie = json["cookie"]?.string {
                say(.warning(names.text(.notUnderstood)))
                _ = try? connection?.answer(cookie, .dismissed)
            }
        }
        if let cookie = event["withdrawn"]?.string { withdraw(cookie) }
        if let cookie = event["extended"]?.string, let end = event["expires"]?.seconds { extend(cookie, until: end) }
        if let cookie = event["updated"]?.string, let query = event["query"]?.string { update(cookie, query: query) }
        if let waiting = event["waiting"]?.int { self.waiting = waiting }
        if event["accessChanged"]?.bool == true { isListStale = true }
    }

    /// Calls the broker. `refused` handles an error reply; any other error means that the connection is lost.
    func call(
        _ body: (AgentConnection) throws(VarlinkClientError) -> Void, orRefused refused: (VarlinkClientError) -> Void
    ) {
        guard let connection else { return say(.warning(names.text(.brokerUnreachable))) }
        do throws(VarlinkClientError) {
            try body(connection)
        } catch {
            guard case .error = error else { return lost(error) }
            refused(error)
        }
    }

    /// Handles a lost or failed connection: drops all prompts and schedules the next attempt, with growing
    /// pauses.
    func lost(_ error: any Error) {
        connection?.close()
        connection = nil
        others = 0
        retry = ContinuousClock.now + Self.pause(before: attempt)
        attempt = min(attempt + 1, Arguments.mostAttempts)
        leaveDialogue()
        loan.endPasswordAgent()
        takeTerminalBack()
        queue = []
        quiet = []
        isServing = false
        guard !isBrokerMissed else { return }
        isBrokerMissed = true
        say(.warning(names.text(.brokerLost, [.reason: names.words(for: error)])))
        if let advice = names.advice(for: error) { say(.dim(advice)) }
        say(.dim(names.text(.tryingAgain)))
    }
}
