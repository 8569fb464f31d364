import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerVarlink

/// One `WatchChanges`, for as long as its caller stays. It lives on the loop.
///
/// It never asks the person: until something is decided it waits in silence.
final class WatchChanges {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    /// What the caller was told last.
    private var told: HistoryPlace?
    /// The reader has not taken what it was sent, or the interval is not over.
    private var isPausing = false
    /// Something may have happened meanwhile.
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

    /// Tells the caller, if there is something that it can see.
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
            // What was permitted and is not any more was taken back.
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

    /// One reply for each burst: the next one when the reader has taken this one and a while has passed.
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
