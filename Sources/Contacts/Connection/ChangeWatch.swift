import BrokerConnection
import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation
import Synchronization

extension Notification.Name {
    /// Posted when any program has changed something that this app can see. Fetched contacts may be stale, so
    /// fetch them again. The library posts this once per burst of changes, on a thread of its own, and holds
    /// no lock while observers run.
    public static let CNContactStoreDidChange = Notification.Name("CNContactStoreDidChangeNotification")
}

/// Watches for changes on behalf of all stores of this process until the process exits, and notifies
/// observers.
///
/// Watching never prompts: the broker does not reply until the person has decided. If the connection is lost,
/// the thread reconnects, and then notifies observers of changes that were made meanwhile.
final class ChangeWatch: Sendable {
    static let shared = ChangeWatch()

    private struct State {
        var isRunning = false
        /// The last history token that the broker sent to this watch. Until the first one arrives, this is
        /// the token at which the app first read the address book. It is empty if the app saved something
        /// before its first read, and `nil` if the app has neither read nor saved.
        var known: String?
        /// Whether the thread needs no signal: it has received a reply since its last pause, or was already
        /// woken.
        var isWoken = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    private static let shortestPause = 0.05
    private static let longestPause = 10.0
    /// The pause after a refusal. It can be long, because decisions seldom change and a successful call ends
    /// the pause.
    private static let pauseWhenRefused = 300.0

    /// Starts the thread if it is not running.
    func start() {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        let thread = Thread { self.listen() }
        thread.name = "contacts-watch"
        thread.stackSize = 512 * 1_024
        thread.start()
    }

    /// Records the history token at which the app read the address book, if no token is known yet.
    func read(at token: String?) {
        guard let token else { return }
        state.withLock { if $0.known == nil { $0.known = token } }
    }

    /// Records that the app has saved something. If no token is known yet, the next token counts as a change.
    func saved() {
        state.withLock { if $0.known == nil { $0.known = "" } }
    }

    /// Ends the thread's pause. Called after a call has succeeded, because the broker may then accept a watch
    /// that it refused before.
    func accessWorks() {
        let mustWake = state.withLock { state in
            guard state.isRunning, !state.isWoken else { return false }
            state.isWoken = true
            return true
        }
        if mustWake { wake.signal() }
    }

    // MARK: The thread

    private func listen() {
        var pause = Self.shortestPause
        while true {
            var wasRefused = false
            do {
                let client = try BrokerConnection.connect(to: .apps, timeout: .seconds(30))
                defer { client.close() }
                try client.begin(BrokerCalls.prefix + ContactsMethod.watchChanges.rawValue, more: true)
                while let reply = try client.nextReply(timeout: nil) {
                    pause = Self.shortestPause
                    state.withLock { $0.isWoken = true }
                    if let token = reply.parameters["historyToken"]?.string { deliver(token) }
                    guard reply.continues else { break }
                }
            } catch VarlinkClientError.error {
                wasRefused = true
            } catch {
                // The broker cannot be reached; retry after a pause.
            }
            wait(wasRefused ? Self.pauseWhenRefused : pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func deliver(_ token: String) {
        let isNews = state.withLock { state in
            defer { state.known = token }
            return state.known.map { $0 != token } ?? false
        }
        // The lock is released first, because an observer may call the store, or create another one.
        if isNews { NotificationCenter.default.post(name: .CNContactStoreDidChange, object: nil) }
    }

    /// Waits for this number of seconds, or until a call succeeds.
    private func wait(_ seconds: Double) {
        state.withLock { $0.isWoken = false }
        _ = wake.wait(timeout: .now() + seconds)
    }
}
