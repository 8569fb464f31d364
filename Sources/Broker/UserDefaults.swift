import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import Dispatch
import JSON
import Varlink

/// What the user prefers: in which order names are listed and shown, and where they live.
extension Broker {
    func getUserDefaults(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(firstName(call.parameters)) }
        read(call, session) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            let settings = reading.book?.settings ?? BookSettings()
            reply(to: call, session, reading, count: 0) {
                $0.member("sortOrder", SortOrder(settings.sortOrder).rawValue)
                $0.member("displayOrder", SortOrder(settings.displayOrder).rawValue)
                $0.member("countryCode", settings.countryCode)
            }
        }
    }

    func setUserDefaults(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try SetUserDefaultsParameters(call.parameters)
        // Decided as a reading: who may not read has nothing to prefer.
        read(call, session) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            guard reading.disclosure.scope == .all else {
                turn.record(.refusal, of: session.caller, { $0.status = .limited }, detail: String(call.name))
                throw .call(ContactsError.accessDenied)
            }
            books.with(session.caller.uid, creating: true) { [weak self] result in
                self?.set(parameters, in: result, call, session)
            }
        }
    }

    private func set(
        _ parameters: SetUserDefaultsParameters, in result: Result<ContactsStore?, StoreError>, _ call: Call,
        _ session: CallerSession
    ) {
        let uid = session.caller.uid
        guard !call.isOver else { return }
        // The book may have been opened first, and meanwhile something taken back.
        let known = standing(of: session)
        guard case .permit(let disclosure) = decideAccess(known.standing, mayAsk: false),
            disclosure.scope == .all
        else { return refuse(call, session, .denied, known.standing.status) }
        guard case .success(let book?) = result else {
            if case .failure(let error) = result { return unavailable(call, error) }
            return turn.fail(ContactsError.storeUnavailable, call)
        }
        guard beginWaitingToSave(uid) else { return turn.fail(ContactsError.storeUnavailable, call) }
        let loop = surroundings.loop
        let bound = LoopBound((self, call, session), loop: loop)
        books.queue(of: uid).async {
            // Read here, where writes come one after the other: two apps may each change a part.
            var settings = book.settings
            settings.sortOrder = parameters.sortOrder?.stored ?? settings.sortOrder
            settings.displayOrder = parameters.displayOrder?.stored ?? settings.displayOrder
            settings.countryCode = parameters.countryCode ?? settings.countryCode
            let failure: StoreError?
            do throws(StoreError) {
                try book.set(settings)
                failure = nil
            } catch {
                failure = error
            }
            loop.execute {
                let (broker, call, session) = bound.value
                broker.cancelWaitingToSave(session.caller.uid)
                if let failure { return broker.unavailable(call, failure) }
                broker.turn.record(.save, of: session.caller, { $0.count = 0 }, detail: String(call.name))
                broker.turn.reply(Array("{}".utf8), to: call)
            }
        }
    }
}

extension SortOrder {
    fileprivate init(_ order: ContactOrder) {
        switch order {
        case .none: self = .none
        case .givenName: self = .givenName
        case .familyName: self = .familyName
        }
    }

    /// `nil` for what is no preference.
    fileprivate var stored: ContactOrder? {
        switch self {
        case .givenName: .givenName
        case .familyName: .familyName
        case .none, .userDefault: nil
        }
    }
}
