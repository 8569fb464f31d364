import BrokerAccessStore
import BrokerContactsStore
import BrokerVarlink
import Dispatch

/// The address books that are open, one for each user, and the queue on which each is written. It lives on the loop.
final class Books {
    private enum State {
        case opening([(Result<ContactsStore?, StoreError>) -> Void])
        case open(ContactsStore)
        /// There is none yet; the first save makes it.
        case absent
    }

    let surroundings: Surroundings
    private let access: AccessStore
    private let recovery: SaveRecovery
    private let problems: StoreProblems
    private var states: [UInt32: State] = [:]
    private var queues: [UInt32: DispatchQueue] = [:]
    /// Users whose log is about to be emptied.
    private var forgetting: Set<UInt32> = []
    /// Users whose book was written of late.
    private var resting: [UInt32: any Scheduled] = [:]
    /// Who was read last, and when.
    private var latest: (uid: UInt32, at: Int64) = (.max, 0)
    /// How many connections each user has.
    private var connections: [UInt32: Int] = [:]
    /// Users whose book is about to be closed.
    private var leaving: [UInt32: any Scheduled] = [:]
    /// Users whose book is being taken away.
    private var removing: Set<UInt32> = []
    /// Nothing is opened any more: a question that was still open would write beside the next broker.
    private(set) var isClosed = false

    init(
        surroundings: Surroundings, access: AccessStore, recovery: SaveRecovery,
        problems: StoreProblems
    ) {
        self.surroundings = surroundings
        self.access = access
        self.recovery = recovery
        self.problems = problems
    }

    private var loop: any Loop { surroundings.loop }

    /// The user's own queue: what may take its time with one user's book, one thing after the other.
    func queue(of uid: UInt32) -> DispatchQueue {
        if let queue = queues[uid] { return queue }
        let queue = DispatchQueue(label: "contacts of \(uid)")
        queues[uid] = queue
        return queue
    }

    /// Hands over the user's book: at once if it is open, otherwise when it is. `nil`: there is none.
    ///
    /// - Parameter name: whose book it must be; `nil` is the user's as the system calls them.
    func with(
        _ uid: UInt32, creating: Bool = false, named name: String? = nil,
        _ body: @escaping (Result<ContactsStore?, StoreError>) -> Void
    ) {
        guard !isClosed else { return body(.failure(.unavailable(reason: "the broker is ending"))) }
        guard !removing.contains(uid) else {
            return body(.failure(.unavailable(reason: "everything kept for user \(uid) is being removed")))
        }
        switch states[uid] {
        case .open(let book): body(.success(book))
        case .absent where !creating: body(.success(nil))
        case .opening(let waiting):
            // Who waits for an existing book may get none; whoever would create one asks again then.
            states[uid] = .opening(
                waiting + [
                    { [weak self] result in
                        if creating, case .success(nil) = result {
                            self?.with(uid, creating: true, body)
                        } else {
                            body(result)
                        }
                    }
                ])
        case .absent, nil: open(uid, name, creating: creating, body)
        }
    }

    /// The user's book where nothing has to be waited for, `.some(nil)` where there is none yet; otherwise `nil`.
    func ready(_ uid: UInt32, creating: Bool = false) -> ContactsStore?? {
        guard !isClosed, !removing.contains(uid) else { return nil }
        switch states[uid] {
        case .open(let book): return book
        case .absent where !creating: return .some(nil)
        case .absent, .opening, nil: return nil
        }
    }

    /// To be called before a read. Where one read follows the other, taking the book's lock anew each time would cost
    /// as much as the read: then they see one state of it, for a moment.
    func willRead(_ book: ContactsStore, of uid: UInt32) {
        let now = surroundings.uptime()
        let isBurst = latest.uid == uid && now - latest.at < Self.holdsFor
        latest = (uid, now)
        // A book that cannot be held is read as it is, and says itself what is wrong.
        guard isBurst, (try? book.hold()) ?? false else { return }
        loop.schedule(after: .microseconds(Self.holdsFor)) { book.release() }
    }

    /// Microseconds. Short against what else makes a checkpoint wait.
    private static let holdsFor: Int64 = 20_000

    /// The user's book, if it is open.
    func opened(_ uid: UInt32) -> ContactsStore? {
        if case .open(let book) = states[uid] { book } else { nil }
    }

    /// What the user's book, if it is open, and the clock say now.
    func moment(of uid: UInt32) -> SetMoment {
        SetMoment(change: opened(uid)?.lastChange ?? 0, time: surroundings.seconds)
    }

    private func open(
        _ uid: UInt32, _ name: String?, creating: Bool,
        _ body: @escaping (Result<ContactsStore?, StoreError>) -> Void
    ) {
        states[uid] = .opening([body])
        let folder = folder(of: uid)
        let known = name ?? access.userNames[uid]
        let (region, steps, time) = (
            surroundings.region, surroundings.limits.stepsPerTurn, surroundings.limits.timePerRead.nanoseconds
        )
        let damages = LoopBound(problems, loop: loop)
        loop.run(on: queue(of: uid)) { [loop, userName = surroundings.userName] in
            let name = known ?? userName(uid)
            let opened = Result { () throws(StoreError) -> (book: ContactsStore?, outbox: [OutboxEntry]) in
                let book = try ContactsStore.open(
                    folder: folder, owner: StoreOwner(uid: uid, name: name), creating: creating, region: region,
                    stepsOnLoop: steps, timeOnLoop: time,
                    onDamage: { card in loop.execute { damages.value.note(card, of: uid) } })
                return (book, try book?.outbox() ?? [])
            }
            return (name, opened)
        } then: { [self] found in
            let (name, result) = found.get()
            if known == nil { learn(name, of: uid) }
            opened(uid, result)
        }
    }

    /// A number in place of a name may be a failure that passes.
    private func learn(_ name: String, of uid: UInt32) {
        if access.userNames[uid] == nil, name != "\(uid)" { access.userNames[uid] = name }
    }

    /// Once for all books, and beside them: a save that comes now has work enough until it needs this.
    private static let formsArePrepared: Void = DispatchQueue.global(qos: .utility).async {
        ContactsStore.prepareForms()
    }

    /// Whoever had the book opened has their answer before that begins: it takes a processor and memory.
    private static let prepareAfter = Duration.milliseconds(10)

    private func opened(
        _ uid: UInt32, _ result: Result<(book: ContactsStore?, outbox: [OutboxEntry]), StoreError>
    ) {
        guard case .opening(let waiting) = states[uid] else { return }
        loop.schedule(after: Self.prepareAfter) { _ = Self.formsArePrepared }
        switch result {
        case .success((let book?, let outbox)):
            if !isClosed { recovery.takeOver(outbox, of: uid, isEnding: false) }
            states[uid] = .open(book)
            // What the last run did not come to.
            forget(uid)
            closeSoon(uid)
        case .success((nil, _)): states[uid] = .absent
        // Not remembered: a full disk or a missing right may be mended, so the next call tries again.
        case .failure: states[uid] = nil
        }
        for body in waiting { body(result.map(\.book)) }
        // Whoever asked has their answer before this.
        if case .success((let book?, _)) = result { queue(of: uid).async { book.prepare() } }
    }

    /// Something was deleted or edited: soon its text is in no file any more, the write-ahead log included.
    func forget(_ uid: UInt32) {
        guard forgetting.insert(uid).inserted else { return }
        loop.later(after: surroundings.limits.forgetsAfter) { [self] in emptyLog(of: uid) }
    }

    private func emptyLog(of uid: UInt32) {
        forgetting.remove(uid)
        guard case .open(let book) = states[uid] else { return }
        loop.run(on: queue(of: uid)) { () throws(StoreError) in
            try book.checkpoint()
        } then: { [self] result in
            // Closed in the meantime: closing empties it.
            guard case .failure(let error) = result, case .open = states[uid] else { return }
            surroundings.log("deleted text is still in the log of the address book in \(folder(of: uid)): \(error)")
            forget(uid)
        }
    }

    /// A save was made: if none follows, the log is emptied and the memory is given back.
    func rest(_ uid: UInt32) {
        resting[uid]?.cancel()
        resting[uid] = loop.later(after: surroundings.limits.restsAfter) { [self] in giveBack(uid) }
    }

    private func giveBack(_ uid: UInt32) {
        resting[uid] = nil
        guard case .open(let book) = states[uid] else { return }
        access.rest()
        queue(of: uid).async {
            // A log that cannot be emptied now grows to its bound at most, and the next pause tries again.
            try? book.checkpoint()
            book.rest()
        }
    }

    // MARK: Users who come and go

    /// A program of this user has connected.
    func join(_ uid: UInt32) {
        connections[uid, default: 0] += 1
        leaving.removeValue(forKey: uid)?.cancel()
    }

    /// One of them is gone. When the last one has been for a while, the book is closed and its memory given back.
    func leave(_ uid: UInt32) {
        let rest = (connections[uid] ?? 0) - 1
        connections[uid] = rest > 0 ? rest : nil
        closeSoon(uid)
    }

    private func closeSoon(_ uid: UInt32) {
        guard connections[uid] == nil, case .open = states[uid] else { return }
        leaving[uid]?.cancel()
        leaving[uid] = loop.later(after: surroundings.limits.closesBooksAfter) { [self] in closeIdle(uid) }
    }

    private func closeIdle(_ uid: UInt32) {
        leaving[uid] = nil
        guard connections[uid] == nil, case .open(let book) = states[uid] else { return }
        guard !recovery.hasUndelivered else { return closeSoon(uid) }
        // Whoever asks from now on has it opened anew, on the same queue, after this.
        states[uid] = nil
        book.release()
        queue(of: uid).async {
            book.close()
            book.rest()
        }
    }

    // MARK: Purging

    /// From now on the user's book is not there for anybody, until ``endRemoving(_:)``.
    func beginRemoving(_ uid: UInt32) { removing.insert(uid) }

    /// Takes the user's book out of the file system, once what is being done with it is done.
    func remove(_ uid: UInt32, _ done: @escaping (Result<Void, StoreError>) -> Void) {
        if case .opening(let waiting) = states[uid] {
            states[uid] = .opening(waiting + [{ [weak self] _ in self?.remove(uid, done) }])
            return
        }
        let book = opened(uid)
        states[uid] = nil
        book?.release()
        let folder = folder(of: uid)
        loop.run(on: queue(of: uid)) { () throws(StoreError) in
            book?.close()
            try ContactsStore.remove(folder: folder)
        } then: { result in
            done(result)
        }
    }

    func isRemoving(_ uid: UInt32) -> Bool { removing.contains(uid) }

    func endRemoving(_ uid: UInt32) { removing.remove(uid) }

    func folder(of uid: UInt32) -> String { Self.folder(of: uid, in: surroundings.stateFolder) }

    /// - Parameter folder: the state folder.
    static func folder(of uid: UInt32, in folder: String) -> String { "\(folder)/users/\(uid)" }

    // MARK: -

    /// Waits for what is being written, then closes every book for good.
    func close() {
        isClosed = true
        for timer in Array(resting.values) + Array(leaving.values) { timer.cancel() }
        resting = [:]
        leaving = [:]
        for (uid, state) in states {
            guard case .open(let book) = state else { continue }
            // What is being written may be waiting for it.
            book.release()
            let outbox = queue(of: uid).sync { (try? book.outbox()) ?? [] }
            // A save that was being written is in the book, and the loop hears of it no more.
            recovery.takeOver(outbox, of: uid, isEnding: true)
            queue(of: uid).sync { book.close() }
        }
        states = [:]
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole + attoseconds / 1_000_000_000
    }
}
