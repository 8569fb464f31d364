import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerVarlink

/// Rate-limits apps that have used up their share of the audit. Their calls wait, in order; other apps' calls
/// do not. It lives on the event loop.
package final class AuditPace {
    private let surroundings: Surroundings
    private let access: AccessStore
    /// The waiting calls, by the persistent principal of their app.
    private var held: [Principal: [(call: Call, go: () -> Void)]] = [:]

    package init(surroundings: Surroundings, access: AccessStore) {
        self.surroundings = surroundings
        self.access = access
    }

    /// Whether any call may have to wait.
    package var mayHold: Bool { !held.isEmpty || access.audit.hasExhaustedApps }

    /// Returns whether a call must wait because its app has used up its share of the audit. `go` runs once
    /// the wait is over, and must not call this method again. If too many calls already wait, this call fails
    /// and the result is also `true`.
    package func holds(_ call: Call, _ session: CallerSession, _ go: @escaping () -> Void) -> Bool {
        guard !call.isOver else { return false }
        let app = Principal(uid: session.caller.uid, strength: session.caller.strength, app: session.caller.app)
        let wait = wait(of: app)
        var queue = held[app] ?? []
        guard wait != nil || !queue.isEmpty else { return false }
        if queue.count >= surroundings.limits.callsHeld { queue.removeAll { $0.call.isOver } }
        guard queue.count < surroundings.limits.callsHeld else {
            call.fail(
                ContactsError.limitExceeded("auditRecordsPerHour", maximum: surroundings.limits.audit.recordsPerHour))
            return true
        }
        if queue.isEmpty { schedule(app, after: wait) }
        queue.append((call, go))
        held[app] = queue
        return true
    }

    private func wait(of app: Principal) -> Duration? {
        access.audit.wait(uid: app.uid, strength: app.strength, app: app.app, now: surroundings.now())
    }

    private func schedule(_ app: Principal, after wait: Duration?) {
        surroundings.loop.later(after: wait ?? .zero) { [self] in letGo(app) }
    }

    /// Runs the first waiting call of an app. The records that this call writes decide when the next one may
    /// run.
    private func letGo(_ app: Principal) {
        if let wait = wait(of: app) { return schedule(app, after: wait) }
        var queue = held[app] ?? []
        queue.removeAll { $0.call.isOver }
        let first = queue.isEmpty ? nil : queue.removeFirst()
        held[app] = queue.isEmpty ? nil : queue
        if !queue.isEmpty { schedule(app, after: nil) }
        first?.go()
    }
}
