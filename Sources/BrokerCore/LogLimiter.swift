import BrokerVarlink

/// Limits repeated journal messages. It logs a message once, and the number of its repeats a minute later.
///
/// While a book is damaged or the disk is full, an app can cause the same message with every call. The
/// repeats must neither hide other messages nor fill the journal's disk. The limiter lives on the event loop.
final class LogLimiter {
    /// How long repeats of a message are counted.
    static let window = Duration.seconds(60)
    /// The maximum number of different messages tracked at once. Further ones are counted together.
    static let most = 64

    private let loop: any Loop
    private let log: (String) -> Void
    /// The number of repeats of each message.
    private var repeats: [String: Int] = [:]
    private var others = 0

    init(loop: any Loop, log: @escaping (String) -> Void) {
        self.loop = loop
        self.log = log
    }

    /// Logs the message with `way`, or only counts it.
    func say(_ message: String, by way: (String) -> Void) {
        if let count = repeats[message] {
            repeats[message] = count + 1
        } else if repeats.count < Self.most {
            repeats[message] = 0
            way(message)
            loop.later(after: Self.window) { [self] in close(message) }
        } else {
            others += 1
        }
    }

    private func close(_ message: String) {
        if let count = repeats.removeValue(forKey: message), count > 0 { log("\(count) more times: \(message)") }
        guard others > 0 else { return }
        log("\(others) more messages within a minute were not logged: they differed too much to count each")
        others = 0
    }
}

extension Surroundings {
    /// Returns a copy that limits repeats of `log` messages and of those notices that callers can repeat.
    func withLogLimiter() -> Surroundings {
        let limiter = LogLimiter(loop: loop, log: log)
        var surroundings = self
        let (log, notice) = (log, notice)
        surroundings.log = { limiter.say($0, by: log) }
        surroundings.notice = { name, message, facts in
            switch name {
            // Callers can cause this notice with each connection. The other notices are rare.
            case .anotherPerson: limiter.say(message) { notice(name, $0, facts) }
            case .policyInForce, .policyUnreadable, .settingsUnreadable, .recordsNotKept, .recordsLost,
                .auditContradicted, .auditHead, .auditRemoved, .alarm, .cardDamaged, .userPurged:
                notice(name, message, facts)
            }
        }
        return surroundings
    }
}
