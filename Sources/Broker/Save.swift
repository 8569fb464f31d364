import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Varlink

/// One `SaveContacts`: all of its steps, or none. It lives on the loop; the book is written on the user's queue.
///
/// First the intent and the widened set are brought onto the disk, then the contacts, then the reply is sent: a crash
/// in between leaves an intent without its contacts, which the next start records as not done.
final class Save {
    private let call: Call
    private let session: CallerSession
    private let broker: Broker
    private let parameters: SaveContactsParameters
    private var hasAsked = false

    init(call: Call, session: CallerSession, broker: Broker, _ parameters: SaveContactsParameters) {
        self.call = call
        self.session = session
        self.broker = broker
        self.parameters = parameters
    }

    func begin() {
        guard !call.isOver else { return }
        if broker.waitsForGrant(session, { self.begin() }) { return }
        let known = broker.standing(of: session)
        switch decide(.save, standing: known.standing, mayAsk: !hasAsked && known.mayPrompt) {
        case .permit(let disclosure): permitted(disclosure, known)
        case .refuse(let denial): broker.refuse(call, session, denial, known.standing.status)
        case .ask(let kind), .askQuietly(let kind):
            hasAsked = true
            broker.ask(Broker.Question(kind: kind), call, session) { _ in self.begin() }
        case .answer, .answerEmpty, .wait:
            preconditionFailure("the table permits, refuses or asks for save")
        }
    }

    private func permitted(_ disclosure: Disclosure, _ known: PrincipalStanding) {
        guard let principal = known.principal, let identifiers = known.identifiers else {
            return call.fail(ContactsError.storeUnavailable)
        }
        guard broker.mayUseGrant(session) else { return call.fail(ContactsError.accessDenied) }
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
                var reader = SaveSteps(reading)
                let steps = try reader.read(parameters.changes)
                guard let book, !steps.isEmpty else { return try nothingToDo(reading, steps.count) }
                try write(steps, to: book, reading)
            } catch {
                switch error {
                case .call(let error): broker.turn.fail(error, call)
                case .store(let error): broker.unavailable(call, error)
                }
            }
        }
    }

    private func nothingToDo(_ reading: Reading, _ count: Int) throws(Reading.Failure) {
        do throws(StoreError) {
            reply(Array(repeating: "", count: count), try broker.historyToken(reading) ?? "")
        } catch {
            throw .store(error)
        }
    }

    private func reply(_ names: [String], _ token: String) {
        var writer = JSONWriter(reservingCapacity: 192 + names.count * 36)
        writer.object {
            $0.member("identifiers", names)
            $0.member("historyToken", token)
        }
        let bytes = writer.bytes
        // The contacts are on the disk, and so is the intent: where the record of their coming cannot be written now, the
        // next start finds the intent and writes it. The app is not told that nothing happened when it did.
        broker.turn.work(
            committed: { [call] in call.reply(bytes) },
            failed: { [call, broker] in
                broker.surroundings.log("a save is on the disk, and its record is not yet: the next start writes it")
                call.reply(bytes)
            })
    }

    // MARK: Writing

    private func write(
        _ steps: [SaveStep], to book: ContactsStore, _ reading: Reading
    ) throws(Reading.Failure) {
        let uid = session.caller.uid
        guard broker.beginWaitingToSave(uid) else { throw .call(ContactsError.storeUnavailable) }
        let changes = SaveChanges(steps, reading) { [broker] in
            broker.access.takeRecordNumbers($0, now: broker.surroundings.now())
        }
        if !changes.addedContacts.isEmpty { broker.giveSetOfItsOwn(to: reading.principal, session) }
        let intent = broker.access.beginSave(
            uid: uid, principal: reading.principal, adds: changes.addedContacts,
            isKeptToSingle: reading.disclosure.scope != .all)
        broker.grantsChanged()
        broker.turn.work(
            committed: { [self] in
                broker.whenItsTurnToSave(uid) { [self] in apply(changes, to: book, intent, reading.identifiers) }
            },
            failed: { [self] in
                broker.grantsChanged()
                broker.cancelWaitingToSave(uid)
                call.fail(ContactsError.storeUnavailable)
            })
    }

    /// On the user's queue: the contacts onto the disk, after the intent.
    private func apply(
        _ changes: SaveChanges, to book: ContactsStore, _ intent: Int64, _ identifiers: IdentifierCipher
    ) {
        // Others saved meanwhile, and what allowed this one may have been taken back.
        guard mayStill(changes, book, identifiers) else {
            return applied(changes, intent, .accessDenied, book, identifiers)
        }
        let intentSync = IntentSync(broker.access.walSync)
        let seconds = broker.seconds
        let author = ChangeAuthor(app: identifiers.mark, name: parameters.author ?? "")
        let loop = broker.surroundings.loop
        let bound = LoopBound((self, book, identifiers), loop: loop)
        broker.books.queue(of: session.caller.uid).async {
            let outcome: Outcome
            do throws(ChangeError) {
                let made = try book.apply(changes.changes, by: author, at: seconds) { () throws(StoreError) in
                    try intentSync.wait()
                }
                outcome = .done(made)
            } catch {
                outcome = .failed(error)
            }
            loop.execute {
                let (save, book, identifiers) = bound.value
                save.applied(changes, intent, outcome, book, identifiers)
            }
            book.makeRoom()
        }
    }

    private enum Outcome: Sendable {
        case done([BookChange])
        case failed(ChangeError)
        case accessDenied
    }

    private func mayStill(_ changes: SaveChanges, _ book: ContactsStore, _ identifiers: IdentifierCipher) -> Bool {
        let known = broker.standing(of: session)
        guard case .permit(let disclosure) = decide(.save, standing: known.standing, mayAsk: false),
            let principal = known.principal
        else { return false }
        let reading = Reading(
            disclosure: disclosure, principal: principal, identifiers: identifiers, book: book,
            writableKeys: broker.ruling(of: session).maximumKeys)
        return changes.mayBeMade(reading)
    }

    private func applied(
        _ changes: SaveChanges, _ intent: Int64, _ outcome: Outcome, _ book: ContactsStore,
        _ identifiers: IdentifierCipher
    ) {
        broker.endedSaving(session.caller.uid)
        switch outcome {
        case .done(let made):
            broker.access.resolveSave(intent, existing: Set(changes.addedContacts))
            done(changes, made, book, identifiers)
        case .failed(let failure):
            notDone(changes, intent)
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
            notDone(changes, intent)
            broker.turn.fail(ContactsError.accessDenied, call)
        }
    }

    private func notDone(_ changes: SaveChanges, _ intent: Int64) {
        broker.access.resolveSave(intent, existing: [])
        broker.grantsChanged()
        broker.record(.saveNotDone, of: session.caller) { $0.count = changes.changes.count }
    }

    private func done(
        _ changes: SaveChanges, _ made: [BookChange], _ book: ContactsStore, _ identifiers: IdentifierCipher
    ) {
        let uid = session.caller.uid
        let deleted = Set(made.filter { $0.kind == .deleteContact }.map(\.record))
        if !deleted.isEmpty { broker.access.forget(deleted, uid: uid) }
        broker.grantsChanged()
        broker.history.noted(made, uid: uid)
        broker.books.rest(uid)
        // Only an addition leaves no former text behind.
        if made.contains(where: { $0.kind != .addContact && $0.kind != .addGroup }) { broker.books.forget(uid) }
        let contacts = changes.contacts
        for part in broker.parts(contacts) {
            broker.record(.save, of: session.caller) {
                $0.count = contacts.isEmpty ? changes.changes.count : part.count
                $0.contacts = Array(part)
            }
        }
        reply(changes.names(identifiers), broker.historyToken(for: session, book, identifiers) ?? "")
    }
}

extension Broker {
    /// An app whose level is forced while nothing was decided adds its first card: the set that the card joins has to live
    /// somewhere. Without the rule this grant allows the app's own cards, and nothing else.
    func giveSetOfItsOwn(to principal: Principal, _ session: CallerSession) {
        let known = standing(of: session)
        guard !known.isDecided, case .granted(let forced) = known.standing, forced.access != .denied else { return }
        let grant = Grant(
            access: .limited(to: []), revision: access.nextRevision(), decidedBy: .administrator, decidedAt: seconds)
        access.setGrant(grant, for: principal, displayName: session.caller.displayName)
        record(
            .grant, of: principal,
            {
                $0.status = .limited
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = 0
            }, detail: "policy")
    }

    /// Settles what a crash left behind: saves whose intent is on record, and whose contacts are in the book or not.
    func recoverSaves() {
        for intent in access.openIntents() {
            books.with(intent.uid) { [weak self] result in
                guard let self else { return }
                do throws(StoreError) {
                    let existing = try result.get()?.existing(intent.adds) ?? []
                    access.resolveSave(intent.id, existing: existing)
                    grantsChanged()
                    // The book commits all of a save or nothing of it. One that added nothing leaves no trace by which
                    // that could be told.
                    let event: AuditEvent = existing.isEmpty && !intent.adds.isEmpty ? .saveNotDone : .save
                    let detail = intent.adds.isEmpty ? "perhaps, before a crash" : "before a crash"
                    record(event, of: intent.principal, { $0.count = intent.adds.count }, detail: detail)
                    turn.work(committed: {})
                } catch {
                    // The intent stays: the book may be readable at the next start.
                    surroundings.log("a save from before the last end could not be looked up: \(error)")
                }
            }
        }
    }
}
