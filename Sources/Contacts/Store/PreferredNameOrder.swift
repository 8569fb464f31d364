import Synchronization

/// The person's preferred name order, cached for up to a minute, because lists format thousands of names.
final class PreferredNameOrder: Sendable {
    static let shared = PreferredNameOrder()

    private struct State {
        var order = CNContactDisplayNameOrder.userDefault
        /// The time at which to ask the broker again.
        var expires: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    private static let lifetime = Duration.seconds(60)
    /// The time after which an unknown order is requested again. It is short because the app may get access
    /// soon.
    private static let lifetimeOfNothing = Duration.seconds(2)
    /// The maximum wait for the broker while a name is formatted.
    private static let patience = Duration.seconds(1)

    /// The preferred order; `userDefault` if it is not known. Reading it never prompts.
    var order: CNContactDisplayNameOrder {
        // The lock is held until the broker has replied. Other threads wait for the reply, so all names in a
        // list use the same order even if several threads format them.
        state.withLock { state in
            let now = ContinuousClock.now
            if let expires = state.expires, now < expires { return state.order }
            let known = WaitBudget.with(WaitBudget(Self.patience)) {
                CNContactsUserDefaults.shared().knownDisplayNameOrder
            }
            // If the broker did not return an order, the last known order still applies.
            state.order = known ?? state.order
            state.expires = now + (known == nil ? Self.lifetimeOfNothing : Self.lifetime)
            return state.order
        }
    }

    /// Makes the next read ask the broker. Called after this process has set the order.
    func expire() { state.withLock { $0.expires = nil } }
}
