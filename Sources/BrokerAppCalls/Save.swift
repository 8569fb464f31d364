import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink
import Dispatch

/// One call of `SaveContacts`, which saves all of its steps or none. ``Saves`` writes the book.
struct Save: PermittedCall {
    let call: Call
    let session: CallerSession
    private let parameters: SaveContactsParameters
    var asked = Asked.notYet
    /// The contacts of the steps, if another thread has decoded them.
    private var decoded: [Result<WireContact, ContactError>?]?
    /// The steps read so far.
    private var reader: SaveSteps?

    init(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        (self.call, self.session) = (call, session)
        parameters = try SaveContactsParameters(call.parameters)
    }

    var createsBook: Bool { parameters.changes.contains { [.add, .addContainer].contains($0.operation) } }

    mutating func prepare(_ services: BrokerServices) { services.recovery.recordUndelivered() }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        // Decoding a photo takes several milliseconds.
        if decoded == nil, call.parameters.documentSize >= CallFrame.long {
            return .wait(
                for: .job(on: Self.decoding) { [changes = parameters.changes] in
                    changes.map(SaveSteps.decoded)
                } keep: { call, decoded in
                    call.decoded = decoded.get()
                })
        }
        // A long save must not delay other callers.
        guard let changes = try readOrRecord(context, services) else { return .wait(for: .turn) }
        if let book = context.book, changes.stepCount > 0 {
            write(changes, to: book, context, services)
        } else {
            let token = try context.orFail { (context) throws(StoreError) in try services.places.token(context) }
            Self.reply(PendingSave.Made(), Array(repeating: "", count: changes.stepCount), token ?? "", call, services)
        }
        return .done
    }

    private static let decoding = DispatchQueue(label: "long saves", attributes: .concurrent)

    /// Reads the steps, and records a refusal if one of them cannot be made. An app that tries to
    /// delete what it may not leaves a trace.
    private mutating func readOrRecord(
        _ context: ReadContext, _ services: BrokerServices
    ) throws(ReadContext.Failure) -> SaveChanges? {
        do throws(ReadContext.Failure) {
            return try read(context, services)
        } catch {
            if case .call(let refusal) = error {
                let reason = refusal.name.split(separator: ".").last ?? ""
                services.groupCommit.record(
                    .refusal, of: session.caller, { $0.status = context.disclosure.scope == .all ? .full : .limited },
                    detail: "\(call.name), \(reason)")
            }
            throw error
        }
    }

    /// - Returns: the changes of all steps; `nil` if steps remain, which a later event loop iteration reads.
    private mutating func read(
        _ context: ReadContext, _ services: BrokerServices
    ) throws(ReadContext.Failure) -> SaveChanges? {
        var reader =
            self.reader
            ?? SaveSteps(parameters.changes, decoded ?? [], context, mostCards: services.limits.cardsPerSave) {
                services.access.takeRecordNumbers($0, now: services.surroundings.now())
            }
        // Drops the second reference to the reader's arrays. With two references, appending would copy the
        // arrays.
        self.reader = nil
        if let changes = try reader.readMore(context, until: .now + services.limits.timePerSave) { return changes }
        self.reader = reader
        return nil
    }

    private func write(
        _ changes: SaveChanges, to book: ContactsStore, _ context: ReadContext, _ services: BrokerServices
    ) {
        let identifiers = context.identifiers
        let (call, session, author) = (call, session, parameters.author ?? "")
        let save = PendingSave(
            session: session, principal: context.principal, addsContacts: !changes.addedContacts.isEmpty,
            count: changes.changes.count, photographed: changes.photographed,
            decide: { Self.decide(changes, book, identifiers, by: author, session, services) },
            done: { result in
                switch result {
                case .success(let made):
                    let token = services.places.token(for: session, book, identifiers)
                    Self.reply(made, changes.names(identifiers), token ?? "", call, services)
                case .failure(let failure): Self.fail(failure, changes, call, session, services)
                }
            })
        services.saves.run(save, in: book)
    }

    /// Decides the save again. Returns the write, or `nil` if any of the changes is not permitted.
    private static func decide(
        _ changes: SaveChanges, _ book: ContactsStore, _ identifiers: IdentifierCipher,
        by author: String, _ session: CallerSession, _ services: BrokerServices
    ) -> PendingSave.Write? {
        guard let context = services.grants.readContext(of: session, book, under: identifiers),
            changes.mayBeMade(context)
        else { return nil }
        // Without this right, the values that an app writes must not link other cards.
        let isEvidence = context.permissions.mayLink
        let access: AuthorAccess =
            context.permissions.seesEverythingWhole ? .full : .limited(seeing: context.permissions.keys)
        let kept = changes.undeletable(context.permissions)
        let author = ChangeAuthor(app: identifiers.mark, name: author)
        let app = SaveAuthor(context.principal)
        return PendingSave.Write(
            principal: context.principal,
            contents: changes.contents(isKeptToSingle: context.disclosure.scope != .all),
            changesGroups: changes.changesGroups
        ) { (book, entry, seconds) throws(PendingSave.Failure) in
            do throws(ChangeError) {
                return try book.apply(
                    changes.changes, by: author, at: seconds, isEvidence: isEvidence, access: access, keeping: kept,
                    of: app, outbox: entry)
            } catch {
                throw .change(error)
            }
        }
    }

    // MARK: Replies

    private static func reply(
        _ made: PendingSave.Made, _ names: [String], _ token: String, _ call: Call, _ services: BrokerServices
    ) {
        var writer = JSONWriter(reservingCapacity: 192 + names.count * 36)
        writer.object {
            $0.member("identifiers", names)
            $0.member("historyToken", token)
        }
        services.saves.answer(made) { [bytes = writer.bytes] in call.reply(bytes) }
    }

    private static func fail(
        _ failure: PendingSave.Failure, _ changes: SaveChanges, _ call: Call, _ session: CallerSession,
        _ services: BrokerServices
    ) {
        let error: VarlinkError
        switch failure {
        case .unavailable, .mergedTooLarge, .change(.hasContacts): error = ContactsError.storeUnavailable
        case .accessDenied: error = services.grants.policy.accessDenied
        case .change(.recordDoesNotExist(let index)):
            error = ContactsError.recordDoesNotExist(at: changes.step(ofChange: index))
        case .change(.parentRecordDoesNotExist(let index)):
            error = ContactsError.parentRecordDoesNotExist(at: changes.step(ofChange: index))
        case .change(.containmentCycle(let index)):
            error = ContactsError.containmentCycle(at: changes.step(ofChange: index))
        case .change(.tooManyLinked):
            error = ContactsError.limitExceeded("linkedContacts", maximum: StoreLimits.linkedCards)
        case .change(.containerInUse(let index)):
            error = ContactsError.recordNotWritable(at: changes.step(ofChange: index), identifier: nil)
        case .change(.emptiesContact(let index)):
            services.groupCommit.record(.refusal, of: session.caller, detail: "\(call.name), RecordNotWritable")
            error = ContactsError.recordNotWritable(at: changes.step(ofChange: index), identifier: nil)
        case .change(.tooManyContainers):
            error = ContactsError.limitExceeded("containers", maximum: StoredContainer.most)
        case .change(.bookFull(let size, let most)):
            services.problems.noteFull(session.caller.uid)
            error = ContactsError.limitExceeded(
                "addressBook", maximum: Int(clamping: most), reason: SpaceWords.bookFull(size: size, most: most))
        case .change(.allowanceUsed(let most)):
            error = ContactsError.limitExceeded(
                "addressBookPerApp", maximum: Int(clamping: most),
                reason: SpaceWords.allowanceUsed(most, services.limits.space))
        case .change(.binFull(let most)):
            error = ContactsError.limitExceeded(
                "addressBookBin", maximum: Int(clamping: most), reason: SpaceWords.binFull(most))
        case .change(.store(let error)): return services.problems.unavailable(call, error)
        }
        services.groupCommit.fail(error, call)
    }
}
