import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// `GetBin`, `SetBinDays` and `EmptyBin` of the administrator's socket. The caller's authorization must be checked first.
struct BinChanges: UsesServices {
    let services: BrokerServices

    func get(_ users: UserParameters, _ call: Call, _ session: CallerSession) {
        open(users, call, session) { uid, book in
            run(uid, call) { seconds throws(StoreError) in
                try book.bin(at: seconds)
            } then: {
                reply($0, call)
            }
        }
    }

    func set(_ parameters: SetBinDaysParameters, _ call: Call, _ session: CallerSession) {
        let (days, mayShorten) = (parameters.days, parameters.shorter)
        let wanted = days ?? services.limits.space.binTime / 86_400
        open(parameters.users, call, session) { uid, book in
            run(uid, call) { seconds throws(StoreError) in
                try book.bin(at: seconds).days.days
            } then: { now in
                guard mayShorten || wanted >= now else { return call.fail(Self.needsPassword) }
                let what = "\(wanted) days instead of \(now)" + (wanted < now ? " in 24 hours" : "")
                change(what, uid, call, session) { seconds throws(StoreError) in
                    // Another call may have set more meanwhile.
                    try book.set(binDays: days, mayShorten: mayShorten, at: seconds) ? book.bin(at: seconds) : nil
                } then: { made in
                    if let made { reply(made, call) } else { call.fail(Self.needsPassword) }
                }
            }
        }
    }

    func empty(_ parameters: EmptyBinParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        switch (parameters.save, parameters.contact) {
        case (nil, nil):
            open(parameters.users, call, session) { uid, book in
                change("emptied", uid, call, session) { _ throws(StoreError) in
                    try book.emptyBin()
                } then: {
                    call.reply { _ in }
                }
            }
        case (let save?, let name?):
            let uid = parameters.users.one(session.caller)
            try ListedChanges.checkNames(true, of: uid, session)
            ListedChanges(services: services).recordNames(of: uid, session)
            open(parameters.users, call, session) { uid, book in
                run(uid, call) { _ throws(StoreError) in
                    try PutBacks.contact(named: name, in: save, book, instead: "empty the bin")
                } then: { found in
                    switch found {
                    case .failure(let error): call.fail(error)
                    case .success(let record): remove(record, book, uid, call, session)
                    }
                }
            }
        default: throw AdminError.invalidValue("contact", reason: "must be given with save, and save with it")
        }
    }

    private func remove(
        _ record: RecordNumber, _ book: ContactsStore, _ uid: UInt32, _ call: Call, _ session: CallerSession
    ) {
        change("removed a contact", naming: record, uid, call, session) { _ throws(StoreError) in
            try book.removeFromBin(record)
        } then: { states in
            if states > 0 { call.reply { _ in } } else { call.fail(PutBacks.nothing) }
        }
    }

    private static let needsPassword = AdminError.invalidValue("shorter", reason: "fewer days need the password")

    private func reply(_ bin: (days: BinDays, saves: Int), _ call: Call) {
        call.reply {
            $0.member("days", bin.days.days)
            $0.member("nextDays", bin.days.shorter?.days)
            $0.member("nextAt", bin.days.shorter.map { Timestamp.text(seconds: $0.time) })
            $0.member("saves", bin.saves)
        }
    }

    // MARK: Steps

    private func open(
        _ users: UserParameters, _ call: Call, _ session: CallerSession,
        _ body: @escaping (UInt32, ContactsStore) -> Void
    ) {
        let uid = users.one(session.caller)
        books.with(uid) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil): call.fail(AdminError.invalidValue("uid", reason: "there is no address book yet"))
            case .success(let book?): body(uid, book)
            }
        }
    }

    /// Runs the body on the user's queue.
    private func run<Value: Sendable>(
        _ uid: UInt32, _ call: Call, _ body: @escaping @Sendable (_ seconds: Int64) throws(StoreError) -> Value,
        then: @escaping (Value) -> Void, failed: @escaping () -> Void = {}
    ) {
        surroundings.loop.run(on: books.queue(of: uid)) { [seconds = services.seconds] () throws(StoreError) in
            try body(seconds)
        } then: { result in
            switch result {
            case .failure(let error):
                failed()
                problems.unavailable(call, error)
            case .success(let value): then(value)
            }
        }
    }

    /// Records what is going to be done, and does it once the record is on the disk.
    private func change<Value: Sendable>(
        _ what: String, naming contact: RecordNumber? = nil, _ uid: UInt32, _ call: Call, _ session: CallerSession,
        _ body: @escaping @Sendable (_ seconds: Int64) throws(StoreError) -> Value, then: @escaping (Value) -> Void
    ) {
        func note(_ what: String) {
            groupCommit.record(
                .bin, uid: uid, app: session.caller.app, strength: session.caller.strength,
                { if let contact { ($0.contacts, $0.count) = ([contact], 1) } },
                detail: AdministratorSource(session).detail(what, for: uid))
        }
        let refuse = {
            call.fail(AdminError.invalidValue("state", reason: "the audit cannot be written, so nothing was done"))
        }
        note(what)
        groupCommit.work(
            committed: {
                groupCommit.sync.onDisk { isOnDisk in
                    guard isOnDisk else { return refuse() }
                    run(uid, call, body) {
                        books.checkpointSoon(uid)
                        then($0)
                    } failed: {
                        note("\(what): failed")
                    }
                }
            }, failed: refuse)
    }
}
