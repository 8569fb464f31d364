import BrokerBounds
import BrokerCardDAV

/// Counts the connections and the bytes of bodies. The event loop owns it.
final class Connections {
    private var perUser: [UInt32: Int] = [:]
    private var count = 0
    private var bodies = 0

    /// Whether one more connection of this user is within the bounds. If so, ``leave(_:)`` must follow.
    func admit(_ user: UInt32) -> Bool {
        guard count < CardDAVLimits.connections, perUser[user, default: 0] < CardDAVLimits.connectionsPerUser else {
            return false
        }
        count += 1
        perUser[user, default: 0] += 1
        return true
    }

    func leave(_ user: UInt32) {
        count -= 1
        let left = perUser[user, default: 1] - 1
        perUser[user] = left > 0 ? left : nil
    }

    /// Whether the service has room for these bytes of a body. If so, ``free(body:)`` must follow.
    func takeBody(_ bytes: Int) -> Bool {
        guard bytes <= CardDAVLimits.bodies - bodies else { return false }
        bodies += bytes
        return true
    }

    func free(body bytes: Int) { bodies -= bytes }
}
