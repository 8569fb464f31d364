import BrokerFormatting
import BrokerPasswordPrompt

/// Hands the agent's terminal to the password agent, which asks there for the person's password, and takes it back.
final class TerminalLoan {
    /// The time after which the agent checks whether its terminal shows a password prompt.
    private static let passwordPromptTime = Duration.seconds(5)

    private let terminal: any Display
    private let names: LocalizedNames
    /// Asks for the password if the system's broker requires one; `nil` in session mode.
    private let password: PasswordAgent?
    private(set) var isLent = false
    /// When the terminal was handed to the password agent; `nil` once the agent has checked for its prompt.
    private var lentSince: ContinuousClock.Instant?

    init(of terminal: any Display, to password: PasswordAgent?, _ names: LocalizedNames) {
        self.terminal = terminal
        self.password = password
        self.names = names
    }

    /// Whether there is a password agent.
    var isPossible: Bool { password != nil }

    /// Hands the terminal to the password agent, if there is one and it does not have the terminal already.
    ///
    /// - Returns: whether this has handed it over.
    func lend() -> Bool {
        guard let password, !isLent else { return false }
        isLent = true
        terminal.suspend()
        let isPrepared = password.prepare()
        lentSince = .now
        if !isPrepared { terminal.say(.dim(names.text(.passwordOnDesktop))) }
        return true
    }

    /// Takes the terminal back.
    ///
    /// - Returns: whether the password agent had it.
    func takeBack() -> Bool {
        guard isLent else { return false }
        isLent = false
        lentSince = nil
        terminal.resume()
        return true
    }

    /// When to call ``noticeMissingPassword()`` next; `nil` for never.
    var nextCheck: ContinuousClock.Instant? { lentSince.map { $0 + Self.passwordPromptTime } }

    /// Tells the person once if no password prompt appeared. Another of the person's programs can register
    /// with polkit for this process before the password agent does. polkit then asks that program, and this
    /// terminal shows nothing.
    func noticeMissingPassword() {
        guard let nextCheck, ContinuousClock.now >= nextCheck else { return }
        lentSince = nil
        // pkttyagent turns the echo off while it asks.
        if terminal.echoes { terminal.say(StyledLine(names.text(.passwordNotHere), .warning)) }
    }

    /// Ends the password agent. Call this after an error that ends the password request. A pkttyagent whose
    /// request was cancelled keeps reading this terminal and hangs after one line, because its cancel handler
    /// in polkit 122 waits for its own end. ``lend()`` starts a new password agent.
    func endPasswordAgent() { password?.end() }
}
