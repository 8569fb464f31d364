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

    /// A step whose identifier was looked up.
    private enum Step {
        case add(Contact)
        case update(RecordNumber, Contact, keys: ContactKeySet)
        case delete(RecordNumber)
    }

    private enum Refusal: Error {
        case error(VarlinkError)
        case store(StoreError)
    }

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
        guard !parameters.changes.isEmpty else { return call.reply { $0.member("identifiers", [String]()) } }
        let adds = parameters.changes.contains { $0.operation == .add }
        var isThisTurn = true
        defer { isThisTurn = false }
        broker.books.with(session.caller.uid, creating: adds) { [self] result in
            do throws(Refusal) {
                let book: ContactsStore?
                switch result {
                case .success(let opened): book = opened
                case .failure(let error): throw .store(error)
                }
                guard isThisTurn else { return begin() }
                let steps = try steps(disclosure, identifiers, book)
                guard let book else { return call.reply { $0.member("identifiers", [String]()) } }
                try write(steps, to: book, principal, identifiers)
            } catch {
                switch error {
                case .error(let error): broker.turn.fail(error, call)
                case .store(let error): broker.unavailable(call, error)
                }
            }
        }
    }

    // MARK: Checking

    /// The steps, if all of them may be made.
    ///
    /// Identifiers first, and for all of them: whether a record is malformed, another app's, ungranted, revoked or deleted shows in
    /// nothing, not even in which error comes first.
    private func steps(
        _ disclosure: Disclosure, _ identifiers: IdentifierCipher, _ book: ContactsStore?
    ) throws(Refusal) -> [Step] {
        var records: [RecordNumber?] = []
        for change in parameters.changes {
            switch change.operation {
            case .add: records.append(nil)
            case .update, .delete:
                let record = change.contact?["identifier"]?.string.flatMap { identifiers.record($0, as: .contact) }
                records.append(record.flatMap { disclosure.scope.contains($0) ? $0 : nil })
            case .addMember, .removeMember, .addSubgroup, .removeSubgroup, .link, .unlink, .addContainer,
                .deleteContainer, .setMe:
                throw .error(.methodNotImplemented(call.method))
            }
        }
        let existing: Set<RecordNumber>
        do throws(StoreError) {
            existing = try book?.existing(records.compactMap { $0 }) ?? []
        } catch {
            throw .store(error)
        }
        for (index, change) in parameters.changes.enumerated() where change.operation != .add {
            guard let record = records[index], existing.contains(record) else {
                throw .error(ContactsError.recordDoesNotExist(at: index))
            }
        }
        var steps: [Step] = []
        steps.reserveCapacity(records.count)
        for (index, change) in parameters.changes.enumerated() {
            steps.append(try step(change, at: index, records[index], disclosure))
        }
        return steps
    }

    private func step(
        _ change: SaveContactsParameters.Change, at index: Int, _ record: RecordNumber?, _ disclosure: Disclosure
    ) throws(Refusal) -> Step {
        guard change.group == nil, change.member == nil, change.container == nil, let json = change.contact else {
            throw .error(.invalidParameter("changes"))
        }
        let wire: WireContact
        do throws(ContactError) {
            wire = try WireContact(json)
            if change.operation != .delete { try wire.contact.validate(writing: wire.keys) }
        } catch {
            throw .error(Self.error(error, at: index))
        }
        guard let record else { return .add(wire.contact) }
        if change.operation == .delete {
            // Under a key scope only the app that made a card may delete what it cannot see whole.
            guard disclosure.keys.isSuperset(of: Grant.ordinaryKeys) else {
                throw .error(ContactsError.recordNotWritable(at: index, identifier: json["identifier"]?.string))
            }
            return .delete(record)
        }
        let unreadable = wire.keys.subtracting(disclosure.keys)
        guard unreadable.isEmpty else {
            throw .error(ContactsError.unauthorizedKeys(unreadable.keys.map(\.rawValue)))
        }
        return .update(record, wire.contact, keys: wire.keys)
    }

    private static func error(_ error: ContactError, at index: Int) -> VarlinkError {
        switch error {
        case .invalidParameter(let name): .invalidParameter(name)
        case .invalidContact(let key, let reason): ContactsError.invalidContact(at: index, key: key, reason: reason)
        case .limitExceeded(let limit, let maximum): ContactsError.limitExceeded(limit, maximum: maximum)
        }
    }

    // MARK: Writing

    private func write(
        _ steps: [Step], to book: ContactsStore, _ principal: Principal, _ identifiers: IdentifierCipher
    ) throws(Refusal) {
        let uid = session.caller.uid
        guard broker.beginWaitingToSave(uid) else { throw .error(ContactsError.storeUnavailable) }
        let addCount = steps.count { if case .add = $0 { true } else { false } }
        let added = broker.access.takeRecordNumbers(addCount, now: broker.surroundings.now())
        var numbers = added[...]
        let changes = steps.map { step -> ContactChange in
            switch step {
            case .add(let contact): .add(numbers.removeFirst(), contact)
            case .update(let record, let contact, let keys): .update(record, contact, keys: keys)
            case .delete(let record): .delete(record)
            }
        }
        let intent = broker.access.beginSave(uid: uid, principal: principal, adds: added)
        broker.grantsChanged()
        broker.turn.work(
            committed: { [self] in
                broker.whenItsTurnToSave(uid) { [self] in apply(changes, to: book, intent, added, identifiers) }
            },
            failed: { [self] in
                broker.grantsChanged()
                broker.cancelWaitingToSave(uid)
                call.fail(ContactsError.storeUnavailable)
            })
    }

    /// On the user's queue: the intent onto the disk, then the contacts.
    private func apply(
        _ changes: [ContactChange], to book: ContactsStore, _ intent: Int64, _ added: [RecordNumber],
        _ identifiers: IdentifierCipher
    ) {
        // Others saved meanwhile, and what allowed this one may have been taken back.
        guard mayStill(changes, added) else {
            return applied(changes, intent, added, .accessDenied, identifiers)
        }
        let walSync = broker.access.walSync
        let seconds = broker.seconds
        let loop = broker.surroundings.loop
        let bound = LoopBound((self, identifiers), loop: loop)
        broker.books.queue(of: session.caller.uid).async {
            var failure: ChangeError?
            if let error = Broker.sync(walSync) {
                failure = .store(.unavailable(reason: "the intent of a save is not on the disk: \(error)"))
            } else {
                do throws(ChangeError) {
                    try book.apply(changes, at: seconds)
                } catch {
                    failure = error
                }
            }
            let outcome: Outcome = failure.map { .failed($0) } ?? .done
            loop.execute {
                let (save, identifiers) = bound.value
                save.applied(changes, intent, added, outcome, identifiers)
            }
        }
    }

    private enum Outcome: Sendable {
        case done
        case failed(ChangeError)
        case accessDenied
    }

    private func mayStill(_ changes: [ContactChange], _ added: [RecordNumber]) -> Bool {
        let standing = broker.standing(of: session).standing
        guard case .permit(let disclosure) = decide(.save, standing: standing, mayAsk: false) else { return false }
        return changes.allSatisfy { change in
            switch change {
            case .add: true
            case .update(let record, _, let keys):
                disclosure.scope.contains(record) && keys.isSubset(of: disclosure.keys)
            case .delete(let record): disclosure.scope.contains(record)
            }
        }
    }

    private func applied(
        _ changes: [ContactChange], _ intent: Int64, _ added: [RecordNumber], _ outcome: Outcome,
        _ identifiers: IdentifierCipher
    ) {
        broker.endedSaving(session.caller.uid)
        switch outcome {
        case .done:
            broker.access.resolveSave(intent, existing: Set(added))
            broker.grantsChanged()
            done(changes, identifiers)
        case .failed(.recordDoesNotExist(let index)):
            notDone(changes, intent)
            broker.turn.fail(ContactsError.recordDoesNotExist(at: index), call)
        case .failed(.store(let error)):
            notDone(changes, intent)
            broker.unavailable(call, error)
        case .accessDenied:
            notDone(changes, intent)
            broker.turn.fail(ContactsError.accessDenied, call)
        }
    }

    private func notDone(_ changes: [ContactChange], _ intent: Int64) {
        broker.access.resolveSave(intent, existing: [])
        broker.grantsChanged()
        broker.record(.saveNotDone, of: session.caller) { $0.count = changes.count }
    }

    private func done(_ changes: [ContactChange], _ identifiers: IdentifierCipher) {
        var deleted: Set<RecordNumber> = []
        var records: [RecordNumber] = []
        var names: [String] = []
        for change in changes {
            switch change {
            case .add(let record, _):
                records.append(record)
                names.append(identifiers.identifier(of: record, as: .contact))
            case .update(let record, _, _):
                records.append(record)
                names.append("")
            case .delete(let record):
                records.append(record)
                deleted.insert(record)
                names.append("")
            }
        }
        if !deleted.isEmpty {
            broker.access.forget(deleted, uid: session.caller.uid)
            broker.grantsChanged()
        }
        // Only an addition leaves no former text behind.
        if changes.contains(where: { if case .add = $0 { false } else { true } }) {
            broker.books.forget(session.caller.uid)
        }
        for part in broker.parts(records) {
            broker.record(.save, of: session.caller) {
                $0.count = part.count
                $0.contacts = Array(part)
            }
        }
        var writer = JSONWriter(reservingCapacity: 32 + names.count * 36)
        writer.object { $0.member("identifiers", names) }
        broker.turn.reply(writer.bytes, to: call)
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
