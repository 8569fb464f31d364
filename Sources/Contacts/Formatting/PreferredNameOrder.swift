import Synchronization

/// Which name the person wants first, cached for up to a minute, since lists format thousands of names.
final class PreferredNameOrder: Sendable {
    static let shared = PreferredNameOrder()

    private struct State {
        var order = CNContactDisplayNameOrder.userDefault
        /// When to ask the broker again.
        var expires: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    private static let lifetime = Duration.seconds(60)
    /// After an unknown answer: the app may get access soon.
    private static let lifetimeOfNothing = Duration.seconds(2)
    /// A name must not wait long for a broker.
    private static let patience = Duration.seconds(1)

    /// `userDefault` if the app may not know. Never prompts.
    var order: CNContactDisplayNameOrder {
        // Other threads wait here for the answer, so that all of a list is in one order.
        state.withLock { state in
            let now = ContinuousClock.now
            if let expires = state.expires, now < expires { return state.order }
            let known = WaitBudget.with(WaitBudget(Self.patience)) {
                CNContactsUserDefaults.shared().knownDisplayNameOrder
            }
            // If the broker cannot be reached, the last known order still applies.
            state.order = known ?? state.order
            state.expires = now + (known == nil ? Self.lifetimeOfNothing : Self.lifetime)
            return state.order
        }
    }

    /// Drops the cached order, after this process changed it.
    func expire() { state.withLock { $0.expires = nil } }
}
