import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink
import Dispatch

/// Writes backups of a user's address book and grants, for `BackUp`. The caller's authorization must be checked first.
struct BackUps: UsesServices {
    let services: BrokerServices

    func backUp(_ users: UserParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.more else { throw .expectedMore }
        let uid = users.one(session.caller)
        guard !books.isRemoving(uid) else {
            throw AdminError.invalidValue("uid", reason: "this user's data is being deleted")
        }
        books.with(uid, named: access.owners.name(of: uid)) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(let book): copy(hasBook: book != nil, uid, call, session)
            }
        }
    }

    private func copy(hasBook: Bool, _ uid: UInt32, _ call: Call, _ session: CallerSession) {
        let (folder, scratch) = (books.folder(of: uid), books.transferFolder("backup-\(uid)"))
        let (state, userName) = (surroundings.stateFolder, surroundings.userName)
        // The grants of the same moment: a contact that is granted later is not in the copy.
        let apps = access.backedUpApps(of: uid)
        let name = access.owners.name(of: uid)
        surroundings.loop.run(on: books.queue(of: uid)) { () throws(AccessStoreError) in
            guard let key = try BackupKey.read(in: state, creating: true), let seal = BackupSeal(key: key) else {
                throw .unavailable(reason: "the key for backups cannot be read")
            }
            do throws(StoreError) {
                let copy = hasBook ? try BookCopy(of: folder, in: scratch) : nil
                return (name ?? userName(uid), seal, copy, try copy?.count() ?? 0)
            } catch {
                throw .unavailable(reason: "\(error)")
            }
        } then: { result in
            guard !call.isOver else { return }
            switch result {
            case .failure(let error): call.fail(AdminError.invalidValue("state", reason: "\(error)"))
            case .success((let name, let seal, let copy, let count)):
                groupCommit.record(
                    .backup, uid: uid, { $0.count = count },
                    detail: AdministratorSource(session).detail(
                        apps.count == 1 ? "1 app" : "\(apps.count) apps", for: uid))
                BackUp(
                    call: call, session: session, seal: seal, copy: copy, apps: apps, uid: uid, name: name,
                    services: services
                ).begin()
            }
        }
    }
}

/// One call of `BackUp`, from the first line to the last. The next lines are read once the caller has taken the previous
/// ones.
private final class BackUp {
    private let call: Call
    private let session: CallerSession
    private var seal: BackupSeal
    private let copy: BookCopy?
    private let apps: [BackedUpApp]
    private let uid: UInt32
    private let name: String
    private let services: BrokerServices
    private var cards = 0

    /// The person's own view of their book.
    private static let disclosure = Disclosure.forPerson(keys: .all)
    private static let partsPerReply = 1_000

    init(
        call: Call, session: CallerSession, seal: BackupSeal, copy: BookCopy?, apps: [BackedUpApp], uid: UInt32,
        name: String, services: BrokerServices
    ) {
        self.call = call
        self.session = session
        self.seal = seal
        self.copy = copy
        self.apps = apps
        self.uid = uid
        self.name = name
        self.services = services
    }

    func begin() {
        send([BackupFormat.header(user: name, uid: uid, seconds: services.seconds)]) { self.next() }
    }

    private func next() {
        guard let copy else { return end() }
        guard !services.books.isRemoving(uid) else { return call.fail(ContactsError.storeUnavailable) }
        let bytes = services.limits.bytesPerIteration
        services.surroundings.loop.run(on: Self.queue) { () throws(StoreError) in
            try copy.next(Self.partsPerReply, bytes: bytes).compactMap { part in
                switch part {
                case .row(let row): BackupFormat.line(row)
                case .card(let card): BackupFormat.line(card, by: Self.disclosure)
                }
            }
        } then: { [self] result in
            guard !call.isOver else { return }
            switch result {
            case .failure(let error):
                services.problems.note(error, of: uid)
                call.fail(ContactsError.storeUnavailable)
            case .success(let lines) where lines.isEmpty: end()
            case .success(let lines):
                cards += lines.count { $0.hasContact }
                send(lines) { self.next() }
            }
        }
    }

    private static let queue = DispatchQueue(label: "backups", attributes: .concurrent)

    private func end() {
        var lines = apps.flatMap(BackupFormat.lines)
        lines.append(BackupFormat.end(cards: cards, damaged: copy?.damaged ?? 0))
        sendLast(lines[...])
    }

    /// Sends the last lines in replies of bounded size.
    private func sendLast(_ lines: ArraySlice<BackupLine>) {
        var size = 0
        let first = lines.prefix { line in
            defer { size += line.size }
            return size < services.limits.bytesPerIteration
        }
        let rest = lines.dropFirst(first.count)
        send(Array(first), then: rest.isEmpty ? nil : { self.sendLast(rest) })
    }

    /// - Parameter next: continues after the caller has taken these lines; `nil` after the last ones.
    private func send(_ lines: [BackupLine], then next: (() -> Void)?) {
        guard let code = seal.seal(lines) else { return call.fail(ContactsError.storeUnavailable) }
        let loop = services.surroundings.loop
        var writer = DisclosedWriter(reservingCapacity: lines.reduce(128) { $0 + $1.size + 1 })
        writer.member("lines", lines)
        writer.member("code", code)
        services.groupCommit.disclose(
            writer.replyOnRecord(), to: call, session, continues: next != nil,
            then: next.map { next in { [call] in call.whenWritable { loop.later(next) } } })
    }
}
