import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerVarlink

/// One call of `WatchChanges`, which lasts until the caller disconnects or loses access. It lives on the
/// event loop.
///
/// The call never prompts the person. While the app's access is not decided, the broker sends no reply.
final class WatchChanges {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    /// The place in the change history that the last reply named.
    private var reported: HistoryPlace?
    /// Whether the next reply must wait, because the app has not taken the last one or
    /// ``Limits/watchInterval`` has not passed.
    private var isPausing = false
    /// Whether a change may have happened during the pause.
    private var hasMissed = false

    init(call: Call, session: CallerSession, app: AppServices) {
        self.call = call
        self.session = session
        self.app = app
    }

    func begin() {
        app.history.begin(self)
        call.onAbandoned = { [weak self] in
            guard let self else { return }
            app.history.end(self)
        }
        check()
    }

    private func end(_ error: VarlinkError) {
        app.history.end(self)
        app.groupCommit.fail(error, call)
    }

    /// Sends the first reply, or a further one if something visible has changed.
    func check() {
        guard !call.isOver else { return app.history.end(self) }
        if app.grants.waitsForGrant(session, { [weak self] in self?.check() }) { return }
        let known = app.grants.effectiveAccess(of: session)
        switch decideWatch(known.effective) {
        case .permit(let disclosure): permitted(disclosure, known)
        case .refuse(let denial):
            app.history.end(self)
            app.questions.refuse(call, session, denial, known.effective.status)
        case .wait:
            // The app had access when the last reply was sent, so its grant has ended.
            if reported != nil { end(ContactsError.accessDenied) }
        }
    }

    private func permitted(_ disclosure: Disclosure, _ known: CallerAccess) {
        guard !isPausing else {
            hasMissed = true
            return
        }
        app.open(
            disclosure, known, call, session, again: { self.check() }, failed: { self.app.history.end(self) }
        ) { (context) throws(ReadContext.Failure) in
            try context.orFail { (context) throws(StoreError) in try report(context) }
        }
    }

    private func report(_ context: ReadContext) throws(StoreError) {
        let place = try app.places.place(context)
        guard place != reported else { return }
        guard let token = try app.places.token(context) else { return end(ContactsError.storeUnavailable) }
        reported = place
        isPausing = true
        var writer = DisclosedWriter()
        writer.member("historyToken", token)
        app.groupCommit.disclose(
            writer.reply(under: context.basis, recording: [.count(0)], detail: String(call.name)), to: call, session,
            continues: true, then: { [weak self] in self?.pause() })
    }

    /// Delays the next reply until the interval has passed and the app has taken this reply. A burst of
    /// changes then causes only one further reply.
    private func pause() {
        app.surroundings.loop.later(after: app.limits.watchInterval) { [self] in
            call.whenWritable { [weak self] in self?.goOn() }
        }
    }

    private func goOn() {
        isPausing = false
        guard hasMissed else { return }
        hasMissed = false
        check()
    }
}
