import BrokerCardDAV
import BrokerVarlinkClient
import Dispatch
import Glibc

/// Tells the broker where the service listens, for as long as both run.
struct Announcer: Sendable {
    let socket: String
    let port: UInt16

    private static let firstWait = Duration.seconds(1)
    private static let longestWait = Duration.seconds(30)

    /// Begins on a thread of its own, which waits most of the time.
    func start() { DispatchQueue(label: "announcer").async { run() } }

    private func run() {
        var wait = Self.firstWait
        var lastReason: String?
        while true {
            let reason = announce {
                if lastReason != nil { Log.write("the broker is there again") }
                (wait, lastReason) = (Self.firstWait, nil)
            }
            if lastReason != reason { Log.write("waiting for the broker: \(reason)") }
            lastReason = reason
            usleep(UInt32(clamping: wait.milliseconds * 1_000))
            wait = min(wait * 2, Self.longestWait)
        }
    }

    /// Returns when the connection has ended, with the reason.
    private func announce(done: () -> Void) -> String {
        do throws(ServiceProblem) {
            try BrokerDoor.announce(port: port, at: socket, done: done)
        } catch {
            return error.reason
        }
        return "it closed the connection"
    }
}
