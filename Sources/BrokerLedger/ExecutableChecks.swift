import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerVarlink

/// A running check of a caller's executable, and the calls that wait for it. It lives on the event loop.
package final class RunningCheck {
    fileprivate var waiting: [(ExecutableCheck) -> Void]
    /// The number of inspections that may still follow if the result is unknown.
    fileprivate var inspectionsLeft: Int
    /// Cancels the running inspection.
    package fileprivate(set) var giveUp: (() -> Void)?

    fileprivate init(_ first: @escaping (ExecutableCheck) -> Void, inspections: Int) {
        waiting = [first]
        inspectionsLeft = inspections
    }
}

/// Checks that callers still run the executable by which the broker judged them. The broker checks this
/// before a prompt, before and after a password request, before it hands over a pick, and when a connection
/// first uses a grant.
///
/// A check does not block the event loop. The call waits for the result, and the broker must then decide the
/// call again.
package struct ExecutableChecks {
    let surroundings: Surroundings
    let groupCommit: GroupCommit

    package init(surroundings: Surroundings, groupCommit: GroupCommit) {
        self.surroundings = surroundings
        self.groupCommit = groupCommit
    }

    /// Checks the caller's executable, and passes the result to `done`: at once if possible, otherwise later.
    /// Calls of one session share a running check.
    ///
    /// If the executable has changed, the broker records a refusal and closes the connection. The caller may
    /// reconnect and is then judged again. If the result is still unknown after several inspections, the
    /// connection stays open, and `done` must refuse the request.
    package func check(_ session: CallerSession, _ done: @escaping (ExecutableCheck) -> Void) {
        if let running = session.check {
            running.waiting.append(done)
            return
        }
        let check = RunningCheck(done, inspections: max(1, surroundings.limits.inspectionsPerCheck))
        session.check = check
        inspect(for: check, session)
    }

    private func inspect(for check: RunningCheck, _ session: CallerSession) {
        // Closing the connection removes its check.
        guard session.check === check else { return }
        check.inspectionsLeft -= 1
        var isDone = false
        let giveUp = session.inspect { [weak session] found in
            isDone = true
            check.giveUp = nil
            guard let session, session.check === check else { return }
            inspected(found, check, session)
        }
        if !isDone { check.giveUp = giveUp }
    }

    private func inspected(_ found: ExecutableCheck, _ check: RunningCheck, _ session: CallerSession) {
        if found == .unknown, check.inspectionsLeft > 0 {
            surroundings.loop.later(after: surroundings.limits.inspectionInterval) { inspect(for: check, session) }
            return
        }
        session.check = nil
        switch found {
        case .same: break
        case .changed:
            groupCommit.record(.refusal, of: session.caller, detail: "executable changed")
            session.connection?.close()
        case .unknown:
            let advice = surroundings.mode == .system ? "; see systemctl status contactbroker-identify.service" : ""
            surroundings.log(
                """
                a call of user \(session.caller.uid) is refused as unavailable: cannot tell whether its process still runs the program \
                that connected\(advice)
                """)
        }
        for done in check.waiting { done(found) }
    }

    /// Checks the executable before the connection uses a grant for the first time.
    ///
    /// - Parameter done: runs after the check, and must decide the call again. The call may have failed by then.
    package func beforeGrantIsUsed(_ session: CallerSession, _ call: Call, _ done: @escaping () -> Void) {
        check(session) { found in
            if found == .same { session.hasUsedGrant = true } else { call.fail(Self.error(for: found)) }
            done()
        }
    }

    /// Whether the person may be prompted for this call, because the caller's executable was just checked. If
    /// it was not, this method starts the check.
    ///
    /// - Parameter checked: decides the whole call again after the check.
    /// - Returns: `false` if this method started the check. If the executable is unchanged and the call is
    ///   still open, `checked` runs. If the executable has changed or the result is unknown, the call fails.
    package func mayBePromptedFor(_ call: Call, _ session: CallerSession, _ checked: @escaping () -> Void) -> Bool {
        if session.checkedCall === call { return true }
        whenStillItself(session, call) {
            // Set only while `checked` runs, so that a later attempt is checked again.
            session.checkedCall = call
            checked()
            session.checkedCall = nil
        }
        return false
    }

    /// Checks the caller's executable. If it is unchanged and the call is still open, `goOn` runs; earlier
    /// decisions may be outdated by then. If it has changed or the result is unknown, the call fails.
    package func whenStillItself(_ session: CallerSession, _ call: Call, _ goOn: @escaping () -> Void) {
        check(session) { found in
            guard found == .same else { return call.fail(Self.error(for: found)) }
            if !call.isOver { goOn() }
        }
    }

    private static func error(for found: ExecutableCheck) -> VarlinkError {
        found == .unknown ? ContactsError.storeUnavailable : ContactsError.accessDenied
    }
}
