import BrokerConnection
import CLinux
import Glibc
import VarlinkClient

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
        /// Could not go on; the line says why and the second what to try.
        case failed(String, advice: String)
    }

    let terminal: Terminal
    let once: Bool
    private let signals: CInt
    private let connect: () throws -> VarlinkClient

    var connection: AgentConnection?
    /// When the broker is tried again, and the pause after that.
    private var retry = ContinuousClock.now
    private var pause = Agent.firstPause
    private var isBrokerMissed = false
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

    init(terminal: Terminal, signals: CInt, once: Bool, connect: @escaping () throws -> VarlinkClient) {
        self.terminal = terminal
        self.signals = signals
        self.once = once
        self.connect = connect
    }

    /// Runs until the person quits, a signal comes or nothing more can be done.
    func run() -> Ending {
        tryBroker()
        while ending == nil {
            wait()
            takeSignals()
            takeKeys()
            takeEvents()
            if connection == nil, ContinuousClock.now >= retry { tryBroker() }
            showNext()
            tick()
        }
        leaveDialogue()
        connection?.close()
        return ending ?? .quit
    }

    // MARK: - Waiting

    private func wait() {
        guard connection?.hasBufferedReply != true else { return }
        var waiting = [
            pollfd(fd: terminal.fileDescriptor, events: Int16(POLLIN), revents: 0),
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
        let (seconds, fraction) = ContinuousClock.now.duration(to: time).components
        return CInt(clamping: max(0, seconds * 1_000 + fraction / 1_000_000_000_000_000 + 1))
    }

    // MARK: - Signals

    private func takeSignals() {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(signals, &bytes, bytes.count)
        guard count > 0 else { return }
        for signal in Set(bytes.prefix(count)).map(CInt.init) {
            switch signal {
            case SIGTSTP:
                terminal.suspend()
                _ = clinux_take_signal(SIGTSTP)
                terminal.resume()
                screenChanged()
            case SIGCONT:
                terminal.resume()
                screenChanged()
            case SIGWINCH: screenChanged()
            default: if ending == nil { ending = .signal(signal) }
            }
        }
    }

    // MARK: - Keys

    private func takeKeys() {
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

    private func tryBroker() {
        do {
            connection = try AgentConnection(terminal: terminal.name, connect: connect)
        } catch let error as BrokerConnectionError {
            lost(error.description, advice: error.advice)
        } catch {
            lost("\(error)")
        }
    }

    private func takeEvents() {
        do throws(VarlinkClientError) {
            while let connection, let event = try connection.nextEvent() {
                if connection.isRegistered, pause != Self.firstPause || isBrokerMissed || !isWaitingSaid {
                    registered()
                }
                take(event)
            }
        } catch {
            if case .error(let name, let parameters) = error {
                let reason = parameters["reason"]?.string.map { ": " + ShownText.line($0) } ?? ""
                ending = .failed(
                    "could not become an agent: \(ShownText.line(name))\(reason)",
                    advice: "See whether other agents run, and whether the broker takes this one for you.")
                return
            }
            lost("\(error)")
        }
    }

    private var isWaitingSaid = false

    private func registered() {
        pause = Self.firstPause
        if isBrokerMissed { terminal.say("The broker is there again.") }
        isBrokerMissed = false
        isWaitingSaid = true
        sayWaiting()
    }

    func sayWaiting() {
        guard !once else { return }
        terminal.say(.dim("Waiting for apps that ask for contacts.  [l] what you shared  [q] quit"))
    }

    private func take(_ event: AgentConnection.Event) {
        if let others = event.others, others != self.others {
            if others > self.others {
                terminal.say(.warning(Self.words(forOthers: others)))
            }
            self.others = others
        }
        if let cookie = event.unreadable {
            terminal.say(.warning("An app asked something that this agent does not understand. Nothing is shared."))
            try? connection?.answer(cookie, .dismissed)
        }
        if let prompt = event.prompt {
            if prompt.isQuiet { waitQuietly(prompt) } else { queue.append(prompt) }
        }
        if let cookie = event.withdrawn { withdraw(cookie) }
    }

    static func words(forOthers others: Int) -> String {
        others == 1
            ? "Another agent of yours registered: it may answer what is asked here."
            : "\(others) other agents of yours are registered: each may answer what is asked here."
    }

    /// The broker is not there, or not any more; it is tried again after a pause that grows.
    func lost(_ reason: String, advice: String? = nil) {
        connection?.close()
        connection = nil
        others = 0
        retry = ContinuousClock.now + pause
        pause = min(pause * 2, Self.longestPause)
        leaveDialogue()
        queue = []
        quiet = []
        guard !isBrokerMissed else { return }
        isBrokerMissed = true
        terminal.say(.warning("The broker cannot be reached (\(ShownText.line(reason)))."))
        if let advice { terminal.say(.dim(advice)) }
        terminal.say(.dim("Trying again.  [q] quit"))
    }

}
