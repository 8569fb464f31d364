import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerLedger
import BrokerModel
import BrokerVarlink
import Dispatch

/// Manages the open books, one per user, and the queues on which they are written. It lives on the event
/// loop.
package final class Books {
    private enum State {
        case opening([(Result<ContactsStore?, StoreError>) -> Void])
        case open(ContactsStore)
        /// The user has no book yet. The first save creates one.
        case absent
    }

    let surroundings: Surroundings
    private let access: AccessStore
    private let recovery: SaveRecovery
    private let shares: GroupShares
    private let problems: StoreProblems
    private var states: [UInt32: State] = [:]
    private var queues: [UInt32: DispatchQueue] = [:]
    /// Users with a scheduled checkpoint that removes deleted text.
    private var checkpointing: Set<UInt32> = []
    /// The timers that release memory after a user's last save.
    private var releasing: [UInt32: any Scheduled] = [:]
    /// The user whose book was read last, and the time of that read, in microseconds of
    /// ``Surroundings/uptime``.
    private var latest: (uid: UInt32, at: Int64) = (.max, 0)
    /// The number of connections per user.
    private var connections: [UInt32: Int] = [:]
    /// The timers that close the books of users without connections.
    private var leaving: [UInt32: any Scheduled] = [:]
    /// Users whose book is being removed.
    private var removing: Set<UInt32> = []
    /// Users whose book was found to have lost saves.
    private var haveLostSaves: Set<UInt32> = []
    /// Gets the contacts of an opened book whose photos wait for a thumbnail.
    package var onOpening: (_ photographed: [RecordNumber], _ uid: UInt32) -> Void = { _, _ in }
    /// Whether all books were closed for good. If this process opened a book again, it and the next broker
    /// process could write the book at the same time.
    private(set) var isClosed = false

    package init(
        surroundings: Surroundings, access: AccessStore, recovery: SaveRecovery, shares: GroupShares,
        problems: StoreProblems
    ) {
        self.surroundings = surroundings
        self.access = access
        self.recovery = recovery
        self.shares = shares
        self.problems = problems
    }

    private var loop: any Loop { surroundings.loop }

    /// The user's own serial queue, for slow work on the user's book.
    package func queue(of uid: UInt32) -> DispatchQueue {
        if let queue = queues[uid] { return queue }
        let queue = DispatchQueue(label: "contacts of \(uid)")
        queues[uid] = queue
        return queue
    }

    /// Passes the user's book to `body`: at once if it is open, otherwise once it is open. `body` gets `nil`
    /// if there is no book.
    ///
    /// - Parameter name: the name of the book's owner; `nil` for the user's name in the user database.
    package func with(
        _ uid: UInt32, creating: Bool = false, named name: String? = nil,
        _ body: @escaping (Result<ContactsStore?, StoreError>) -> Void
    ) {
        guard !isClosed else { return body(.failure(.unavailable(reason: "the broker is stopping"))) }
        guard !removing.contains(uid) else {
            return body(.failure(.unavailable(reason: "the data of user \(uid) is being deleted")))
        }
        switch states[uid] {
        case .open(let book): body(.success(book))
        case .absent where !creating: body(.success(nil))
        case .opening(let waiting):
            // If there turns out to be no book, a request that may create one tries again.
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

    /// The user's book if it is open; `.some(nil)` if the user has no book. `nil` if the book is not
    /// available at once; in that case, use ``with(_:creating:named:_:)``.
    package func ready(_ uid: UInt32, creating: Bool = false) -> ContactsStore?? {
        guard !isClosed, !removing.contains(uid) else { return nil }
        switch states[uid] {
        case .open(let book): return book
        case .absent where !creating: return .some(nil)
        case .absent, .opening, nil: return nil
        }
    }

    /// Call this before a read. In a burst, taking the book's lock for each read would cost as much as the
    /// read itself. The reads of a burst therefore share one snapshot for a short time.
    package func willRead(_ book: ContactsStore, of uid: UInt32) {
        let now = surroundings.uptime()
        let isBurst = latest.uid == uid && now - latest.at < Self.holdsFor
        latest = (uid, now)
        // If the snapshot cannot be kept open, the read works without it and reports any error.
        guard isBurst, (try? book.holdSnapshot()) ?? false else { return }
        loop.schedule(after: .microseconds(Self.holdsFor)) { book.release() }
    }

    /// How long reads share a snapshot, in microseconds. The time is short because a checkpoint waits for the
    /// end of the snapshot.
    private static let holdsFor: Int64 = 20_000

    /// The user's book, if it is open.
    package func opened(_ uid: UInt32) -> ContactsStore? {
        if case .open(let book) = states[uid] { book } else { nil }
    }

    /// The open books, by user.
    package var allOpened: [(uid: UInt32, book: ContactsStore)] {
        states.compactMap { uid, state in if case .open(let book) = state { (uid, book) } else { nil } }
    }

    /// The number of the last change to the user's book, and the current time. The number is 0 unless the
    /// book is open.
    package func moment(of uid: UInt32) -> SetMoment {
        SetMoment(change: opened(uid)?.lastChange ?? 0, time: surroundings.seconds)
    }

    /// A book and what an earlier run left to do in it.
    private struct Opened: Sendable {
        let book: ContactsStore
        let outbox: [OutboxEntry]
        /// The contacts whose photos wait for a thumbnail.
        let photographed: [RecordNumber]
    }

    private func open(
        _ uid: UInt32, _ name: String?, creating: Bool,
        _ body: @escaping (Result<ContactsStore?, StoreError>) -> Void
    ) {
        states[uid] = .opening([body])
        let folder = folder(of: uid)
        let known = name ?? access.owners.userNames[uid]
        let (region, language, limits) = (surroundings.region, surroundings.language, surroundings.limits)
        let damages = LoopBound(problems, loop: loop)
        loop.run(on: queue(of: uid)) { [loop, userName = surroundings.userName] in
            let name = known ?? userName(uid)
            let opened = Result { () throws(StoreError) -> Opened? in
                let book = try ContactsStore.open(
                    folder: folder, owner: StoreOwner(uid: uid, name: name), creating: creating, locale: language,
                    region: region,
                    stepsOnLoop: limits.stepsPerIteration, timeOnLoop: limits.timePerRead.microseconds * 1_000,
                    space: limits.space,
                    onDamage: { card in loop.execute { damages.value.note(card, of: uid) } })
                guard let book else { return nil }
                return Opened(
                    book: book, outbox: try book.outbox(),
                    photographed: try book.photographed(limit: StoreLimits.thumbnailsWaiting))
            }
            return (name, opened)
        } then: { [self] found in
            let (name, result) = found.get()
            if known == nil { learn(name, of: uid) }
            opened(uid, result)
        }
    }

    /// Caches a user's name. A name that is only the UID is not cached, because the look-up may have failed
    /// temporarily.
    private func learn(_ name: String, of uid: UInt32) {
        if access.owners.userNames[uid] == nil, name != "\(uid)" { access.owners.userNames[uid] = name }
    }

    /// Loads the data for normalization on a global queue, once for all books. Otherwise the first search or
    /// save would load it and wait.
    private static let formsArePrepared: Void = DispatchQueue.global(qos: .utility).async {
        ContactsStore.prepareForms()
    }

    /// The delay before the data for normalization is loaded. Loading takes processor time and memory, so
    /// the calls that opened the book are answered first.
    private static let prepareAfter = Duration.milliseconds(10)

    private func opened(_ uid: UInt32, _ result: Result<Opened?, StoreError>) {
        guard case .opening(let waiting) = states[uid] else { return }
        loop.schedule(after: Self.prepareAfter) { _ = Self.formsArePrepared }
        if case .success(let found) = result { compare(found?.book.lastChange ?? 0, of: uid) }
        switch result {
        case .success(let found?):
            if !isClosed {
                recovery.takeOver(found.outbox, of: uid, isEnding: false)
                // No reply of this user is queued: a book is closed only after the user's last connection.
                _ = shares.follow(uid, found.book)
            }
            states[uid] = .open(found.book)
            // The previous broker process may have ended before its checkpoint.
            checkpointSoon(uid)
            closeSoon(uid)
        case .success(nil):
            states[uid] = .absent
            _ = shares.follow(uid, nil)
        // A failure is not cached. Somebody may free disk space or fix a permission, so the next call tries
        // again.
        case .failure: states[uid] = nil
        }
        for body in waiting { body(result.map { $0?.book }) }
        guard case .success(let found?) = result else { return }
        // The preparation is queued after the work of the calls that waited for the book.
        queue(of: uid).async { [seconds = surroundings.seconds] in
            // If it fails, the next save or the timer tries again.
            _ = try? found.book.expireBin(at: seconds)
            found.book.prepare()
        }
        expireBinLater(uid, found.book)
        onOpening(found.photographed, uid)
    }

    /// Reports a book once that has lost saves.
    private func compare(_ lastChange: Int64, of uid: UInt32) {
        let saved = access.lastChange(of: uid)
        guard lastChange < saved, haveLostSaves.insert(uid).inserted else { return }
        problems.noteLostSaves(uid, last: lastChange, saved: saved)
    }

    /// Schedules a checkpoint after a deletion or edit. The checkpoint removes the old text from the files,
    /// including the write-ahead log.
    package func checkpointSoon(_ uid: UInt32) {
        guard checkpointing.insert(uid).inserted else { return }
        loop.later(after: surroundings.limits.checkpointsAfter) { [self] in checkpoint(of: uid) }
    }

    private func checkpoint(of uid: UInt32) {
        checkpointing.remove(uid)
        guard case .open(let book) = states[uid] else { return }
        loop.run(on: queue(of: uid)) { () throws(StoreError) in
            try book.checkpoint()
        } then: { [self] result in
            // If the book was closed meanwhile, closing has removed the log.
            guard case .failure(let error) = result, case .open = states[uid] else { return }
            surroundings.log(
                "cannot checkpoint the address book in \(folder(of: uid)), so its write-ahead log still has deleted text; "
                    + "retrying: \(error)")
            checkpointSoon(uid)
        }
    }

    /// Deletes from time to time what is too old for the bin, as long as the book is open.
    private func expireBinLater(_ uid: UInt32, _ book: ContactsStore) {
        loop.later(after: surroundings.limits.binInterval) { [self] in
            guard case .open(let opened) = states[uid], opened === book else { return }
            loop.run(on: queue(of: uid)) { [seconds = surroundings.seconds] in
                (try? book.expireBin(at: seconds)) ?? false
            } then: { [self] expired in
                if expired.get() { checkpointSoon(uid) }
                expireBinLater(uid, book)
            }
        }
    }

    /// Schedules a checkpoint and the release of memory after a save. Another save within the delay restarts
    /// the delay.
    package func releaseMemorySoon(_ uid: UInt32) {
        releasing[uid]?.cancel()
        releasing[uid] = loop.later(after: surroundings.limits.releasesMemoryAfter) { [self] in releaseMemory(uid) }
    }

    private func releaseMemory(_ uid: UInt32) {
        releasing[uid] = nil
        guard case .open(let book) = states[uid] else { return }
        access.releaseMemory()
        queue(of: uid).async {
            // If the checkpoint fails, it is retried after the next save.
            try? book.checkpoint()
            book.releaseMemory()
        }
    }

    // MARK: Connections

    /// Counts a new connection of the user.
    package func join(_ uid: UInt32) {
        connections[uid, default: 0] += 1
        leaving.removeValue(forKey: uid)?.cancel()
    }

    /// Counts a closed connection. Some time after the user's last connection has closed, the book is closed
    /// and its memory released.
    package func leave(_ uid: UInt32) {
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
        // A later call opens the book again. Opening uses the same queue, so it starts only after the book is
        // closed.
        states[uid] = nil
        book.release()
        queue(of: uid).async {
            book.close()
            book.releaseMemory()
        }
    }

    // MARK: Purging

    /// Makes the user's book unavailable until ``endRemoving(_:)`` is called.
    package func beginRemoving(_ uid: UInt32) { removing.insert(uid) }

    /// Removes the user's book from the file system, once all queued work on the book is done.
    package func remove(_ uid: UInt32, _ done: @escaping (Result<Void, StoreError>) -> Void) {
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

    package func isRemoving(_ uid: UInt32) -> Bool { removing.contains(uid) }

    package func endRemoving(_ uid: UInt32) { removing.remove(uid) }

    package func folder(of uid: UInt32) -> String { Self.folder(of: uid, in: surroundings.stateFolder) }

    /// - Parameter folder: the state folder.
    package static func folder(of uid: UInt32, in folder: String) -> String { "\(folder)/users/\(uid)" }

    /// A folder for a copy of a book, or for one that is being restored.
    package func transferFolder(_ name: String) -> String { "\(surroundings.stateFolder)/transfers/\(name)" }

    // MARK: -

    /// Waits for running writes, then closes every book for good.
    package func close() {
        isClosed = true
        for timer in Array(releasing.values) + Array(leaving.values) { timer.cancel() }
        releasing = [:]
        leaving = [:]
        for (uid, state) in states {
            guard case .open(let book) = state else { continue }
            // A running write may wait for the snapshot to be released.
            book.release()
            let outbox = queue(of: uid).sync { (try? book.outbox()) ?? [] }
            // A save that was being written may be in the book, although its result no longer reaches the
            // event loop.
            recovery.takeOver(outbox, of: uid, isEnding: true)
            queue(of: uid).sync { book.close() }
        }
        states = [:]
    }
}
