import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// One `SaveContacts`: all of its steps are saved, or none. It lives on the event loop; ``Saves`` writes the book.
final class Save {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    private let parameters: SaveContactsParameters
    /// The steps read so far.
    private var reader: SaveSteps?
    private var hasAsked = false

    init(call: Call, session: CallerSession, app: AppServices, _ parameters: SaveContactsParameters) {
        self.call = call
        self.session = session
        self.app = app
        self.parameters = parameters
    }

    func begin() {
        app.recovery.recordUndelivered()
        app.permit(
            call, session, asking: Question(kind: .access), hasAsked: hasAsked,
            creating: parameters.changes.contains { $0.operation == .add },
            again: { hasAsked in
                self.hasAsked = hasAsked
                self.begin()
            }
        ) { (reading) throws(Reading.Failure) in
            guard let changes = try read(reading) else { return }
            guard let book = reading.book, changes.stepCount > 0 else {
                return reply(
                    PendingSave.Made(), Array(repeating: "", count: changes.stepCount),
                    try reading.orFail { (reading) throws(StoreError) in try app.places.token(reading) } ?? "")
            }
            write(changes, to: book, reading)
        }
    }

    /// - Returns: the changes of all steps; `nil` if there is more to read, which a later event loop iteration does.
    private func read(_ reading: Reading) throws(Reading.Failure) -> SaveChanges? {
        var reader =
            self.reader
            ?? SaveSteps(parameters.changes, reading, mostCards: app.limits.cardsPerSave) { [app] in
                app.access.takeRecordNumbers($0, now: app.surroundings.now())
            }
        // Leaves one reference, so that appending to the steps read so far does not copy them.
        self.reader = nil
        if let changes = try reader.readMore(reading, until: .now + app.limits.timePerSave) { return changes }
        self.reader = reader
        // A long save must not delay other callers.
        app.surroundings.loop.later { self.begin() }
        return nil
    }

    private func write(_ changes: SaveChanges, to book: ContactsStore, _ reading: Reading) {
        // Prepares the contacts while another save of the user is being written.
        let ready = app.saves.isNext(session.caller.uid) ? book.makeReady(changes.changes, at: app.seconds) : nil
        let identifiers = reading.identifiers
        let save = PendingSave(
            session: session, principal: reading.principal, addsContacts: !changes.addedContacts.isEmpty,
            count: changes.changes.count, photographed: changes.photographed,
            decide: { self.decide(changes, ready, book, identifiers) },
            done: { result in
                switch result {
                case .success(let made):
                    let token = self.app.places.token(for: self.session, book, identifiers)
                    self.reply(made, changes.names(identifiers), token ?? "")
                case .failure(let failure): self.fail(failure, changes)
                }
            })
        app.saves.run(save, in: book)
    }

    /// Decides the save again, and returns what to write; `nil` if any change is no longer permitted.
    private func decide(
        _ changes: SaveChanges, _ ready: ReadyContacts?, _ book: ContactsStore, _ identifiers: IdentifierCipher
    ) -> PendingSave.Write? {
        guard let reading = app.grants.reading(of: session, book, under: identifiers), changes.mayBeMade(reading)
        else { return nil }
        let isEvidence = reading.permissions.mayLink
        let author = ChangeAuthor(app: identifiers.mark, name: parameters.author ?? "")
        return PendingSave.Write(
            principal: reading.principal,
            contents: changes.contents(isKeptToSingle: reading.disclosure.scope != .all)
        ) { (book, entry, seconds) throws(PendingSave.Failure) in
            do throws(ChangeError) {
                return try book.apply(
                    changes.changes, by: author, at: seconds, isEvidence: isEvidence, telling: entry, ready: ready)
            } catch {
                throw .change(error)
            }
        }
    }

    // MARK: Replies

    private func reply(_ made: PendingSave.Made, _ names: [String], _ token: String) {
        var writer = JSONWriter(reservingCapacity: 192 + names.count * 36)
        writer.object {
            $0.member("identifiers", names)
            $0.member("historyToken", token)
        }
        app.saves.answer(made) { [call, bytes = writer.bytes] in call.reply(bytes) }
    }

    private func fail(_ failure: PendingSave.Failure, _ changes: SaveChanges) {
        let error: VarlinkError
        switch failure {
        case .unavailable, .cannotMerge: error = ContactsError.storeUnavailable
        case .accessDenied: error = ContactsError.accessDenied
        case .change(.recordDoesNotExist(let index)):
            error = ContactsError.recordDoesNotExist(at: changes.step(ofChange: index))
        case .change(.parentRecordDoesNotExist(let index)):
            error = ContactsError.parentRecordDoesNotExist(at: changes.step(ofChange: index))
        case .change(.containmentCycle(let index)):
            error = ContactsError.containmentCycle(at: changes.step(ofChange: index))
        case .change(.tooManyLinked):
            error = ContactsError.limitExceeded("linkedContacts", maximum: ContactLinks.mostMembers)
        case .change(.containerInUse(let index)):
            error = ContactsError.recordNotWritable(at: changes.step(ofChange: index), identifier: nil)
        case .change(.tooManyContainers):
            error = ContactsError.limitExceeded("containers", maximum: StoredContainer.most)
        case .change(.store(let error)): return app.problems.unavailable(call, error)
        }
        app.turn.fail(error, call)
    }
}
