import BrokerSystem
import BrokerVarlink
import Logging

/// What the journal is told of callers that are not served: bounded for each user, so that a program which connects again and again
/// cannot bury what others did. It lives on the loop.
final class Complaints {
    /// Told of one user within ``window``; what comes beyond is counted, and the count told when the window is over.
    static let most = 20
    static let window = Duration.seconds(60)
    /// Users kept in mind at once; those beyond share what one has.
    static let users = 256

    private let loop: any Loop
    private let log: Logger
    private var told: [UInt32: (count: Int, left: Int)] = [:]
    /// Of whoever found no place of their own.
    private static let others = UInt32.max

    init(loop: any Loop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    func tell(of uid: UInt32, _ message: String, _ facts: [(name: String, value: String)]) {
        let place = told[uid] != nil || told.count < Self.users ? uid : Self.others
        var state = told[place] ?? (0, 0)
        if state == (0, 0) { closeLater(place) }
        if state.count < Self.most {
            state.count += 1
            log.tell(.turnedAway, message, facts)
        } else {
            state.left += 1
        }
        told[place] = state
    }

    private func closeLater(_ place: UInt32) {
        let bound = LoopBound(self, loop: loop)
        loop.schedule(after: Self.window) { bound.value.close(place) }
    }

    private func close(_ place: UInt32) {
        guard let state = told.removeValue(forKey: place), state.left > 0 else { return }
        let whose = place == Self.others ? "of several users" : "of user \(place)"
        log.tell(
            .turnedAway, "\(state.left) more callers \(whose) were turned away within a minute",
            [("count", "\(state.left)")] + (place == Self.others ? [] : [("uid", "\(place)")]))
    }
}
