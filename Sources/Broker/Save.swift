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
            case .add:
                records.append(nil)
                if let container = change.container,
                    identifiers.record(container, as: .container) != Containers.local
                {
                    throw .error(ContactsError.recordDoesNotExist(at: records.count - 1))
                }
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
        guard change.group == nil, change.member == nil, change.container == nil || change.operation == .add,
            let json = change.contact
        else {
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
            committed: { [self] in apply(changes, to: book, intent, added, identifiers) },
            failed: { [self] in
                broker.grantsChanged()
                broker.endWaitingToSave(uid)
                call.fail(ContactsError.storeUnavailable)
            })
    }

    /// On the user's queue: the intent onto the disk, then the contacts.
    private func apply(
        _ changes: [ContactChange], to book: ContactsStore, _ intent: Int64, _ added: [RecordNumber],
        _ identifiers: IdentifierCipher
    ) {
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
            let outcome = failure
            loop.execute {
                let (save, identifiers) = bound.value
                save.applied(changes, intent, added, outcome, identifiers)
            }
        }
    }

    private func applied(
        _ changes: [ContactChange], _ intent: Int64, _ added: [RecordNumber], _ failure: ChangeError?,
        _ identifiers: IdentifierCipher
    ) {
        let uid = session.caller.uid
        broker.endWaitingToSave(uid)
        broker.access.resolveSave(intent, existing: failure == nil ? Set(added) : [])
        broker.grantsChanged()
        if let failure {
            broker.record(.saveNotDone, of: session.caller) { $0.count = changes.count }
            switch failure {
            case .recordDoesNotExist(let index):
                broker.turn.fail(ContactsError.recordDoesNotExist(at: index), call)
            case .store(let error):
                broker.unavailable(call, error)
            }
            return
        }
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
            broker.access.forget(deleted, uid: uid)
            broker.grantsChanged()
        }
        broker.record(.save, of: session.caller) {
            $0.count = records.count
            $0.contacts = Array(records.prefix(broker.limits.contactsPerAuditRecord))
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
