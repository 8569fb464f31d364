import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// `PutBack` of the administrator's socket. The caller's authorization must be checked first.
struct PutBacks: UsesServices {
    let services: BrokerServices

    private var puttingBack: PuttingBack { PuttingBack(services: services) }

    func putBack(_ parameters: PutBackParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let uid = parameters.users.one(session.caller)
        try ListedChanges.checkNames(parameters.looksAtNames, of: uid, session)
        let request = try Self.request(parameters)
        if parameters.looksAtNames { ListedChanges(services: services).recordNames(of: uid, session) }
        books.with(uid) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): call.fail(Self.nothing)
            case .success(let book?): plan(request, parameters, uid, book, call, session)
            }
        }
    }

    static let nothing = AdminError.invalidValue("save", reason: "the bin has nothing of that")

    /// - Parameter parameters: with ``PutBackParameters/contact``, the request is for the save until the contact is found.
    private static func request(_ parameters: PutBackParameters) throws(VarlinkError) -> PutBackRequest {
        let since = try AuditQueries.time(parameters.since, "since").map { $0 / 1_000_000 }
        switch (parameters.save, parameters.app, since) {
        case (let save?, nil, nil): return .save(save)
        case (nil, let app?, let since?) where parameters.contact == nil:
            return .app(app, strength: parameters.strength?.rawValue, since: since)
        default:
            throw AdminError.invalidValue("save", reason: "must be given, or else app and since without contact")
        }
    }

    private func plan(
        _ request: PutBackRequest, _ parameters: PutBackParameters, _ uid: UInt32, _ book: ContactsStore, _ call: Call,
        _ session: CallerSession
    ) {
        surroundings.loop.run(on: books.queue(of: uid)) { () throws(StoreError) in
            try Self.plan(request, parameters, book)
        } then: { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(.failure(let error)): call.fail(error)
            case .success(.success(let plan)) where parameters.dryRun:
                puttingBack.reply(
                    plan.result, made: nil, names: parameters.names ? plan.named : nil, call, session)
            case .success(.success(let plan)): save(plan, parameters, uid, book, call, session)
            }
        }
    }

    private static func plan(
        _ request: PutBackRequest, _ parameters: PutBackParameters, _ book: ContactsStore
    ) throws(StoreError) -> Result<PuttingBack.Plan, VarlinkError> {
        var request = request
        if let name = parameters.contact, case .save(let save) = request {
            switch try contact(named: name, in: save, book, instead: "put back the whole save") {
            case .success(let record): request = .contact(record, save: save)
            case .failure(let error): return .failure(error)
            }
        }
        let plan = try PuttingBack.Plan(request, isForced: parameters.force, names: parameters.names, book)
        return plan.result.items.isEmpty ? .failure(nothing) : .success(plan)
    }

    /// Returns the contact of a save that has this whole name, or else the error.
    ///
    /// - Parameter instead: what to do if there are several.
    static func contact(
        named name: String, in save: Int64, _ book: ContactsStore, instead: String
    ) throws(StoreError) -> Result<RecordNumber, VarlinkError> {
        let found = try book.contactsInBin(of: save, limit: .max).filter {
            $0.contact.flatMap { Contact($0, keys: .names) }?.isCalled(name) ?? false
        }
        guard found.count == 1 else {
            return .failure(
                AdminError.invalidValue(
                    "contact",
                    reason: found.isEmpty
                        ? "no contact of this save has that whole name"
                        : "\(found.count) contacts of this save have that name; \(instead)"))
        }
        return .success(found[0].record)
    }

    private func save(
        _ plan: PuttingBack.Plan, _ parameters: PutBackParameters, _ uid: UInt32, _ book: ContactsStore, _ call: Call,
        _ session: CallerSession
    ) {
        guard parameters.many || services.putBackBound.count(plan.records.count, of: uid, by: session.caller.uid) else {
            return call.fail(
                AdminError.invalidValue(
                    "many",
                    reason: "more than \(services.limits.contactsWithoutPassword) contacts in a day need the password"))
        }
        let detail = AdministratorSource(session).detail("put back", for: uid)
        puttingBack.save(plan, isForced: parameters.force, uid, book, call, session, detail: detail) {
            AdminError.invalidValue($0 == .bookFull ? "state" : "save", reason: $1)
        }
    }
}

extension Contact {
    /// Whether a text has the words of the contact's name, or is its organization, in any case.
    fileprivate func isCalled(_ text: String) -> Bool {
        let words = { (text: String) in text.lowercased().split { $0.isWhitespace }.sorted() }
        let wanted = words(text)
        return [[givenName, familyName], [givenName, middleName, familyName], [organizationName]].contains {
            wanted == words($0.joined(separator: " ")) && !wanted.isEmpty
        }
    }
}
