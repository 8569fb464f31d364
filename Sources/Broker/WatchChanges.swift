import AccessControl
import ContactsInterface
import ContactsStore
import JSON
import Varlink

/// One `WatchChanges`, for as long as its caller stays. It lives on the loop.
///
/// It never asks the person: until something is decided it waits in silence.
final class WatchChanges {
    private let call: Call
    private let session: CallerSession
    private let broker: Broker
    /// What the caller was told last.
    private var told: HistoryPlace?
    /// The reader has not taken what it was sent, or the interval is not over.
    private var isPausing = false
    /// Something may have happened meanwhile.
    private var hasMissed = false

    init(call: Call, session: CallerSession, broker: Broker) {
        self.call = call
        self.session = session
        self.broker = broker
    }

    func begin() {
        broker.history.begin(self)
        call.onAbandoned = { [weak self] in
            guard let self else { return }
            broker.history.end(self)
        }
        look()
    }

    private func end(_ error: VarlinkError) {
        broker.history.end(self)
        broker.turn.fail(error, call)
    }

    /// Tells the caller, if there is something that it can see.
    func look() {
        guard !call.isOver else { return broker.history.end(self) }
        if broker.waitsForGrant(session, { [weak self] in self?.look() }) { return }
        let known = broker.standing(of: session)
        switch decideWatch(known.standing) {
        case .permit(let disclosure): permitted(disclosure, known)
        case .refuse(let denial):
            broker.history.end(self)
            broker.refuse(call, session, denial, known.standing.status)
        case .wait:
            // What was permitted and is not any more was taken back.
            if told != nil { end(ContactsError.accessDenied) }
        }
    }

    private func permitted(_ disclosure: Disclosure, _ known: PrincipalStanding) {
        guard let principal = known.principal, let identifiers = known.identifiers else {
            return end(ContactsError.storeUnavailable)
        }
        guard !isPausing else {
            hasMissed = true
            return
        }
        guard session.hasUsedGrant || broker.mayUseGrant(session, call, again: { self.look() }) else {
            if call.isOver { broker.history.end(self) }
            return
        }
        var isThisTurn = true
        defer { isThisTurn = false }
        broker.books.with(session.caller.uid) { [self] result in
            guard isThisTurn else { return look() }
            do throws(StoreError) {
                let reading = Reading(
                    disclosure: disclosure, principal: principal, identifiers: identifiers, book: try result.get())
                try tell(reading)
            } catch {
                broker.history.end(self)
                broker.unavailable(call, error)
            }
        }
    }

    private func tell(_ reading: Reading) throws(StoreError) {
        let place = try broker.historyPlace(reading)
        guard place != told else { return }
        guard let token = try broker.historyToken(reading) else { return end(ContactsError.storeUnavailable) }
        told = place
        isPausing = true
        var writer = DisclosedWriter()
        writer.member("historyToken", token)
        broker.turn.disclose(
            writer.reply(under: reading.basis, telling: [.count(0)], detail: String(call.name)), to: call, session,
            continues: true, then: { [weak self] in self?.pause() })
    }

    /// One reply for each burst: the next one when the reader has taken this one and a while has passed.
    private func pause() {
        let bound = LoopBound(self, loop: broker.surroundings.loop)
        broker.surroundings.loop.schedule(after: broker.limits.watchInterval) {
            let watch = bound.value
            watch.call.whenWritable { [weak watch] in watch?.goOn() }
        }
    }

    private func goOn() {
        isPausing = false
        guard hasMissed else { return }
        hasMissed = false
        look()
    }
}

extension Broker {
    func watchChanges(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(firstName(call.parameters)) }
        guard call.more else { throw .expectedMore }
        WatchChanges(call: call, session: session, broker: self).begin()
    }
}
