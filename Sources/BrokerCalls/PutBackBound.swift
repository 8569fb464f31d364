import BrokerBounds
import BrokerLedger

/// How many contacts each user may put back without a password, at whichever socket. It lives on the event loop.
package final class PutBackBound {
    private let surroundings: Surroundings
    /// How many contacts were put back without a password, and when, on the clock of ``Surroundings/uptime``.
    private var recent: [UInt32: [(time: Int64, contacts: Int)]] = [:]

    init(surroundings: Surroundings) { self.surroundings = surroundings }

    /// Counts contacts that are put back without a password.
    ///
    /// - Parameter uid: who puts them back.
    /// - Returns: `false` if there are too many, and passwords are asked for here. Then they do not count.
    package func count(_ contacts: Int, of user: UInt32, by uid: UInt32) -> Bool {
        guard contacts > 0, surroundings.wantsPasswords, uid != 0 else { return true }
        let now = surroundings.uptime()
        let period = surroundings.limits.passwordFreePeriod.microseconds
        let former = recent[user, default: []].filter { now - $0.time < period }
        guard former.reduce(contacts, { $0 + $1.contacts }) <= surroundings.limits.contactsWithoutPassword else {
            return false
        }
        recent[user] = former + [(now, contacts)]
        return true
    }
}
