import BrokerConnection
import BrokerFormatting
import BrokerJSON
import BrokerPasswordPrompt
import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// Waits for prompts and for the person, and lets them meet. It owns the terminal, the connection and the queue.
final class Agent {
    /// How long a screen must have been visible before an approving key counts.
    static let armingTime = Duration.milliseconds(500)
    /// How long a lone ESC waits for the rest of a sequence.
    static let escapeTime = Duration.milliseconds(50)
    /// A prompt is drawn again this often: what another program wrote over it does not stay.
    static let redrawTime = Duration.seconds(1)
    /// More time left than this, in seconds, is not worth a word.
    static let longestCountdown = 600
    /// Pauses between attempts to reach the broker: this one, doubled up to the longest.
    static let firstPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(30)

    enum Ending: Hashable {
        case quit
        case approved, refused
        case signal(CInt)
        /// The broker cannot be reached by this process any more, for so many times in a row.
        case startAnew(attempt: Int)
        /// Could not go on; the line says why and the second what to try.
        case failed(String, advice: String)
    }

    let terminal: Terminal
    /// The words, in the person's language.
    let names: LocalizedNames
    let once: Bool
    private let signals: CInt
    private let door: AgentDoor
    /// Asks for the password where the system's broker wants one.
    private let password: PasswordAgent?
    /// The terminal is the password agent's: no key is read here, and nothing drawn.
    private(set) var isTerminalLent = false

    var connection: AgentConnection?
    /// When the broker is tried again, and how often in a row that was.
    private var retry = ContinuousClock.now
    private var attempt: Int
    private var isBrokerMissed: Bool
    private var others = 0

    private var decoder = KeyDecoder()
    private var typed = ContinuousClock.now
    /// How often input was discarded: keys that were read together with one that changed the screen are not for the new one.
    private var discarded = 0

    /// Prompts whose turn has not come, in the order in which they came.
    var queue: [Prompt] = []
    /// Of apps that were refused before: they wait until the person opens them.
    var quiet: [Prompt] = []
    var dialogue: (any Dialogue)?
    /// Since when the dialogue's stage can be read; `nil` while it cannot.
    var visibleSince: ContinuousClock.Instant?
    var hint: String?
    /// The grants that were listed last, in their order: a number opens one.
    var listed: ArraySlice<AppGrant> = []
    var isTooSmallSaid = false
    /// What the last drawing showed of the time left and of arming, to draw again only when that changes.
    var drawnSecondsLeft: Int?
    var isDrawnArmed = false
    var drawn = ContinuousClock.now
    var ending: Ending?

    init(
        terminal: Terminal, names: LocalizedNames, signals: CInt, once: Bool, attempt: Int, door: AgentDoor,
        password: PasswordAgent?
    ) {
        self.terminal = terminal
        self.names = names
        self.signals = signals
        self.once = once
        self.attempt = attempt
        isBrokerMissed = attempt > 0
        self.door = door
        self.password = password
    }

    /// Runs until the person quits, a signal comes or nothing more can be done.
    func run() -> Ending {
        tryBroker()
        while ending == nil {
            wait()
            takeSignals()
            takeKeys()
            takeEvents()
            if connection == nil, ContinuousClock.now >= retry { tryAgain() }
            showNext()
            tick()
        }
        leaveDialogue()
        connection?.close()
        return ending ?? .quit
    }

    /// The pause before the broker is tried for the time of this number, counted from 0.
    static func pause(before attempt: Int) -> Duration {
        // Past 2^10 the longest is reached whatever the first one is.
        min(firstPause * (1 << min(attempt, 10)), longestPause)
    }

    // MARK: - The terminal and the password

    /// Leaves the terminal to whoever asks for the password, if somebody here does.
    func lendTerminal() {
        guard let password, !isTerminalLent, ending == nil else { return }
        isTerminalLent = true
        visibleSince = nil
        terminal.suspend()
        guard !password.prepare() else { return }
        terminal.say(.dim(names.text(.passwordOnDesktop)))
    }

    /// Nobody wants the password any more. pkttyagent would go on reading this terminal, and having read a line of it hang for ever
    /// (in polkit 122 what cancels its question waits for its own end). The next question has a new one.
    func endPasswordAgent() { password?.end() }

    /// What was typed meanwhile was for the password.
    func takeTerminalBack() {
        guard isTerminalLent else { return }
        isTerminalLent = false
        terminal.resume()
        discardInput()
        if dialogue != nil { screenChanged() }
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

    /// When something is to be done though nobody says anything.
    private var nextTime: ContinuousClock.Instant? {
        var times: [ContinuousClock.Instant] = []
        if connection == nil { times.append(retry) }
        if decoder.isUndecided { times.append(typed + Self.escapeTime) }
        if let visibleSince, dialogue != nil {
            if !isDrawnArmed { times.append(visibleSince + Self.armingTime) }
            times.append(drawn + Self.redrawTime)
        }
        return times.min()
    }

    /// -1, for ever, where there is no such time; rounded up.
    private func milliseconds(until time: ContinuousClock.Instant?) -> CInt {
        guard let time else { return -1 }
        return CInt(clamping: max(0, ContinuousClock.now.duration(to: time).wholeMilliseconds + 1))
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
        guard let bytes = terminal.read() else {
            ending = .signal(SIGHUP)
            return
        }
        var keys: [Key] = []
        if !bytes.isEmpty {
            typed = ContinuousClock.now
            keys = decoder.keys(from: bytes)
        } else if decoder.isUndecided, ContinuousClock.now >= typed + Self.escapeTime {
            keys = decoder.settle()
        }
        let shown = discarded
        for key in keys where ending == nil && discarded == shown { press(key) }
    }

    private func press(_ key: Key) {
        if dialogue != nil {
            // A prompt that cannot be read cannot be answered.
            if visibleSince != nil { pressInDialogue(key) }
            return
        }
        switch key {
        case .character("q"): ending = .quit
        case .character("l"): listGrants()
        case .character(let digit) where digit.isASCII && digit.isNumber: openGrant(digit.wholeNumberValue ?? 0)
        case .character("o") where !quiet.isEmpty: queue.insert(quiet.removeFirst(), at: 0)
        case .character, .enter, .escape, .backspace, .erase, .paste, .other: break
        }
    }

    /// Forgets what was typed before the person could see what it would answer.
    func discardInput() {
        terminal.discardInput()
        decoder.reset()
        discarded += 1
    }

    // MARK: - The broker

    private func tryAgain() {
        // What opens the door was given up: a new process has it again.
        if door.canOpenAgain { tryBroker() } else { ending = .startAnew(attempt: attempt) }
    }

    private func tryBroker() {
        do {
            let opened = try AgentConnection(opening: door, names)
            // The system's broker asks polkit before it takes an agent, and polkit the person.
            lendTerminal()
            try opened.serve(terminal: terminal.name)
            connection = opened
        } catch let error as BrokerConnectionError {
            lost(error.description, advice: error.advice)
        } catch {
            lost("\(error)")
        }
    }

    private func takeEvents() {
        do throws(VarlinkClientError) {
            while let connection, let event = try connection.nextEvent() {
                if connection.isRegistered, attempt != 0 || isBrokerMissed || !isWaitingSaid { registered() }
                take(event)
            }
        } catch {
            guard case .error(let name, let parameters) = error else { return lost("\(error)") }
            let reason = parameters["reason"]?.string.map { ": " + ShownText.line($0) } ?? ""
            guard name == "io.contactbroker.Agent.AuthenticationFailed" else {
                ending = .failed(
                    "could not become an agent: \(ShownText.line(name))\(reason)",
                    advice: "See whether other agents run, and whether the broker takes this one for you.")
                return
            }
            let wasAsked = reason.isEmpty
            ending = .failed(
                "could not become an agent" + (wasAsked ? ": you were not recognised" : reason),
                advice: "Apps ask nobody here until you start it again"
                    + (wasAsked ? ", and give your own password when it is asked for." : "."))
        }
    }

    private var isWaitingSaid = false

    private func registered() {
        takeTerminalBack()
        attempt = 0
        if isBrokerMissed { terminal.say(StyledLine(names.text(.brokerBack))) }
        isBrokerMissed = false
        isWaitingSaid = true
        sayWaiting()
    }

    func sayWaiting() {
        guard !once else { return }
        terminal.say(
            .dim("\(names.text(.waiting))  [l] \(names.text(.whatYouShared))  [q] \(names.text(.quit))"))
    }

    private func take(_ event: AgentConnection.Event) {
        if let others = event.others, others != self.others {
            if others > self.others {
                terminal.say(.warning(words(forOthers: others, joined: event.joined)))
            }
            self.others = others
        }
        if let cookie = event.unreadable {
            terminal.say(.warning(names.text(.notUnderstood)))
            try? connection?.answer(cookie, .dismissed)
        }
        if let prompt = event.prompt {
            if prompt.isQuiet { waitQuietly(prompt) } else { queue.append(prompt) }
        }
        if let cookie = event.withdrawn { withdraw(cookie) }
    }

    /// - Parameter terminal: of the one that joined; `nil` where they were there before this one.
    private func words(forOthers others: Int, joined terminal: String?) -> String {
        guard let terminal else { return names.text(.othersHere, count: others) }
        return names.text(
            .otherJoined, count: others, [.terminal: Columns.clip(ShownText.line(terminal), to: 24)])
    }

    /// The broker is not there, or not any more; it is tried again after a pause that grows.
    func lost(_ reason: String, advice: String? = nil) {
        connection?.close()
        connection = nil
        others = 0
        retry = ContinuousClock.now + Self.pause(before: attempt)
        attempt = min(attempt + 1, Arguments.mostAttempts)
        leaveDialogue()
        endPasswordAgent()
        takeTerminalBack()
        queue = []
        quiet = []
        guard !isBrokerMissed else { return }
        isBrokerMissed = true
        terminal.say(.warning(names.text(.brokerLost, [.reason: ShownText.line(reason)])))
        if let advice { terminal.say(.dim(advice)) }
        terminal.say(.dim("\(names.text(.tryingAgain))  [q] \(names.text(.quit))"))
    }
}

extension Duration {
    var wholeMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
