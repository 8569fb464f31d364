import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// The result of asking for a password.
package enum Verdict: Hashable {
    case granted
    case refused
    /// A password would help, but nothing could ask for it: the call forbids that, or no password agent runs.
    case wantsInteraction
    /// There is no authority that could ask for a password.
    case absent
    /// The person was not asked or did not answer. The text says why and what to do.
    case unanswered(PasswordProblem, String)
}

/// One request for a password on behalf of one call. It lives on the event loop.
package final class WantedPassword {
    fileprivate let action: AuthorityAction
    let session: CallerSession
    /// The caller named in the audit records: the app that the request concerns, or the session's caller.
    fileprivate let concerned: Caller
    fileprivate let call: Call
    fileprivate var done: ((Verdict) -> Void)?
    /// Runs when the request ends, with any result, before `done`.
    var onEnd: ((Verdict) -> Void)?
    fileprivate var asked: (any AskedAuthority)?
    fileprivate var timer: (any Scheduled)?
    /// Whether the audit record of the request was appended.
    fileprivate var isOnRecord = false
    fileprivate unowned let passwords: Passwords

    fileprivate init(
        _ action: AuthorityAction, _ session: CallerSession, concerned: Caller, _ call: Call, _ passwords: Passwords,
        done: @escaping (Verdict) -> Void
    ) {
        self.action = action
        self.session = session
        self.concerned = concerned
        self.call = call
        self.passwords = passwords
        self.done = done
    }

    fileprivate var isOver: Bool { done == nil }

    /// Records the result in the audit.
    fileprivate func record(_ word: String) {
        passwords.groupCommit.record(.authentication, of: concerned, detail: action.word + " " + word)
    }

    fileprivate func end(_ verdict: Verdict) {
        guard let done else { return }
        drop(verdict)
        done(verdict)
    }

    /// Ends a request that is no longer needed. `done` gets ``Verdict/unanswered(_:_:)``. ``Verdict/refused``
    /// would tell an agent that the password was wrong and that the terminal is free again.
    func withdraw(because reason: String = "the request that needed the password has changed; answer again") {
        guard !isOver else { return }
        cancelQuestion()
        end(.unanswered(.changed, reason))
    }

    /// Ends the request without running `done`, because the caller has disconnected.
    fileprivate func abandon() {
        guard !isOver else { return }
        cancelQuestion()
        drop(.refused)
    }

    private func cancelQuestion() {
        asked?.cancel()
        if isOnRecord { record("withdrawn") }
    }

    private func drop(_ verdict: Verdict) {
        let onEnd = self.onEnd
        self.onEnd = nil
        done = nil
        asked = nil
        timer?.cancel()
        timer = nil
        call.onAbandoned = nil
        passwords.remove(self)
        onEnd?(verdict)
    }
}

/// The only type that requests passwords. It lives on the event loop.
package final class Passwords {
    private let surroundings: Surroundings
    fileprivate let groupCommit: GroupCommit
    private let checks: ExecutableChecks
    /// The open requests.
    private(set) var wanted: [WantedPassword] = []

    package init(surroundings: Surroundings, groupCommit: GroupCommit, checks: ExecutableChecks) {
        self.surroundings = surroundings
        self.groupCommit = groupCommit
        self.checks = checks
    }

    /// Makes room for the request of an agent that starts. If the user has too many open requests, this
    /// method ends the oldest one of another starting agent. Otherwise idle agents could keep the
    /// person's own agent from starting.
    private func makeRoom(for password: WantedPassword) {
        let ofUser = wanted(by: password.session.caller.uid)
        guard password.action == .answer, ofUser.count >= surroundings.limits.passwordsPerUser else { return }
        ofUser.first { $0.action == .answer }?.withdraw(
            because: "another agent of yours has asked for your password since; close the agents that you do not use")
    }

    /// - Returns: `false` if too many requests are open.
    private func add(_ password: WantedPassword) -> Bool {
        let ofUser = wanted(by: password.session.caller.uid)
        let isAtAdminSocket = { (wanted: WantedPassword) in wanted.session.interface == .admin }
        guard wanted.count < surroundings.limits.passwords, ofUser.count < surroundings.limits.passwordsPerUser,
            !isAtAdminSocket(password)
                || ofUser.count(where: isAtAdminSocket) < surroundings.limits.passwordsAtAdminSocket
        else { return false }
        wanted.append(password)
        return true
    }

    /// The user's open requests, oldest first.
    private func wanted(by uid: UInt32) -> [WantedPassword] { wanted.filter { $0.session.caller.uid == uid } }

    fileprivate func remove(_ password: WantedPassword) { wanted.removeAll { $0 === password } }

    /// Asks the authority for a password, and passes the result to `done`. Anything may have changed in the
    /// meantime, so `done` must decide again.
    ///
    /// The broker commits an audit record of the request before it asks, and records the result afterwards.
    /// If it cannot commit the first record, it does not ask.
    ///
    /// - Parameters:
    ///   - session: the session that needs the authorization. Its caller's executable is checked before the
    ///     request, and again after the password was given.
    ///   - concerned: the caller to name in the audit records; `nil` for the session's caller.
    ///   - app: the app to name in the password dialog, which shows it behind the access, in quotation marks.
    ///   - done: runs once, unless the caller disconnects first.
    /// - Returns: the open request; `nil` if it has already ended.
    @discardableResult
    package func want(
        _ action: AuthorityAction, of session: CallerSession, concerning concerned: Caller? = nil, app: String? = nil,
        access: String? = nil, mayInteract: Bool, for call: Call, done: @escaping (Verdict) -> Void
    ) -> WantedPassword? {
        guard let authority = surroundings.authority else {
            done(.refused)
            return nil
        }
        let wanted = WantedPassword(
            action, session, concerned: concerned ?? session.caller, call, self, done: done)
        makeRoom(for: wanted)
        guard add(wanted) else {
            wanted.record("not asked: too many")
            wanted.end(.unanswered(.tooManyRequests, "too many password requests are open; answer them first"))
            return nil
        }
        call.onAbandoned = { [weak wanted] in wanted?.abandon() }
        let caller = session.caller
        let question = AuthorityQuestion(
            action: action, process: caller.process, uid: caller.uid,
            app: app.map { Lookalike.spelled($0, maximum: surroundings.limits.appNameInQuestion) }, access: access,
            mayInteract: mayInteract)
        checks.check(session) { [weak self, weak wanted] found in
            guard let self, let wanted, !wanted.isOver else { return }
            guard found == .same else { return wanted.end(Self.verdict(on: found)) }
            ask(authority, question, for: wanted)
        }
        return wanted.isOver ? nil : wanted
    }

    /// The verdict that follows from the executable check. ``Verdict/granted`` means only that the executable
    /// is unchanged.
    private static func verdict(on found: ExecutableCheck) -> Verdict {
        switch found {
        case .same: .granted
        case .changed: .refused
        case .unknown:
            .unanswered(
                .programUnknown,
                "the broker cannot tell whether this program is still the one that connected; try again")
        }
    }

    private func ask(_ authority: any Authority, _ question: AuthorityQuestion, for wanted: WantedPassword) {
        wanted.isOnRecord = true
        groupCommit.record(.authentication, of: wanted.concerned, detail: question.action.word + " asked")
        groupCommit.work(
            committed: { [weak self, weak wanted] in
                guard let self, let wanted, !wanted.isOver else { return }
                startTimer(wanted)
                wanted.asked = authority.ask(question) { [weak self, weak wanted] answer in
                    guard let self, let wanted, !wanted.isOver else { return }
                    answered(wanted, answer)
                }
            },
            failed: { [weak wanted] in
                wanted?.end(.unanswered(.notRecorded, "the password request could not be recorded"))
            })
    }

    private func startTimer(_ wanted: WantedPassword) {
        wanted.timer = surroundings.loop.later(after: surroundings.limits.passwordTimeout) {
            guard !wanted.isOver else { return }
            wanted.asked?.cancel()
            wanted.record("not answered in time")
            wanted.end(.unanswered(.timedOut, "the password was not given in time"))
        }
    }

    private func answered(_ wanted: WantedPassword, _ answer: AuthorityAnswer) {
        let verdict: Verdict
        let word: String
        switch answer {
        case .granted: (verdict, word) = (.granted, "granted")
        case .refused: (verdict, word) = (.refused, "refused")
        case .wantsInteraction: (verdict, word) = (.wantsInteraction, "wants the person")
        case .absent: (verdict, word) = (.absent, "cannot be asked: no polkit")
        case .failed(let reason):
            // The person may be unable to read the broker's journal, so the text contains the reason.
            verdict = .unanswered(
                .authorityFailed,
                "polkit could not ask for your password (\(reason)); an administrator can check: systemctl status polkit "
                    + "dbus systemd-logind")
            word = "failed"
            surroundings.log("cannot ask for the password for \(wanted.action.rawValue): \(reason)")
        case .hung:
            let advice = "polkit does not answer; an administrator can restart it: systemctl restart polkit.service"
            (verdict, word) = (.unanswered(.authorityHangs, advice), "failed: polkit hangs")
            surroundings.log("cannot ask for the password for \(wanted.action.rawValue): \(advice)")
        }
        wanted.record(word)
        guard verdict == .granted else { return wanted.end(verdict) }
        // The password was given in time, so the timeout does not apply to the check below.
        wanted.timer?.cancel()
        wanted.asked = nil
        // The password was given for the program that asked, not for one that replaced it.
        checks.check(wanted.session) { [weak wanted] found in wanted?.end(Self.verdict(on: found)) }
    }
}
