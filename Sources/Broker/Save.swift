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
        if broker.waitsForGrant(session, { self.begin() }) { return }
        let known = broker.standing(of: session)
        switch decide(.save, standing: known.standing, mayAsk: !hasAsked) {
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
        if !session.hasUsedGrant {
            guard broker.isStillItself(session) else { return call.fail(ContactsError.accessDenied) }
            session.hasUsedGrant = true
        }
        // No steps, nothing to do: a book is not made for it.
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
                    disclosure: disclosure, principal: principal, identifiers: identifiers, book: book)
                var reader = SaveSteps(reading, method: call.method)
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
        broker.turn.reply(writer.bytes, to: call)
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
        let intent = broker.access.beginSave(uid: uid, principal: reading.principal, adds: changes.addedContacts)
        broker.grantsChanged()
        broker.turn.work(
            committed: { [self] in apply(changes, to: book, intent, reading.identifiers) },
            failed: { [self] in
                broker.grantsChanged()
                broker.endWaitingToSave(uid)
                call.fail(ContactsError.storeUnavailable)
            })
    }

    /// On the user's queue: the intent onto the disk, then the contacts.
    private func apply(
        _ changes: SaveChanges, to book: ContactsStore, _ intent: Int64, _ identifiers: IdentifierCipher
    ) {
        let walSync = broker.access.walSync
        let seconds = broker.seconds
        let author = ChangeAuthor(app: identifiers.mark, name: parameters.author ?? "")
        let loop = broker.surroundings.loop
        let bound = LoopBound((self, book, identifiers), loop: loop)
        broker.books.queue(of: session.caller.uid).async {
            let outcome: Result<[BookChange], ChangeError>
            if let error = Broker.sync(walSync) {
                let reason = "the intent of a save is not on the disk: \(error)"
                outcome = .failure(.store(.unavailable(reason: reason)))
            } else {
                do throws(ChangeError) {
                    outcome = .success(try book.apply(changes.changes, by: author, at: seconds))
                } catch {
                    outcome = .failure(error)
                }
            }
            loop.execute {
                let (save, book, identifiers) = bound.value
                save.applied(changes, intent, outcome, book, identifiers)
            }
        }
    }

    private func applied(
        _ changes: SaveChanges, _ intent: Int64, _ outcome: Result<[BookChange], ChangeError>, _ book: ContactsStore,
        _ identifiers: IdentifierCipher
    ) {
        let uid = session.caller.uid
        broker.endWaitingToSave(uid)
        let made: [BookChange]
        switch outcome {
        case .success(let done): made = done
        case .failure(let failure):
            broker.access.resolveSave(intent, existing: [])
            broker.grantsChanged()
            return failed(changes, failure)
        }
        broker.access.resolveSave(intent, existing: Set(changes.addedContacts))
        let deleted = Set(made.filter { $0.kind == .deleteContact }.map(\.record))
        if !deleted.isEmpty { broker.access.forget(deleted, uid: uid) }
        broker.grantsChanged()
        broker.history.noted(made, uid: uid)
        broker.record(.save, of: session.caller) {
            $0.count = changes.changes.count
            $0.contacts = Array(changes.contacts.prefix(broker.limits.contactsPerAuditRecord))
        }
        reply(changes.names(identifiers), broker.historyToken(for: session, book, identifiers) ?? "")
    }

    private func failed(_ changes: SaveChanges, _ failure: ChangeError) {
        broker.record(.saveNotDone, of: session.caller) { $0.count = changes.changes.count }
        switch failure {
        case .recordDoesNotExist(let index): broker.turn.fail(ContactsError.recordDoesNotExist(at: index), call)
        case .parentRecordDoesNotExist(let index):
            broker.turn.fail(ContactsError.parentRecordDoesNotExist(at: index), call)
        case .containmentCycle(let index): broker.turn.fail(ContactsError.containmentCycle(at: index), call)
        case .store(let error): broker.unavailable(call, error)
        }
    }
}

extension Broker {
    /// Settles what a crash left behind: saves whose intent is on record, and whose contacts are in the book or not.
    func recoverSaves() {
        for intent in access.openIntents() {
            books.with(intent.uid) { [weak self] result in
                guard let self else { return }
                do throws(StoreError) {
                    let existing = try result.get()?.existing(intent.adds) ?? []
                    access.resolveSave(intent.id, existing: existing)
                    grantsChanged()
                    // The book commits all of a save or nothing of it.
                    let event: AuditEvent = existing.isEmpty ? .saveNotDone : .save
                    record(event, of: intent.principal, { $0.count = intent.adds.count }, detail: "recovered")
                    turn.work(committed: {})
                } catch {
                    // The intent stays: the book may be readable at the next start.
                    surroundings.log("a save from before the last end could not be looked up: \(error)")
                }
            }
        }
    }
}
