import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import ContactsStore
import Dispatch
import JSON
import Policy
import Varlink

/// One `SaveContacts`: all of its steps, or none. It lives on the loop; the book is written on the user's queue.
///
/// The disk is waited for once: the contacts go onto it together with what the access store must learn of them, in the
/// book's outbox. Then the access store takes that over in memory, and the reply is sent. After it that goes into the
/// access store's log: at once, or while the save is at the disk that the same app sends right behind, but before
/// anything is told that rests on it. A crash in between, or one that takes the log's end along, leaves the entry in the
/// outbox, and whoever opens the book takes it over.
final class Save {
    private let call: Call
    private let session: CallerSession
    private let broker: Broker
    private let parameters: SaveContactsParameters
    /// As far as it has been read.
    private var reader: SaveSteps?
    private var hasAsked = false
    /// The grant that was made for this save.
    private var given: GivenSet?

    init(call: Call, session: CallerSession, broker: Broker, _ parameters: SaveContactsParameters) {
        self.call = call
        self.session = session
        self.broker = broker
        self.parameters = parameters
    }

    func begin() {
        guard !call.isOver else { return }
        broker.recordUndelivered()
        if broker.waitsForGrant(session, { self.begin() }) { return }
        let known = broker.standing(of: session)
        switch decideAccess(known.standing, mayAsk: !hasAsked && known.mayPrompt) {
        case .permit(let disclosure): permitted(disclosure, known)
        case .refuse(let denial): broker.refuse(call, session, denial, known.standing.status)
        case .ask:
            hasAsked = true
            broker.ask(Broker.Question(kind: .access), call, session) { _ in self.begin() }
        }
    }

    private func permitted(_ disclosure: Disclosure, _ known: PrincipalStanding) {
        guard let principal = known.principal, let identifiers = known.identifiers else {
            return call.fail(ContactsError.storeUnavailable)
        }
        guard session.hasUsedGrant || broker.mayUseGrant(session, call, again: { self.begin() }) else { return }
        let adds = parameters.changes.contains { $0.operation == .add }
        var isThisTurn = true
        defer { isThisTurn = false }
        broker.books.with(session.caller.uid, creating: adds) { [self] result in
            do throws(Reading.Failure) {
                let book: ContactsStore?
                switch result {
                case .success(let opened): book = opened
                case .failure(let error): throw .store(error)
                }
                guard isThisTurn else { return begin() }
                let reading = Reading(
                    disclosure: disclosure, principal: principal, identifiers: identifiers, book: book,
                    writableKeys: broker.ruling(of: session).maximumKeys)
                guard let (steps, own) = try read(reading) else { return }
                guard let book, !steps.isEmpty else { return try nothingToDo(reading, steps.count) }
                try write(steps, own, to: book, reading)
            } catch {
                switch error {
                case .call(let error): broker.turn.fail(error, call)
                case .store(let error): broker.unavailable(call, error)
                }
            }
        }
    }

    /// - Returns: the steps; `nil` where there is more to read, which is then read in another turn.
    private func read(_ reading: Reading) throws(Reading.Failure) -> ([SaveStep], OwnRecords)? {
        var reader =
            self.reader ?? SaveSteps(parameters.changes, reading, mostCards: broker.limits.cardsPerSave)
        // Here alone, so that what has been read is not copied.
        self.reader = nil
        if let steps = try reader.readMore(reading, until: .now + broker.limits.timePerSave) {
            return (steps, reader.own)
        }
        self.reader = reader
        // Other callers first: one long save must not make them wait.
        let bound = LoopBound(self, loop: broker.surroundings.loop)
        broker.surroundings.loop.execute { bound.value.begin() }
        return nil
    }

    private func nothingToDo(_ reading: Reading, _ count: Int) throws(Reading.Failure) {
        do throws(StoreError) {
            reply(Array(repeating: "", count: count), try broker.historyToken(reading) ?? "")
        } catch {
            throw .store(error)
        }
    }

    /// When the app is told that it is saved.
    private enum Telling {
        /// Now: whatever happens, the book's outbox has the record on the disk.
        case atOnce
        /// Once the record is committed.
        case committed
        /// Once the access store's disk has it, too.
        case onDisk
    }

    private func reply(_ names: [String], _ token: String, _ telling: Telling = .committed) {
        var writer = JSONWriter(reservingCapacity: 192 + names.count * 36)
        writer.object {
            $0.member("identifiers", names)
            $0.member("historyToken", token)
        }
        let bytes = writer.bytes
        if telling == .atOnce {
            call.reply(bytes)
            return broker.turn.work(committed: {}, failed: { [broker] in broker.isNotRecorded() })
        }
        broker.turn.work(
            committed: { [broker, call] in
                if telling == .onDisk { broker.onDisk { _ in call.reply(bytes) } } else { call.reply(bytes) }
            },
            failed: { [broker, call] in
                broker.isNotRecorded()
                call.reply(bytes)
            })
    }

    // MARK: Writing

    private func write(
        _ steps: [SaveStep], _ own: OwnRecords, to book: ContactsStore, _ reading: Reading
    ) throws(Reading.Failure) {
        let uid = session.caller.uid
        guard broker.beginWaitingToSave(uid) else { throw .call(ContactsError.storeUnavailable) }
        let changes = SaveChanges(steps, own, reading) { [broker] in
            broker.access.takeRecordNumbers($0, now: broker.surroundings.now())
        }
        // While the other save is on its way to the book.
        let ready = broker.isNextToSave(uid) ? book.makeReady(changes.changes, at: broker.seconds) : nil
        broker.whenItsTurnToSave(uid) { [self] in
            if !changes.addedContacts.isEmpty { given = broker.giveSetOfItsOwn(to: reading.principal, session) }
            broker.whenDecisionsAreOnDisk(
                { [self] in apply(changes, ready, to: book, reading) },
                failed: { [self] in
                    broker.takeBackSetOfItsOwn(given)
                    broker.endedSaving(uid)
                    call.fail(ContactsError.storeUnavailable)
                })
        }
    }

    /// On the user's queue: the contacts onto the disk.
    private func apply(
        _ changes: SaveChanges, _ ready: ReadyContacts?, to book: ContactsStore, _ reading: Reading
    ) {
        let identifiers = reading.identifiers
        // Others saved meanwhile, and what allowed this one may have been taken back.
        guard let reading = mayStill(changes, book, identifiers) else {
            return applied(changes, .accessDenied, book, identifiers)
        }
        let begun: BegunSave
        do throws(AccessStoreError) {
            begun = try broker.access.beginSave(
                changes.contents(isKeptToSingle: reading.disclosure.scope != .all), by: reading.principal,
                now: broker.surroundings.now())
        } catch {
            let failure = StoreError.unavailable(reason: "\(error)")
            return applied(changes, .failed(.store(failure)), book, identifiers)
        }
        let entry = OutgoingEntry(begun)
        let isEvidence = reading.mayLink
        let seconds = broker.seconds
        let author = ChangeAuthor(app: identifiers.mark, name: parameters.author ?? "")
        let loop = broker.surroundings.loop
        let bound = LoopBound((self, book, identifiers), loop: loop)
        broker.books.queue(of: session.caller.uid).async {
            let outcome: Outcome
            do throws(ChangeError) {
                outcome = .done(
                    try book.apply(
                        changes.changes, by: author, at: seconds, isEvidence: isEvidence, telling: entry, ready: ready),
                    begun)
            } catch {
                outcome = .failed(error)
            }
            loop.execute {
                let (save, book, identifiers) = bound.value
                save.applied(changes, outcome, book, identifiers)
            }
        }
    }

    private enum Outcome: Sendable {
        case done([BookChange], BegunSave)
        case failed(ChangeError)
        case accessDenied
    }

    /// What the save may use by now; `nil` where not all of it may be made any more.
    private func mayStill(
        _ changes: SaveChanges, _ book: ContactsStore, _ identifiers: IdentifierCipher
    ) -> Reading? {
        let known = broker.standing(of: session)
        guard case .permit(let disclosure) = decideAccess(known.standing, mayAsk: false),
            let principal = known.principal
        else { return nil }
        let reading = Reading(
            disclosure: disclosure, principal: principal, identifiers: identifiers, book: book,
            writableKeys: broker.ruling(of: session).maximumKeys)
        return changes.mayBeMade(reading) ? reading : nil
    }

    private func applied(
        _ changes: SaveChanges, _ outcome: Outcome, _ book: ContactsStore, _ identifiers: IdentifierCipher
    ) {
        broker.endedSaving(session.caller.uid)
        switch outcome {
        case .done(let made, let begun): done(changes, made, begun, book, identifiers)
        case .failed(let failure):
            notDone(changes)
            switch failure {
            case .recordDoesNotExist(let index):
                broker.turn.fail(ContactsError.recordDoesNotExist(at: changes.step(ofChange: index)), call)
            case .parentRecordDoesNotExist(let index):
                broker.turn.fail(ContactsError.parentRecordDoesNotExist(at: changes.step(ofChange: index)), call)
            case .containmentCycle(let index):
                broker.turn.fail(ContactsError.containmentCycle(at: changes.step(ofChange: index)), call)
            case .tooManyLinked:
                let error = ContactsError.limitExceeded("linkedContacts", maximum: ContactLinks.mostMembers)
                broker.turn.fail(error, call)
            case .containerInUse(let index):
                broker.turn.fail(
                    ContactsError.recordNotWritable(at: changes.step(ofChange: index), identifier: nil), call)
            case .tooManyContainers:
                broker.turn.fail(ContactsError.limitExceeded("containers", maximum: StoredContainer.most), call)
            case .store(let error): broker.unavailable(call, error)
            }
        case .accessDenied:
            notDone(changes)
            broker.turn.fail(ContactsError.accessDenied, call)
        }
    }

    private func notDone(_ changes: SaveChanges) {
        broker.takeBackSetOfItsOwn(given)
        broker.turn.record(.saveNotDone, of: session.caller) { $0.count = changes.changes.count }
    }

    private func done(
        _ changes: SaveChanges, _ made: [BookChange], _ begun: BegunSave, _ book: ContactsStore,
        _ identifiers: IdentifierCipher
    ) {
        let uid = session.caller.uid
        let isAsDecided = broker.access.endSave(begun, change: book.lastChange)
        broker.grantsChanged()
        broker.history.noted(made, uid: uid)
        // What made nothing has put nothing into the outbox.
        let telling: Telling = !isAsDecided || broker.turn.isDurable ? .onDisk : made.isEmpty ? .committed : .atOnce
        reply(changes.names(identifiers), broker.historyToken(for: session, book, identifiers) ?? "", telling)
        // What comes of it later nobody waits for.
        broker.thumbnails.look(at: changes.photographed, of: uid)
        broker.books.rest(uid)
        // Only an addition leaves no former text behind.
        if made.contains(where: { $0.kind != .addContact && $0.kind != .addGroup }) { broker.books.forget(uid) }
    }
}

/// A grant that was made so that a card has a set to join.
struct GivenSet {
    let principal: Principal
    let revision: Int64
}

extension Broker {
    /// The contacts are on the disk, and the outbox with them: where the record of their coming cannot be written now, it is
    /// later. The app is not told that nothing happened when it did.
    fileprivate func isNotRecorded() {
        surroundings.log("a save is on the disk, and its record is not yet: it is tried again")
        grantsChanged()
        retryRecording()
    }

    /// An app whose level is forced while nothing was decided adds its first card: the set that the card joins has to live
    /// somewhere. Without the rule this grant allows the app's own cards, and nothing else.
    ///
    /// For the save whose turn it is, so that no other one counts on what may be taken back.
    func giveSetOfItsOwn(to principal: Principal, _ session: CallerSession) -> GivenSet? {
        let known = standing(of: session)
        guard !known.isDecided, case .granted(let forced) = known.standing, forced.access != .denied else { return nil }
        let grant = Grant(
            access: .limited(to: []), revision: access.nextRevision(), decidedBy: .administrator, decidedAt: seconds)
        access.setGrant(grant, for: principal, displayName: session.caller.displayName)
        turn.record(
            .grant, of: principal,
            {
                $0.status = .limited
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = 0
            }, detail: "policy")
        return GivenSet(principal: principal, revision: grant.revision)
    }

    /// The card did not come. The grant would begin another history, so that the app's token would change though it can see
    /// nothing happen.
    func takeBackSetOfItsOwn(_ given: GivenSet?) {
        guard let given, access.grant(of: given.principal)?.revision == given.revision else { return }
        access.endGrant(of: given.principal)
        turn.record(.revocation, of: given.principal, { $0.status = .notDetermined }, detail: "not done")
        grantsChanged()
    }
}
