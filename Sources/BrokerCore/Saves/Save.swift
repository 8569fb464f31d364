import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Dispatch

/// One call of `SaveContacts`, which saves all of its steps or none. This class lives on the event loop, and
/// ``Saves`` writes the book.
final class Save {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    private let parameters: SaveContactsParameters
    /// The contacts of the steps, if another thread has decoded them.
    private var decoded: [Result<WireContact, ContactError>?]?
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
            creating: parameters.changes.contains { [.add, .addContainer].contains($0.operation) },
            again: { hasAsked in
                self.hasAsked = hasAsked
                self.begin()
            }
        ) { (context) throws(ReadContext.Failure) in
            guard let changes = try readOrRecord(context) else { return }
            guard let book = context.book, changes.stepCount > 0 else {
                return reply(
                    PendingSave.Made(), Array(repeating: "", count: changes.stepCount),
                    try context.orFail { (context) throws(StoreError) in try app.places.token(context) } ?? "")
            }
            write(changes, to: book, context)
        }
    }

    /// Reads the steps as ``read(_:)`` does, and records a refusal if one of them cannot be made. An app that tries to
    /// delete what it may not leaves a trace.
    private func readOrRecord(_ context: ReadContext) throws(ReadContext.Failure) -> SaveChanges? {
        do throws(ReadContext.Failure) {
            return try read(context)
        } catch {
            if case .call(let refusal) = error {
                let reason = refusal.name.split(separator: ".").last ?? ""
                app.groupCommit.record(
                    .refusal, of: session.caller, { $0.status = context.disclosure.scope == .all ? .full : .limited },
                    detail: "\(call.name), \(reason)")
            }
            throw error
        }
    }

    /// - Returns: the changes of all steps; `nil` if steps remain, which a later event loop iteration reads.
    private func read(_ context: ReadContext) throws(ReadContext.Failure) -> SaveChanges? {
        if decoded == nil, call.parameters.documentSize >= CallFrame.long {
            decode()
            return nil
        }
        var reader =
            self.reader
            ?? SaveSteps(parameters.changes, decoded ?? [], context, mostCards: app.limits.cardsPerSave) { [app] in
                app.access.takeRecordNumbers($0, now: app.surroundings.now())
            }
        // Drops the second reference to the reader's arrays. With two references, appending would copy the
        // arrays.
        self.reader = nil
        if let changes = try reader.readMore(context, until: .now + app.limits.timePerSave) { return changes }
        self.reader = reader
        // A long save must not delay other callers.
        app.surroundings.loop.later { self.begin() }
        return nil
    }

    /// Decodes the contacts on another thread, and begins again. Decoding a photo takes several milliseconds.
    private func decode() {
        app.surroundings.loop.run(on: Self.decoding) { [changes = parameters.changes] in
            changes.map(SaveSteps.decoded)
        } then: {
            self.decoded = $0.get()
            self.begin()
        }
    }

    private static let decoding = DispatchQueue(label: "long saves", attributes: .concurrent)

    private func write(_ changes: SaveChanges, to book: ContactsStore, _ context: ReadContext) {
        // If only the save that is being written comes before this one, the contacts are prepared
        // meanwhile.
        let ready = app.saves.isNext(session.caller.uid) ? book.makeReady(changes.changes, at: app.seconds) : nil
        let identifiers = context.identifiers
        let save = PendingSave(
            session: session, principal: context.principal, addsContacts: !changes.addedContacts.isEmpty,
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

    /// Decides the save again. Returns the write, or `nil` if any of the changes is not permitted.
    private func decide(
        _ changes: SaveChanges, _ ready: ReadyContacts?, _ book: ContactsStore, _ identifiers: IdentifierCipher
    ) -> PendingSave.Write? {
        guard let context = app.grants.readContext(of: session, book, under: identifiers), changes.mayBeMade(context)
        else { return nil }
        let isEvidence = context.permissions.mayLink
        let access: AuthorAccess = isEvidence ? .full : .limited(seeing: context.permissions.keys)
        let author = ChangeAuthor(app: identifiers.mark, name: parameters.author ?? "")
        return PendingSave.Write(
            principal: context.principal,
            contents: changes.contents(isKeptToSingle: context.disclosure.scope != .all),
            changesGroups: changes.changesGroups
        ) { (book, entry, seconds) throws(PendingSave.Failure) in
            do throws(ChangeError) {
                return try book.apply(
                    changes.changes, by: author, at: seconds, isEvidence: isEvidence, access: access, outbox: entry,
                    ready: ready)
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
        case .unavailable, .mergedTooLarge, .change(.hasContacts): error = ContactsError.storeUnavailable
        case .accessDenied: error = app.grants.policy.accessDenied
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
        case .change(.bookFull(let size, let most)):
            app.problems.noteFull(session.caller.uid)
            error = ContactsError.limitExceeded(
                "addressBook", maximum: Int(clamping: most), reason: SpaceWords.bookFull(size: size, most: most))
        case .change(.allowanceUsed(let most)):
            error = ContactsError.limitExceeded(
                "addressBookPerApp", maximum: Int(clamping: most),
                reason: SpaceWords.allowanceUsed(most, app.limits.space))
        case .change(.store(let error)): return app.problems.unavailable(call, error)
        }
        app.groupCommit.fail(error, call)
    }
}
