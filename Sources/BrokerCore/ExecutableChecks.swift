import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// A look at a caller's executable, and the calls that wait for it. It lives on the loop.
final class RunningCheck {
    fileprivate var waiting: [(ExecutableCheck) -> Void]
    /// Looks that are left where they find out nothing.
    fileprivate var looksLeft: Int
    /// Stops the look that is under way.
    fileprivate(set) var giveUp: (() -> Void)?

    fileprivate init(_ first: @escaping (ExecutableCheck) -> Void, looks: Int) {
        waiting = [first]
        looksLeft = looks
    }
}

/// Looks at executables again: before a prompt, before and after a password, and when a grant is first used on a connection.
///
/// The loop waits for no look: a call that needs one goes on when the look is done, and is decided again then.
struct ExecutableChecks {
    let surroundings: Surroundings
    let turn: Turn

    /// Looks at the caller's executable, and goes on with what was found: at once where nothing has to be waited for. Calls of one
    /// session share a look.
    ///
    /// Where it has changed, that is on record then and the connection is closed: the caller may connect again and be judged anew.
    /// Where nobody can tell, also after several looks, the connection stays, and whatever was asked for must be refused.
    func check(_ session: CallerSession, _ done: @escaping (ExecutableCheck) -> Void) {
        if let running = session.check {
            running.waiting.append(done)
            return
        }
        let check = RunningCheck(done, looks: max(1, surroundings.limits.looksPerCheck))
        session.check = check
        look(for: check, session)
    }

    private func look(for check: RunningCheck, _ session: CallerSession) {
        // A connection that has closed meanwhile has no check any more.
        guard session.check === check else { return }
        check.looksLeft -= 1
        var isDone = false
        let giveUp = session.look { [weak session] found in
            isDone = true
            check.giveUp = nil
            guard let session, session.check === check else { return }
            looked(found, check, session)
        }
        if !isDone { check.giveUp = giveUp }
    }

    private func looked(_ found: ExecutableCheck, _ check: RunningCheck, _ session: CallerSession) {
        if found == .unknown, check.looksLeft > 0 {
            surroundings.loop.later(after: surroundings.limits.lookInterval) { look(for: check, session) }
            return
        }
        session.check = nil
        switch found {
        case .same: break
        case .changed:
            turn.record(.refusal, of: session.caller, detail: "executable changed")
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

    /// Looks at the executable once more when the connection first uses the caller's grant.
    ///
    /// - Parameter again: decides the call anew, once the look is done. It may have failed by then.
    func beforeGrantIsUsed(_ session: CallerSession, _ call: Call, again: @escaping () -> Void) {
        check(session) { found in
            if found == .same { session.hasUsedGrant = true } else { call.fail(Self.error(for: found)) }
            again()
        }
    }

    /// Whether the person may be prompted for a call, as far as its caller's executable tells.
    ///
    /// - Parameter again: decides everything about the call again, once the look is done.
    /// - Returns: `false` where the call has failed, or goes on with `again`.
    func mayBePromptedFor(_ call: Call, _ session: CallerSession, again: @escaping () -> Void) -> Bool {
        if session.checkedCall === call { return true }
        whenStillItself(session, call) {
            // For this turn alone: what is put off again is looked at again.
            session.checkedCall = call
            again()
            session.checkedCall = nil
        }
        return false
    }

    /// Goes on once the caller is known to be who it was; otherwise the call fails. What was decided before may not hold any more then.
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
