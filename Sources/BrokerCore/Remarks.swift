import BrokerVarlink

/// What the journal is told again and again: once, and a minute later how often more.
///
/// An app may call as often as it likes while its book is damaged or the disk is full: that must bury nothing else that is
/// said, nor fill the disk on which the journal is. It lives on the loop.
final class Remarks {
    /// Within this time what was said is counted.
    static let window = Duration.seconds(60)
    /// Different ones kept in mind at once; those beyond are counted together.
    static let most = 64

    private let loop: any Loop
    private let log: (String) -> Void
    /// How often each came again.
    private var repeats: [String: Int] = [:]
    private var others = 0

    init(loop: any Loop, log: @escaping (String) -> Void) {
        self.loop = loop
        self.log = log
    }

    /// Says it, by the way that is given, unless it was said a moment ago.
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
        log("\(others) more messages within a minute were of too many kinds to be kept apart")
        others = 0
    }
}

extension Surroundings {
    /// The same, with what is said again and again counted.
    func withRemarks() -> Surroundings {
        let remarks = Remarks(loop: loop, log: log)
        var surroundings = self
        let (log, notice) = (log, notice)
        surroundings.log = { remarks.say($0, by: log) }
        surroundings.notice = { name, message, facts in
            switch name {
            // As often as they connect. The rest is what administrators do, or comes once.
            case .anotherPerson: remarks.say(message) { notice(name, $0, facts) }
            case .policyInForce, .policyUnreadable, .settingsUnreadable, .recordsNotKept, .recordsLost,
                .auditContradicted, .cardDamaged, .userPurged:
                notice(name, message, facts)
            }
        }
        return surroundings
    }
}
