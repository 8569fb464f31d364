import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerVarlink

/// One `WatchChanges`, for as long as its caller stays connected. It lives on the event loop.
///
/// It never prompts: while nothing is decided it sends nothing.
final class WatchChanges {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    /// The place in the change history that the last reply named.
    private var told: HistoryPlace?
    /// The reader has not taken the last reply, or ``Limits/watchInterval`` is not over.
    private var isPausing = false
    /// A change may have happened during the pause.
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
        look()
    }

    private func end(_ error: VarlinkError) {
        app.history.end(self)
        app.turn.fail(error, call)
    }

    /// Sends a reply if something visible has changed.
    func look() {
        guard !call.isOver else { return app.history.end(self) }
        if app.grants.waitsForGrant(session, { [weak self] in self?.look() }) { return }
        let known = app.grants.standing(of: session)
        switch decideWatch(known.standing) {
        case .permit(let disclosure): permitted(disclosure, known)
        case .refuse(let denial):
            app.history.end(self)
            app.questions.refuse(call, session, denial, known.standing.status)
        case .wait:
            // A grant that was permitted before and is no longer was revoked.
            if told != nil { end(ContactsError.accessDenied) }
        }
    }

    private func permitted(_ disclosure: Disclosure, _ known: PrincipalStanding) {
        guard !isPausing else {
            hasMissed = true
            return
        }
        app.open(
            disclosure, known, call, session, again: { self.look() }, failed: { self.app.history.end(self) }
        ) { (reading) throws(Reading.Failure) in
            try reading.orFail { (reading) throws(StoreError) in try tell(reading) }
        }
    }

    private func tell(_ reading: Reading) throws(StoreError) {
        let place = try app.places.place(reading)
        guard place != told else { return }
        guard let token = try app.places.token(reading) else { return end(ContactsError.storeUnavailable) }
        told = place
        isPausing = true
        var writer = DisclosedWriter()
        writer.member("historyToken", token)
        app.turn.disclose(
            writer.reply(under: reading.basis, telling: [.count(0)], detail: String(call.name)), to: call, session,
            continues: true, then: { [weak self] in self?.pause() })
    }

    /// Sends one reply per burst of changes: the next one waits until the reader has taken this one and the interval
    /// is over.
    private func pause() {
        app.surroundings.loop.later(after: app.limits.watchInterval) { [self] in
            call.whenWritable { [weak self] in self?.goOn() }
        }
    }

    private func goOn() {
        isPausing = false
        guard hasMissed else { return }
        hasMissed = false
        look()
    }
}
