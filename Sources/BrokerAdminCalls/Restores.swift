import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Restores a user's address book and grants from a backup, for `BeginRestore`, `RestoreLines` and `FinishRestore`. The
/// caller's authorization must be checked first. It lives on the event loop.
///
/// The lines go into a book of their own. Only the last call changes something: one transaction replaces the content of
/// the user's book, and the grants follow in the same commit of the access database.
package final class Restores: UsesServices {
    package let services: BrokerServices
    /// The running restores, by UID, each with the connection's session. There is one at a time for each user, because
    /// each may need as much space as a full address book.
    private var running: [UInt32: (stage: RestoreStage, session: CallerSession)] = [:]
    /// For the names of their folders.
    private var count = 0

    package init(services: BrokerServices) { self.services = services }

    /// Deletes what earlier runs left.
    package func removeLeftovers() { BookCopy.removeAll(in: books.transferFolder("")) }

    package func begin(_ parameters: BeginRestoreParameters, _ call: Call, _ session: CallerSession)
        throws(VarlinkError)
    {
        let uid = parameters.users.one(session.caller)
        guard !books.isRemoving(uid) else {
            throw AdminError.invalidValue("uid", reason: "this user's data is being deleted")
        }
        guard !parameters.isAuthentic || session.caller.uid == 0 else {
            throw AdminError.invalidValue("isAuthentic", reason: "only root may say that a backup is authentic")
        }
        end(uid, session)
        guard running[uid] == nil else {
            throw AdminError.invalidValue("uid", reason: "another restore for this user is running")
        }
        let seal = parameters.contactsOnly || parameters.isAuthentic ? nil : try key()
        let (known, userName) = (access.owners.name(of: uid) ?? access.owners.userNames[uid], surroundings.userName)
        // The user database may be slow.
        surroundings.loop.run(on: longReads.queue(of: uid)) {
            known ?? userName(uid)
        } then: { [self] name in
            guard !call.isOver, running[uid] == nil else { return call.fail(.invalidParameter("uid")) }
            count += 1
            let stage = RestoreStage(
                owner: StoreOwner(uid: uid, name: name.get()), contactsOnly: parameters.contactsOnly, seal: seal,
                folder: books.transferFolder("restore-\(uid)-\(count)"), language: surroundings.language,
                region: surroundings.region,
                space: services.limits.space)
            running[uid] = (stage, session)
            call.reply { _ in }
        }
    }

    /// Ends the restores of a connection that has closed.
    package func end(_ session: CallerSession) { running = running.filter { $0.value.session !== session } }

    private func end(_ uid: UInt32, _ session: CallerSession) {
        if running[uid]?.session === session { running[uid] = nil }
    }

    private func key() throws(VarlinkError) -> BackupSeal {
        do throws(AccessStoreError) {
            guard let key = try BackupKey.read(in: surroundings.stateFolder, creating: false),
                let seal = BackupSeal(key: key)
            else {
                throw AccessStoreError.unavailable(
                    reason: "this contact broker has no backup.key, so it cannot tell whether the backup is authentic")
            }
            return seal
        } catch {
            throw AdminError.invalidValue("code", reason: "\(error)")
        }
    }

    package func read(_ parameters: RestoreLinesParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError)
    {
        let uid = parameters.users.one(session.caller)
        let stage = try stage(uid, session)
        let (lines, code, seconds) = (parameters.lines, parameters.code, services.seconds)
        let numbers =
            stage.contactsOnly
            ? access.takeRecordNumbers(lines.count, now: surroundings.now()) : lines.map { _ in RecordNumber(0) }
        surroundings.loop.run(on: longReads.queue(of: uid)) { () throws(VarlinkError) in
            // The lines as they were received. To copy them takes milliseconds.
            try stage.read(lines.map { Array($0.text) }, code: code, numbers: numbers, at: seconds)
        } then: { result in
            switch result {
            case .success: call.reply { _ in }
            case .failure(let error): call.fail(error)
            }
        }
    }

    func finish(
        _ users: UserParameters, replaces: Bool, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let uid = users.one(session.caller)
        let stage = try stage(uid, session)
        surroundings.loop.run(on: longReads.queue(of: uid)) { () throws(VarlinkError) in
            try stage.end()
        } then: { [self] result in
            switch result {
            case .failure(let error): call.fail(error)
            case .success(let contents):
                books.with(uid, creating: true, named: access.owners.name(of: uid)) { [self] opened in
                    switch opened {
                    case .success(let book?):
                        replace(book, uid, by: stage, contents, replaces: replaces, call, session)
                    case .success(nil): unavailable(call, "it could not be created")
                    case .failure(let error): unavailable(call, "\(error)")
                    }
                }
            }
        }
    }

    private func stage(_ uid: UInt32, _ session: CallerSession) throws(VarlinkError) -> RestoreStage {
        guard let (stage, owner) = running[uid], owner === session else {
            throw AdminError.invalidValue("uid", reason: "no restore for this user has begun on this connection")
        }
        return stage
    }

    private func unavailable(_ call: Call, _ reason: String) {
        call.fail(AdminError.invalidValue("state", reason: "the address book cannot be replaced: \(reason)"))
    }

    private func replace(
        _ book: ContactsStore, _ uid: UInt32, by stage: RestoreStage, _ contents: RestoreStage.Contents,
        replaces: Bool, _ call: Call, _ session: CallerSession
    ) {
        var isNew = false
        let source = AdministratorSource(session)
        let principal = Principal(uid: uid, strength: session.caller.strength, app: session.caller.app)
        let save = PendingSave(
            session: session, principal: principal,
            addsContacts: false, count: contents.records.count, photographed: contents.photographed,
            decide: { [self] in
                // The notice of the save that follows contains this number, so that it survives a crash.
                access.skipRecordNumbers(through: RecordNumber(stage.highestRecord))
                isNew = access.owners.knowsNothing(of: uid)
                access.forgetAllDeleted(uid: uid, at: books.moment(of: uid))
                var about = SaveContents()
                about.count = contents.records.count
                about.detail = source.detail("restored from the backup of \(contents.header.time)", for: uid)
                return PendingSave.Write(
                    principal: principal,
                    contents: about, changesGroups: true
                ) { (book, entry, seconds) throws(PendingSave.Failure) in
                    do throws(ChangeError) {
                        return try book.replace(
                            byBookIn: stage.folder, by: .nobody, at: seconds, outbox: entry,
                            mustBeEmpty: !replaces)
                    } catch {
                        throw .change(error)
                    }
                }
            },
            done: { [self] result in
                switch result {
                case .success(let made):
                    end(uid, session)
                    replaced(made, uid, isNew: isNew, contents, source, call)
                case .failure(let failure): failed(failure, call)
                }
            })
        saves.run(save, in: book)
    }

    private func replaced(
        _ made: PendingSave.Made, _ uid: UInt32, isNew: Bool, _ contents: RestoreStage.Contents,
        _ source: AdministratorSource, _ call: Call
    ) {
        let deleted = Set(made.changes.filter { $0.kind == .deleteContact }.map(\.record))
        access.drop(deleted, uid: uid, at: books.moment(of: uid))
        let counts = RestoredGrants(services: services).restore(contents, of: uid, isNew: isNew, source)
        groupCommit.record(
            .restore, uid: uid, { $0.count = contents.records.count },
            detail: source.detail("backup of \(contents.header.time)", for: uid))
        groupCommit.replyOnDisk(call) {
            $0.member("user", contents.header.user)
            $0.member("time", contents.header.time)
            $0.member("contacts", contents.records.count)
            $0.member("removed", deleted.count)
            $0.member("damaged", contents.damaged)
            $0.member("restored", counts.restored)
            $0.member("lowered", counts.lowered)
            $0.member("asking", counts.asking)
        }
    }

    private func failed(_ failure: PendingSave.Failure, _ call: Call) {
        switch failure {
        case .change(.hasContacts(let count)):
            call.fail(
                AdminError.invalidValue(
                    "replaces",
                    reason: "the address book has \(count == 1 ? "1 contact" : "\(count) contacts"), which would be "
                        + "replaced"))
        case .change(let error): unavailable(call, "\(error)")
        case .unavailable: unavailable(call, "too many saves wait")
        case .accessDenied, .mergedTooLarge: unavailable(call, "it was refused")
        }
    }
}
