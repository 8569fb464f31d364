import BrokerBounds

extension Surroundings {
    /// Returns a copy that limits repeats of `log` messages and of those notices that callers can repeat. While a book is
    /// damaged or the disk is full, an app can cause the same message with every call.
    package func withLogLimit() -> Surroundings {
        let limit = logLimit()
        var surroundings = self
        let (log, notice) = (log, notice)
        surroundings.log = { message in limit.say(message) { log(message) } }
        surroundings.notice = { name, message, facts in
            switch name {
            // Callers can cause this notice with each connection. The other notices are rare.
            case .anotherPerson: limit.say(message) { notice(name, message, facts) }
            case .policyInForce, .policyUnreadable, .policyNotReloaded, .settingsUnreadable, .recordsNotKept,
                .recordsLost, .auditContradicted, .auditHead, .auditRemoved, .alarm, .cardDamaged, .userPurged:
                notice(name, message, facts)
            }
        }
        return surroundings
    }

    /// A limit that lets each message through once, and logs the number of its repeats.
    private func logLimit() -> LogLimit<String> {
        LogLimit(perKey: 1, keys: LogLimits.messages, perOthers: 0) { [loop] delay, body in
            loop.later(after: delay, body)
        } report: { [log] message, count in
            log(
                message.map { "\(count) more times: \($0)" }
                    ?? "\(count) more messages within a minute were not logged: they differed too much to count each")
        }
    }
}
