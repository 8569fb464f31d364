import BrokerConnection
import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation
import Synchronization

extension Notification.Name {
    /// Posted when any program has changed something that this app can see. Fetched contacts may be stale, so
    /// fetch them again. The library posts this once per burst of changes, on a thread that holds no lock.
    public static let CNContactStoreDidChange = Notification.Name("CNContactStoreDidChangeNotification")
}

/// Watches for changes for as long as the process lives, once for all of its stores, and notifies observers.
///
/// It never prompts: the broker does not reply until the person has decided. If the connection is lost, it
/// reconnects, and then reports changes that were made meanwhile.
final class ChangeWatch: Sendable {
    static let shared = ChangeWatch()

    private struct State {
        var isRunning = false
        /// The last history token that observers were notified of, or at which this process read the book.
        var known: String?
        /// Whether a pause should end.
        var isWoken = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    private static let shortestPause = 0.05
    private static let longestPause = 10.0
    /// The pause after a refusal. It is long because decisions seldom change, and a successful call ends the
    /// pause.
    private static let pauseWhenRefused = 300.0

    /// Starts to watch, if no other store has started it.
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

    /// Records that the app has read the address book at this history token.
    func read(at token: String?) {
        guard let token else { return }
        state.withLock { if $0.known == nil { $0.known = token } }
    }

    /// Records that the app has saved something. If no token is known yet, the next token counts as a change.
    func saved() {
        state.withLock { if $0.known == nil { $0.known = "" } }
    }

    /// Ends the pause after a call succeeded, because the broker may allow a watch that it refused before.
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

    /// Waits for this time, or until a call succeeds.
    private func wait(_ seconds: Double) {
        state.withLock { $0.isWoken = false }
        _ = wake.wait(timeout: .now() + seconds)
    }
}
