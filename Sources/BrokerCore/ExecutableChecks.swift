import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// A running check of a caller's executable, and the calls that wait for it. It lives on the event loop.
final class RunningCheck {
    fileprivate var waiting: [(ExecutableCheck) -> Void]
    /// Inspections left if the result is unknown.
    fileprivate var inspectionsLeft: Int
    /// Cancels the running inspection.
    fileprivate(set) var giveUp: (() -> Void)?

    fileprivate init(_ first: @escaping (ExecutableCheck) -> Void, inspections: Int) {
        waiting = [first]
        inspectionsLeft = inspections
    }
}

/// Checks executables again: before a prompt, before and after a password, and when a grant is first used on a
/// connection.
///
/// A check does not block the event loop: a call that needs one continues after it, and is decided again then.
struct ExecutableChecks {
    let surroundings: Surroundings
    let groupCommit: GroupCommit

    /// Checks the caller's executable, and passes on the result: at once if no inspection needs to wait. Calls of one
    /// session share a check.
    ///
    /// If the executable has changed, that is recorded and the connection is closed; the caller may reconnect and is
    /// then judged again. If the result is unknown after several inspections, the connection stays, and `done` must
    /// refuse the request.
    func check(_ session: CallerSession, _ done: @escaping (ExecutableCheck) -> Void) {
        if let running = session.check {
            running.waiting.append(done)
            return
        }
        let check = RunningCheck(done, inspections: max(1, surroundings.limits.inspectionsPerCheck))
        session.check = check
        inspect(for: check, session)
    }

    private func inspect(for check: RunningCheck, _ session: CallerSession) {
        // A connection that was closed meanwhile has no check any more.
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

    /// Checks the executable when the connection first uses the caller's grant.
    ///
    /// - Parameter again: decides the call again after the check. The call may have failed by then.
    func beforeGrantIsUsed(_ session: CallerSession, _ call: Call, again: @escaping () -> Void) {
        check(session) { found in
            if found == .same { session.hasUsedGrant = true } else { call.fail(Self.error(for: found)) }
            again()
        }
    }

    /// Whether the person may be prompted for a call, as far as its caller's executable is concerned.
    ///
    /// - Parameter again: decides the whole call again after the check.
    /// - Returns: `false` if the call has failed, or continues with `again`.
    func mayBePromptedFor(_ call: Call, _ session: CallerSession, again: @escaping () -> Void) -> Bool {
        if session.checkedCall === call { return true }
        whenStillItself(session, call) {
            // Only during this call of `again`: a later attempt is checked again.
            session.checkedCall = call
            again()
            session.checkedCall = nil
        }
        return false
    }

    /// Continues if the caller's executable is unchanged; otherwise the call fails. Earlier decisions may be outdated
    /// by then.
    func whenStillItself(_ session: CallerSession, _ call: Call, _ goOn: @escaping () -> Void) {
        check(session) { found in
            guard found == .same else { return call.fail(Self.error(for: found)) }
            if !call.isOver { goOn() }
        }
    }

    private static func error(for found: ExecutableCheck) -> VarlinkError {
        found == .unknown ? ContactsError.storeUnavailable : ContactsError.accessDenied
    }
}
