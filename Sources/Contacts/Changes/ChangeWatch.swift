import BrokerConnection
import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation
import Synchronization

extension Notification.Name {
    /// Something that this app can see has changed in the address book, by whomever: fetched contacts may be stale, and are to
    /// be fetched again. Once for each burst of changes, on a thread of this library's own that holds no lock.
    public static let CNContactStoreDidChange = Notification.Name("CNContactStoreDidChangeNotification")
}

/// Listens for changes as long as the process lives, once for all of its stores, and tells those who observe.
///
/// It never has the person asked: until something is decided the broker leaves it waiting. When the broker goes away it comes
/// back to the next one, and what changed in between is told then.
final class ChangeWatch: Sendable {
    static let shared = ChangeWatch()

    private struct State {
        var isRunning = false
        /// The last place in the history that observers were told of, or that this process read the book at.
        var known: String?
        /// Whether a pause should end.
        var isWoken = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    private static let shortestPause = 0.05
    private static let longestPause = 10.0
    /// After a refusal: what was decided seldom changes, and a call that works ends the pause.
    private static let pauseWhenRefused = 300.0

    /// Begins to listen, with the first store.
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

    /// The app has read the address book at this place in its history.
    func read(at token: String?) {
        guard let token else { return }
        state.withLock { if $0.known == nil { $0.known = token } }
    }

    /// The app has saved something, and nobody is told of it yet.
    func saved() {
        state.withLock { if $0.known == nil { $0.known = "" } }
    }

    /// A call was answered: where listening was refused it may be allowed now.
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
                    if let token = reply.parameters["historyToken"]?.string { tell(token) }
                    guard reply.continues else { break }
                }
            } catch VarlinkClientError.error {
                wasRefused = true
            } catch {
                // The broker is away, and comes back or not.
            }
            rest(wasRefused ? Self.pauseWhenRefused : pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func tell(_ token: String) {
        let isNews = state.withLock { state in
            defer { state.known = token }
            return state.known.map { $0 != token } ?? false
        }
        // After the lock: an observer may call the store, and start another.
        if isNews { NotificationCenter.default.post(name: .CNContactStoreDidChange, object: nil) }
    }

    /// Waits, but no longer than until a call works.
    private func rest(_ seconds: Double) {
        state.withLock { $0.isWoken = false }
        _ = wake.wait(timeout: .now() + seconds)
    }
}
