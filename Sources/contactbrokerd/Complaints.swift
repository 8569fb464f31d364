import BrokerBounds
import BrokerSystem
import BrokerVarlink
import Logging

/// Logs refused callers, and connections that were closed because of a limit or because a foreign process
/// wrote to them. The number of messages per user is limited, so that a program that keeps connecting cannot
/// hide messages about other users' programs. This class lives on the event loop.
final class Complaints {
    private let log: Logger
    private let limit: LogLimit<UInt32>

    init(loop: any Loop, log: Logger) {
        self.log = log
        let most = LogLimits.refusals
        limit = LogLimit(perKey: most, keys: LogLimits.users, perOthers: most) { delay, body in
            let bound = LoopBound(body, loop: loop)
            loop.schedule(after: delay) { bound.value() }
        } report: { uid, count in
            log.report(
                .turnedAway,
                "refused \(count) more connections \(uid.map { "of user \($0)" } ?? "of several users") within a minute",
                [("count", "\(count)")] + (uid.map { [("uid", "\($0)")] } ?? []))
        }
    }

    func report(of uid: UInt32, _ message: String, _ facts: [(name: String, value: String)]) {
        limit.say(uid) { log.report(.turnedAway, message, facts) }
    }
}
