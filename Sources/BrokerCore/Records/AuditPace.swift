import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerVarlink

/// Keeps an app that fills the audit to its share: its calls wait, in order, and nobody else's do. It lives on the loop.
final class AuditPace {
    private struct App: Hashable {
        let uid: UInt32
        let strength: IdentityStrength
        let app: String
    }

    private struct Held {
        let call: Call
        let go: () -> Void
    }

    private let surroundings: Surroundings
    private let limits: Limits
    private let access: AccessStore
    private var held: [App: [Held]] = [:]
    /// A held call is being let go, and must not be held again.
    private var isLettingGo = false

    init(surroundings: Surroundings, limits: Limits, access: AccessStore) {
        self.surroundings = surroundings
        self.limits = limits
        self.access = access
    }

    /// Somebody's call may have to wait.
    var mayHold: Bool { !held.isEmpty || access.hasExhaustedApps }

    /// Whether a call must wait because its app has used up its share. `go` runs when its turn has come; where too many wait
    /// already the call has failed.
    func holds(_ call: Call, _ session: CallerSession, _ go: @escaping () -> Void) -> Bool {
        guard !isLettingGo, !call.isOver else { return false }
        let caller = session.caller
        let wait = access.auditWait(
            uid: caller.uid, strength: caller.strength, app: caller.app, now: surroundings.now())
        guard wait != nil || !held.isEmpty else { return false }
        let app = App(uid: caller.uid, strength: caller.strength, app: caller.app)
        var queue = held[app] ?? []
        guard wait != nil || !queue.isEmpty else { return false }
        if queue.count >= limits.callsHeld { queue.removeAll { $0.call.isOver } }
        guard queue.count < limits.callsHeld else {
            call.fail(ContactsError.limitExceeded("auditRecordsPerHour", maximum: limits.audit.recordsPerHour))
            return true
        }
        if queue.isEmpty { schedule(app, after: wait) }
        queue.append(Held(call: call, go: go))
        held[app] = queue
        return true
    }

    private func schedule(_ app: App, after wait: Duration?) {
        let bound = LoopBound((self, app), loop: surroundings.loop)
        surroundings.loop.schedule(after: wait ?? .zero) {
            let (pace, app) = bound.value
            pace.letGo(app)
        }
    }

    /// Lets one call go: what it writes decides when the next may.
    private func letGo(_ app: App) {
        if let wait = access.auditWait(uid: app.uid, strength: app.strength, app: app.app, now: surroundings.now()) {
            return schedule(app, after: wait)
        }
        var queue = held[app] ?? []
        queue.removeAll { $0.call.isOver }
        let first = queue.isEmpty ? nil : queue.removeFirst()
        held[app] = queue.isEmpty ? nil : queue
        if !queue.isEmpty { schedule(app, after: nil) }
        guard let first else { return }
        isLettingGo = true
        defer { isLettingGo = false }
        first.go()
    }
}
