import Glibc

/// What all connections of one user at one door use up together. It lives on the loop.
final class UserAccount {
    let userID: uid_t
    private let bytesInFlight: Int

    private(set) var connections = 0
    private(set) var heldCallBytes = 0
    private(set) var unsentReplyBytes = 0
    /// Connections that are not read because the user has too many bytes of calls in flight.
    private var paused: [SocketConnection] = []
    /// Connections whose peers have not taken all they were sent.
    private var stalled: [ObjectIdentifier: SocketConnection] = [:]
    /// The one that may go on all the same, so that calls which fill the bound together are finished one by one.
    private weak var exempt: SocketConnection?

    init(userID: uid_t, bytesInFlight: Int) {
        self.userID = userID
        self.bytesInFlight = bytesInFlight
    }

    func join() { connections += 1 }
    func leave() { connections -= 1 }

    /// Whether the connection, which holds part of a long call, may read on.
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

    /// Called when a connection holds no long call any more, or is gone.
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

    /// Counts replies that could not leave, and closes whoever has not read for longest while they are too many.
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
