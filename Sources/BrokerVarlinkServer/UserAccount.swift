import Glibc

/// Counts the resources that all connections of one user at one socket use in total. It is used only on the
/// event loop.
final class UserAccount {
    let userID: uid_t
    private let bytesInFlight: Int

    private(set) var connections = 0
    private(set) var heldCallBytes = 0
    private(set) var unsentReplyBytes = 0
    /// Connections on which reading is paused because the user's buffered calls exceed the byte limit.
    private var paused: [SocketConnection] = []
    /// Connections with replies that their peers have not read.
    private var stalled: [ObjectIdentifier: SocketConnection] = [:]
    /// The only connection that may still read beyond the limit. Without this exemption, several unfinished
    /// long calls could together use up the limit, and none could complete.
    private weak var exempt: SocketConnection?

    init(userID: uid_t, bytesInFlight: Int) {
        self.userID = userID
        self.bytesInFlight = bytesInFlight
    }

    func join() { connections += 1 }
    func leave() { connections -= 1 }

    /// Whether a connection with part of a long call may continue to read.
    func mayRead(_ connection: SocketConnection) -> Bool {
        guard heldCallBytes > bytesInFlight, exempt !== connection else { return true }
        guard exempt != nil else {
            exempt = connection
            return true
        }
        if !paused.contains(where: { $0 === connection }) { paused.append(connection) }
        return false
    }

    func holdCallBytes(_ difference: Int) {
        heldCallBytes += difference
    }

    /// Call this when a connection closes or no longer has a long call buffered.
    func finishedLongCall(_ connection: SocketConnection) {
        if exempt === connection { exempt = nil }
        paused.removeAll { $0 === connection }
        guard !paused.isEmpty, exempt == nil || heldCallBytes <= bytesInFlight else { return }
        let waiting = paused
        paused = []
        for connection in waiting { connection.readOn() }
    }

    func stall(_ connection: SocketConnection) { stalled[ObjectIdentifier(connection)] = connection }
    func unstall(_ connection: SocketConnection) { stalled[ObjectIdentifier(connection)] = nil }

    /// Counts unsent bytes. While they exceed the limit, closes the connection whose peer has not read for
    /// the longest time.
    func holdReplyBytes(_ difference: Int) {
        unsentReplyBytes += difference
        guard difference > 0 else { return }
        while unsentReplyBytes > bytesInFlight,
            let slowest = stalled.values.min(by: { $0.lastProgress < $1.lastProgress })
        {
            slowest.close(because: .userHoldsTooMuch)
        }
    }
}
