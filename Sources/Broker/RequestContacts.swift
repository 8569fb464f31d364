import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import JSON
import Varlink

/// The access button: the person grants single contacts that match what the app searched for.
extension Broker {
    func requestContacts(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try RequestContactsParameters(call.parameters)
        guard parameters.query.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            throw .invalidParameter("query")
        }
        let known = standing(of: session)
        switch decide(.requestContacts, standing: known.standing) {
        case .answerEmpty: answerEmpty(call)
        case .refuse(let denial): refuse(call, session, denial, known.standing.status)
        case .ask(let kind): askForContacts(call, session, parameters, kind, isQuiet: false)
        case .askQuietly(let kind): askForContacts(call, session, parameters, kind, isQuiet: true)
        case .answer, .permit, .wait:
            preconditionFailure("the table asks, refuses or answers empty for requestContacts")
        }
    }

    /// What every prompt that granted nothing answers.
    func answerEmpty(_ call: Call) {
        call.reply { $0.member("identifiers", [String]()) }
    }

    /// Answers what the app can see since the prompt and could not before.
    func answerNewlyGranted(_ outcome: PromptOutcome, _ call: Call, _ session: CallerSession) {
        guard case .granted(let newly) = outcome, !newly.isEmpty, let identifiers = standing(of: session).identifiers
        else { return answerEmpty(call) }
        let names = newly.sorted().map { identifiers.identifier(of: $0, as: .contact) }
        call.reply { $0.member("identifiers", names) }
    }

    private func askForContacts(
        _ call: Call, _ session: CallerSession, _ parameters: RequestContactsParameters, _ kind: PromptKind,
        isQuiet: Bool
    ) {
        if prompts.isSilenced(session.caller) { return answerEmpty(call) }
        // Before anything is looked up: how long the answer takes must not depend on what is in the book.
        do throws(Prompts.Refusal) {
            try prompts.mayAsk(kind, for: session.caller)
        } catch {
            return refuse(call, session, error)
        }
        books.with(session.caller.uid) { [weak self] result in
            guard let self, !call.isOver else { return }
            var hidden: Set<RecordNumber> = []
            if case .granted(let grant) = standing(of: session).standing, case .limited(let granted) = grant.access {
                hidden = granted
            }
            do throws(StoreError) {
                if let book = try result.get() { hidden.formUnion(try ignored(by: parameters, in: book)) }
            } catch {
                return unavailable(call, error)
            }
            let question = Question(
                kind: kind, isQuiet: isQuiet, purpose: parameters.purpose, query: parameters.query,
                caption: parameters.caption?.rawValue, hidden: hidden)
            ask(question, call, session) { [weak self] in self?.answerNewlyGranted($0, call, session) }
        }
    }

    /// Contacts that hold an address or a number that the app said it knows.
    private func ignored(
        by parameters: RequestContactsParameters, in book: ContactsStore
    ) throws(StoreError) -> Set<RecordNumber> {
        let predicates =
            parameters.ignoredEmailAddresses.prefix(limits.ignoredAddresses).map { ContactPredicate.emailAddress($0) }
            + parameters.ignoredPhoneNumbers.prefix(limits.ignoredAddresses).map { .phoneNumber($0) }
        var records: Set<RecordNumber> = []
        for predicate in predicates {
            let query = ContactQuery(
                scope: .all, predicate: predicate, matchKeys: .all, order: .none, after: nil,
                limit: limits.contactsPerTurn, byteLimit: limits.bytesPerTurn, images: [])
            _ = try book.fetch(query) { record, _, _ in records.insert(record) }
        }
        return records
    }

    /// The book cannot be read or written: the app learns that much, the journal the cause.
    func unavailable(_ call: Call, _ error: StoreError) {
        surroundings.log("an address book is unavailable: \(error)")
        turn.fail(ContactsError.storeUnavailable, call)
    }
}
