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

/// One call of `SaveContacts`, which saves all of its steps or none, or of `TakeBack`, whose steps come from the bin.
/// ``Saves`` writes the book.
struct Save: PermittedCall {
    let call: Call
    let session: CallerSession
    private let steps: [SaveContactsParameters.Change]
    private let author: String
    /// Whether the person may be asked.
    private let mayAsk: Bool
    /// The group of saves that the save is in; `nil` if it cannot be taken back.
    private let group: SaveGroup?
    /// What `TakeBack` takes back; `nil` for `SaveContacts`.
    let takesBack: TakeBackParameters?
    /// What was found of it.
    var found: InverseSave??
    /// The changes that take it back. They are looked up again if the book changes before they are made.
    var inverse: InverseSave?
    var asked = Asked.notYet
    /// The contacts of the steps, if another thread has decoded them.
    private var decoded: [Result<WireContact, ContactError>?]?
    /// The steps read so far.
    private var reader: SaveSteps?
    /// What the steps are read with, beside what the app may change: first nothing, then each right that the person could
    /// allow, until the steps can be made.
    private var raised = ChangeRight.none
    /// The error of a save that the app's own right refuses.
    private var refusal: VarlinkError?
    /// Whether the bin has no room for what the contacts were, so that the person must allow that they cannot be put back.
    private var isIrreversible = false
    /// The changes that the person is asked about, and the person's own card then.
    private var shown: (changes: SaveChanges, me: RecordNumber?)?
    /// Of the contacts that the save changes or deletes, those that count for `Grants.changesMany(_:by:)`. They were looked up for
    /// the first ones.
    private var counted: (of: Set<RecordNumber>, Set<RecordNumber>)?

    init(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        (self.call, self.session) = (call, session)
        let parameters = try SaveContactsParameters(call.parameters)
        (steps, author, mayAsk) = (parameters.changes, parameters.author ?? "", parameters.mayAsk)
        group = parameters.group.map { SaveGroup(token: $0, label: parameters.label) }
        takesBack = nil
    }

    init(takingBack parameters: TakeBackParameters, _ call: Call, _ session: CallerSession) {
        (self.call, self.session) = (call, session)
        (steps, author, mayAsk, takesBack) = ([], "", parameters.mayAsk, parameters)
        group = parameters.newGroup.map {
            SaveGroup(token: $0, label: parameters.label, takesBack: parameters.group)
        }
    }

    var createsBook: Bool { steps.contains { [.add, .addContainer].contains($0.operation) } }

    mutating func prepare(_ services: BrokerServices) { services.recovery.recordUndelivered() }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        if case .answered(let outcome) = asked, let shown, let book = context.book {
            guard case .allowed(let asOf, let withPassword) = outcome else {
                throw refused(.call(refusal ?? Self.notWritable), services)
            }
            write(
                shown.changes, to: book, context,
                Allowed(
                    asOf: asOf, me: shown.me, withPassword: withPassword, right: raised,
                    isIrreversible: isIrreversible), services)
            return .done
        }
        if takesBack != nil, let step = try lookUp(context, services) { return step }
        // Decoding a photo takes several milliseconds.
        if decoded == nil, call.parameters.documentSize >= CallFrame.long {
            return .wait(
                for: .job(on: Self.decoding) { [steps] in
                    steps.map(SaveSteps.decoded)
                } keep: { call, decoded in
                    call.decoded = decoded.get()
                })
        }
        // A long save must not delay other callers.
        guard let changes = try readOrRecord(context, services) else { return .wait(for: .turn) }
        if let book = context.book {
            if let wait = count(changes, context, book, services) { return wait }
            let isMany = services.grants.changesMany(counted?.1 ?? [], by: session.caller)
            if isMany, !mayBeAsked(services.grants.accessForCall(by: session)) {
                throw refused(.call(refusal ?? Self.notWritable), services)
            }
            if isMany || isIrreversible || raised > context.changes {
                let me = try context.orFail { (_) throws(StoreError) in try book.me() }
                let save = ProposedSave(
                    changes.changes, me: me, counted: counted?.1 ?? [], isIrreversible: isIrreversible)
                shown = (changes, me)
                let right = max(context.changes, raised)
                return .wait(for: .answer(to: Question(kind: .change, changes: right, save: save)))
            }
        }
        if let book = context.book, changes.stepCount > 0 || takesBack != nil {
            write(changes, to: book, context, nil, services)
        } else {
            let token = try context.orFail { (context) throws(StoreError) in try services.places.token(context) }
            Self.reply(PendingSave.Made(), Array(repeating: "", count: changes.stepCount), token ?? "", call, services)
        }
        return .done
    }

    private static let decoding = DispatchQueue(label: "long saves", attributes: .concurrent)

    private static let notWritable = ContactsError.recordNotWritable(at: 0, identifier: nil)

    /// Reads the steps, and records a refusal if one of them cannot be made. If only what the app may change stands in the
    /// way, they are read again with a greater right.
    ///
    /// - Returns: the changes of all steps; `nil` if they must be read on in a later event loop iteration.
    private mutating func readOrRecord(
        _ context: ReadContext, _ services: BrokerServices
    ) throws(ReadContext.Failure) -> SaveChanges? {
        var raisedContext = context
        raisedContext.changes = max(context.changes, raised)
        do throws(ReadContext.Failure) {
            return try read(raisedContext, services)
        } catch {
            guard case .call(let error) = error, Self.isRefusedChange(error) else { throw refused(error, services) }
            refusal = refusal ?? error
            guard raise(beyond: raisedContext.changes, services) else {
                throw refused(.call(refusal ?? error), services)
            }
            return nil
        }
    }

    private static func isRefusedChange(_ error: VarlinkError) -> Bool {
        error.name.hasSuffix(".RecordNotWritable") || error.name.hasSuffix(".ParentContainerNotWritable")
    }

    /// Reads the steps with the next right from now on. Returns `false` if the person may not be asked, or could not allow
    /// more.
    private mutating func raise(beyond right: ChangeRight, _ services: BrokerServices) -> Bool {
        let known = services.grants.accessForCall(by: session)
        guard mayBeAsked(known), let next = ChangeRight.allCases.first(where: { $0 > right }),
            known.ruling.leavesToPerson(next)
        else { return false }
        (raised, reader) = (next, nil)
        return true
    }

    private func mayBeAsked(_ known: CallerAccess) -> Bool {
        guard case .notYet = asked else { return false }
        return mayAsk && known.mayPrompt
    }

    /// Looks up which contacts of the save count, on the user's worker.
    private func count(
        _ changes: SaveChanges, _ context: ReadContext, _ book: ContactsStore, _ services: BrokerServices
    ) -> Step<Self>? {
        let changed = changes.changedContacts
        guard services.grants.countsChanges(by: session.caller), !changed.isEmpty, counted?.of != changed else {
            return nil
        }
        let (mark, since) = (context.identifiers.mark, services.grants.changePeriodStart)
        return .wait(
            for: .read(book) { (book) throws(StoreError) in
                try book.contacts(among: changed, addedBy: mark, since: since)
            } keep: { call, added in
                call.counted = (changed, changed.subtracting(added))
            })
    }

    /// Records that the save is refused. An app that tries to delete what it may not leaves a trace.
    private func refused(_ failure: ReadContext.Failure, _ services: BrokerServices) -> ReadContext.Failure {
        guard case .call(let refusal) = failure else { return failure }
        let reason = refusal.name.split(separator: ".").last ?? ""
        services.groupCommit.record(
            .refusal, of: session.caller, { $0.status = services.grants.effectiveAccess(of: session).effective.status },
            detail: "\(call.name), \(reason)")
        return failure
    }

    /// - Returns: the changes of all steps; `nil` if steps remain, which a later event loop iteration reads.
    private mutating func read(
        _ context: ReadContext, _ services: BrokerServices
    ) throws(ReadContext.Failure) -> SaveChanges? {
        if let inverse {
            let changes = SaveChanges(inverse)
            guard changes.mayBeMade(context) else { throw .call(Self.notWritable) }
            return changes
        }
        var reader =
            self.reader
            ?? SaveSteps(steps, decoded ?? [], context, mostCards: services.limits.cardsPerSave) {
                services.access.takeRecordNumbers($0, now: services.surroundings.now())
            }
        // Drops the second reference to the reader's arrays. With two references, appending would copy the
        // arrays.
        self.reader = nil
        if let changes = try reader.readMore(context, until: .now + services.limits.timePerSave) { return changes }
        self.reader = reader
        return nil
    }

    /// What the person allowed.
    private struct Allowed {
        /// The book's last change when the person saw the save.
        let asOf: Int64
        /// The person's own card when they saw it.
        let me: RecordNumber?
        let withPassword: Bool
        /// The right that the save needs.
        let right: ChangeRight
        /// Whether the person was told that the save cannot be put back.
        let isIrreversible: Bool
    }

    /// - Parameter allowed: `nil` if the person was not asked.
    private func write(
        _ changes: SaveChanges, to book: ContactsStore, _ context: ReadContext, _ allowed: Allowed?,
        _ services: BrokerServices
    ) {
        let identifiers = context.identifiers
        var isMany = false
        let (save, call, session) = (self, call, session)
        let pending = PendingSave(
            session: session, principal: context.principal, addsContacts: !changes.addedContacts.isEmpty,
            count: changes.changes.count, photographed: changes.photographed,
            decide: {
                // An approved save is made only if its caller still waits.
                guard allowed == nil || !call.isOver else { return nil }
                if allowed?.withPassword != true {
                    // Other saves have been counted since.
                    isMany = services.grants.changesMany(save.counted?.1 ?? [], by: session.caller)
                    guard !isMany else { return nil }
                }
                return save.decide(changes, book, identifiers, allowed, services)
            },
            done: { result in
                if case .success = result, allowed?.withPassword != true {
                    services.grants.noteChanged(save.counted?.1 ?? [], by: session.caller)
                }
                switch result {
                case .success(let made) where save.takesBack != nil:
                    let back = Set(made.changes.lazy.filter { $0.kind == .addContact }.map(\.record))
                    let before = (save.inverse?.back ?? []).subtracting(back)
                    // Those that came back before a crash were not deleted again meanwhile.
                    let there = (try? book.existing(before.prefix(ParameterLimits.changes))) ?? []
                    PuttingBack(services: services).rejoin(back.union(there), session.caller.uid, book)
                    save.replyTakenBack(identifiers, services) { answer in services.saves.answer(made, answer) }
                case .success(let made):
                    let token = services.places.token(for: session, book, identifiers)
                    Self.reply(made, changes.names(identifiers), token ?? "", call, services)
                case .failure(.change(.changedMeanwhile)): save.decideAnew(asked: .notYet, services)
                // What the app sees has changed since the person was asked.
                case .failure(.accessDenied) where isMany: save.decideAnew(asked: .notYet, services)
                case .failure(.accessDenied) where allowed != nil: save.decideAnew(asked: .tooLate, services)
                case .failure(.accessDenied) where save.takesBack != nil: save.decideAnew(asked: .tooLate, services)
                case .failure(.change(.binFull(let most))): save.askWithoutBin(most, services)
                case .failure(.change(.emptiesContact(let index))):
                    save.askToEmpty(
                        ContactsError.recordNotWritable(at: changes.step(ofChange: index), identifier: nil), services)
                case .failure(let failure): save.fail(failure, changes, services)
                }
            })
        services.saves.run(pending, in: book)
    }

    /// Decides the save as things are now, because they are not any more as the person saw them.
    private func decideAnew(asked: Asked, _ services: BrokerServices) {
        // What the person allowed is saved only for a caller that still waits.
        guard !call.isOver else { return }
        var save = self
        (save.asked, save.raised, save.reader, save.shown, save.inverse) = (asked, .none, nil, nil, nil)
        WaitingCall.run(save, services)
    }

    /// Asks the person about a save that takes the names, or all numbers and addresses, from a contact. Only a right to
    /// delete allows that.
    private func askToEmpty(_ refusal: VarlinkError, _ services: BrokerServices) {
        var save = self
        // What the person allowed before is shown again.
        (save.refusal, save.asked, save.shown) = (refusal, .notYet, nil)
        guard raised < .all, save.raise(beyond: .edit, services) else {
            if case .call(let error) = refused(.call(refusal), services) { services.groupCommit.fail(error, call) }
            return
        }
        WaitingCall.run(save, services)
    }

    /// Asks the person about a save that the bin has no room for.
    private func askWithoutBin(_ most: Int64, _ services: BrokerServices) {
        var save = self
        // What the person allowed before is shown again.
        (save.asked, save.raised, save.reader, save.shown, save.isIrreversible) = (.notYet, .none, nil, nil, true)
        save.refusal = ContactsError.limitExceeded(
            "addressBookBin", maximum: Int(clamping: most), reason: SpaceWords.binFull(most))
        guard !isIrreversible, save.mayBeAsked(services.grants.accessForCall(by: session)) else {
            return services.groupCommit.fail(save.refusal ?? Self.notWritable, call)
        }
        WaitingCall.run(save, services)
    }

    /// Decides the save again. Returns the write, or `nil` if any of the changes is not permitted.
    private func decide(
        _ changes: SaveChanges, _ book: ContactsStore, _ identifiers: IdentifierCipher, _ allowed: Allowed?,
        _ services: BrokerServices
    ) -> PendingSave.Write? {
        guard var context = services.grants.readContext(of: session, book, under: identifiers) else { return nil }
        // Without this right, the values that an app writes must not link other cards, nor join groups that other apps have.
        // A save that the person allowed once does not give it: the prompt shows the save, and not what follows from it.
        let isEvidence = allowed == nil && context.permissions.mayLink
        if let allowed, services.grants.ruling(of: session).leavesToPerson(allowed.right) {
            context.changes = max(context.changes, allowed.right)
        }
        guard changes.mayBeMade(context), mayReturn(changes.changes.returnedContacts, context, services) else {
            return nil
        }
        let access: AuthorAccess =
            context.permissions.seesEverythingWhole ? .full : .limited(seeing: context.permissions.keys)
        var terms = SaveTerms()
        terms.kept = changes.undeletable(context.permissions)
        terms.conditions = changes.conditions(context)
        terms.unchangedSince = [allowed?.asOf, inverse?.asOf].compactMap(\.self).min()
        terms.group = group
        if let inverse, !inverse.hasMore, !inverse.hasConflicts { terms.takesBackAll = takesBack?.group }
        if let allowed, changes.setsMe { terms.me = .some(allowed.me) }
        terms.isIrreversible = allowed?.isIrreversible == true
        let author = ChangeAuthor(app: identifiers.mark, name: author)
        let app = SaveAuthor(context.principal)
        return PendingSave.Write(
            principal: context.principal,
            contents: changes.contents(isKeptToSingle: context.disclosure.scope != .all),
            changesGroups: changes.changesGroups
        ) { [terms] (book, entry, seconds) throws(PendingSave.Failure) in
            do throws(ChangeError) {
                return try book.apply(
                    changes.changes, by: author, at: seconds, isEvidence: isEvidence, access: access, terms: terms,
                    of: app,
                    outbox: entry)
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

    private func fail(_ failure: PendingSave.Failure, _ changes: SaveChanges, _ services: BrokerServices) {
        let error: VarlinkError
        switch failure {
        case .unavailable, .mergedTooLarge, .change(.hasContacts), .change(.changedMeanwhile), .change(.emptiesContact),
            .change(.binFull):
            // The last three are handled before.
            error = ContactsError.storeUnavailable
        case .accessDenied: error = services.grants.policy.accessDenied
        case .change(.recordDoesNotExist(let index)):
            error = ContactsError.recordDoesNotExist(at: changes.step(ofChange: index))
        case .change(.recordChanged(let step)): error = ContactsError.recordChanged(at: step)
        case .change(.parentRecordDoesNotExist(let index)):
            error = ContactsError.parentRecordDoesNotExist(at: changes.step(ofChange: index))
        case .change(.containmentCycle(let index)):
            error = ContactsError.containmentCycle(at: changes.step(ofChange: index))
        case .change(.tooManyLinked):
            error = ContactsError.limitExceeded("linkedContacts", maximum: StoreLimits.linkedCards)
        case .change(.containerInUse(let index)):
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
        case .change(.store(let error)): return services.problems.unavailable(call, error)
        }
        services.groupCommit.fail(error, call)
    }
}
