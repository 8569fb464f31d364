import BrokerSystem
import BrokerVarlink
import Logging

/// Logs refused callers, and connections that were closed because of a limit or because a foreign process
/// wrote to them. The number of messages per user is limited, so that a program that keeps connecting cannot
/// hide messages about other users' programs. This class lives on the event loop.
final class Complaints {
    /// The maximum number of messages per user within ``window``. Further messages are only counted, and the
    /// count is logged at the end of the window.
    static let most = 20
    static let window = Duration.seconds(60)
    /// The maximum number of users tracked at once. All other users share one limit.
    static let users = 256

    private let loop: any Loop
    private let log: Logger
    private var reported: [UInt32: (count: Int, left: Int)] = [:]
    /// The key of the shared limit.
    private static let others = UInt32.max

    init(loop: any Loop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    func report(of uid: UInt32, _ message: String, _ facts: [(name: String, value: String)]) {
        let place = reported[uid] != nil || reported.count < Self.users ? uid : Self.others
        var state = reported[place] ?? (0, 0)
        if state == (0, 0) { closeLater(place) }
        if state.count < Self.most {
            state.count += 1
            log.report(.turnedAway, message, facts)
        } else {
            state.left += 1
        }
        reported[place] = state
    }

    private func closeLater(_ place: UInt32) {
        let bound = LoopBound(self, loop: loop)
        loop.schedule(after: Self.window) { bound.value.close(place) }
    }

    private func close(_ place: UInt32) {
        guard let state = reported.removeValue(forKey: place), state.left > 0 else { return }
        let whose = place == Self.others ? "of several users" : "of user \(place)"
        log.report(
            .turnedAway, "refused \(state.left) more connections \(whose) within a minute",
            [("count", "\(state.left)")] + (place == Self.others ? [] : [("uid", "\(place)")]))
    }
}
