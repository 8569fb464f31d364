import Synchronization

/// Which name the person wants first, as it was a minute ago at most: names are written by the thousand.
final class PreferredNameOrder: Sendable {
    static let shared = PreferredNameOrder()

    private struct State {
        var order = CNContactDisplayNameOrder.userDefault
        /// When to look again.
        var expires: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    private static let lifetime = Duration.seconds(60)
    /// Where the app could not be told: it may be soon.
    private static let lifetimeOfNothing = Duration.seconds(2)
    /// Writing a name is no reason to wait for a broker.
    private static let patience = Duration.seconds(1)

    /// `userDefault` where the app may not know. This asks nobody.
    var order: CNContactDisplayNameOrder {
        // Others who write names at this moment wait for the answer: all of a list is in one order.
        state.withLock { state in
            let now = ContinuousClock.now
            if let expires = state.expires, now < expires { return state.order }
            let known = WaitBudget.with(WaitBudget(Self.patience)) {
                CNContactsUserDefaults.shared().knownDisplayNameOrder
            }
            // A broker that is away has not changed what the person wants.
            state.order = known ?? state.order
            state.expires = now + (known == nil ? Self.lifetimeOfNothing : Self.lifetime)
            return state.order
        }
    }

    /// This process has changed it.
    func forget() { state.withLock { $0.expires = nil } }
}
