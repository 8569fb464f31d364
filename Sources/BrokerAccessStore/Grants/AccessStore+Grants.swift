import BrokerAccessControl
import BrokerModel

extension AccessStore {
    /// What was decided for a principal; `nil` where nothing was. Whether it has run out is for the caller to ask.
    public func grant(of principal: Principal) -> Grant? { held[principal]?.grant }

    /// Everybody with a grant, in no order.
    public var principals: [Principal] { Array(held.keys) }

    /// How often an app's reading was recorded, its sessions and processes together.
    ///
    /// Counted from the ``AuditEvent/disclosure`` records; a crash may lose the last few counts, never a record.
    ///
    /// - Returns: `lastUsedAt` in seconds since 1970.
    public func usage(of principal: Principal) -> (lastUsedAt: Int64?, uses: Int) {
        let usage = usages[principal.bound(to: .standing)] ?? Usage()
        let counted = ledger.openUses(
            of: AuditLedger.Owner(uid: principal.uid, strength: principal.strength, app: principal.app))
        guard let last = counted.last, usages[principal.bound(to: .standing)] != nil else {
            return (usage.lastUsedAt, usage.uses)
        }
        return (max(usage.lastUsedAt ?? .min, last / 1_000_000), usage.uses + counted.uses)
    }

    /// What the app was called when its grant was made. Text of strangers; whoever shows it strips it.
    public func displayName(of principal: Principal) -> String? { held[principal]?.displayName }

    /// A revision that is above every one before it, those of batches that failed included.
    public func nextRevision() -> Int64 {
        counters.revision += 1
        return counters.revision
    }

    /// How a principal's set became what it is; `nil` where nothing was decided.
    public func setHistory(of principal: Principal) -> SetHistory? { held[principal]?.history }

    /// Gives a principal this grant in place of any other. Take its revision from ``nextRevision()``.
    public func setGrant(_ grant: Grant, for principal: Principal, displayName: String, at moment: SetMoment) {
        touch(principal)
        let history = SetHistory(of: grant, after: held[principal], moment)
        held[principal] = HeldGrant(
            grant: grant, displayName: displayName, history: history, decision: HeldGrant.newDecision())
        noteDecision()
        if usages[principal.bound(to: .standing)] == nil { usages[principal.bound(to: .standing)] = Usage() }
        mark(principal, .whole)
    }

    /// Resets a principal: nothing is decided, and what its identifiers named is named by none of them again.
    ///
    /// A session or process of an app that is no interpreter uses the app's standing key: to reset the app,
    /// reset its standing principal too, whether or not that has a grant.
    public func removeGrant(of principal: Principal) {
        drop(principal)
        guard identifierKeys.removeValue(forKey: principal) != nil else { return }
        noteDecision()
        batch.identifiers.remove(principal)
        mark(principal, .whole)
    }

    /// Ends a grant that ran out. The identifier key stays, so that a new grant names the contacts as before.
    public func endGrant(of principal: Principal) { drop(principal) }

    /// Principals whose grant has run out.
    ///
    /// - Parameter now: seconds since 1970.
    public func expired(at now: Int64) -> [Principal] {
        held.filter { $0.value.grant.hasExpired(at: now) }.map(\.key)
    }

    /// Adds contacts that the app itself makes to a limited principal's set, under a new revision. Does nothing for any other.
    public func widen(_ principal: Principal, with records: Set<RecordNumber>, at moment: SetMoment) {
        guard case .limited(let set)? = held[principal]?.grant.access else { return }
        add(records.subtracting(set), to: principal, at: moment) { $0.access = .limited(to: set.union(records)) }
    }

    /// Keeps apart what an app makes while it counts as limited and was granted something else.
    func addOwn(_ records: Set<RecordNumber>, to principal: Principal, at moment: SetMoment) {
        guard let grant = held[principal]?.grant, grant.access.status != .limited else { return }
        add(records.subtracting(grant.own), to: principal, at: moment) { $0.own.formUnion(records) }
    }

    private func add(
        _ added: Set<RecordNumber>, to principal: Principal, at moment: SetMoment, _ edit: (inout Grant) -> Void
    ) {
        guard !added.isEmpty else { return }
        change(principal, .rows(added: added, removed: []), [], moment, edit)
    }

    /// Takes deleted contacts out of every set of a user; each one that had any has a new revision.
    ///
    /// - Parameter moment: of the deletion.
    func forget(_ records: Set<RecordNumber>, uid: UInt32, at moment: SetMoment) {
        leave(records, uid: uid, as: .deleted, moment)
    }

    /// Takes contacts that never came into the book out of the sets again. Nobody saw them, so that it is no event.
    func unwiden(_ records: Set<RecordNumber>, uid: UInt32, at moment: SetMoment) {
        leave(records, uid: uid, as: nil, moment)
    }

    private func leave(_ records: Set<RecordNumber>, uid: UInt32, as kind: SetEvent.Kind?, _ moment: SetMoment) {
        guard !records.isEmpty else { return }
        for (principal, held) in held where principal.uid == uid {
            let remove = { (gone: Set<RecordNumber>, edit: (inout Grant) -> Void) in
                guard !gone.isEmpty else { return }
                self.change(
                    principal, .rows(added: [], removed: gone), kind.map { [($0, gone)] } ?? [], moment, edit)
            }
            let own = records.intersection(held.grant.own)
            remove(own) { $0.own.subtract(own) }
            guard case .limited(let set) = held.grant.access else { continue }
            remove(records.intersection(set)) { $0.access = .limited(to: set.subtracting(records)) }
        }
    }

    private func change(
        _ principal: Principal, _ change: SetChange, _ events: [(SetEvent.Kind, Set<RecordNumber>)],
        _ moment: SetMoment,
        _ edit: (inout Grant) -> Void
    ) {
        guard var new = held[principal] else { return }
        touch(principal)
        edit(&new.grant)
        new.grant.revision = nextRevision()
        new.history.append(events, new.grant.revision, moment)
        held[principal] = new
        mark(principal, change)
    }

    private func drop(_ principal: Principal) {
        guard held[principal] != nil else { return }
        touch(principal)
        noteDecision()
        held[principal] = nil
        mark(principal, .whole)
        let standing = principal.bound(to: .standing)
        if !held.keys.contains(where: { $0.bound(to: .standing) == standing }) { usages[standing] = nil }
    }

    /// Keeps what is to be brought back if the batch fails.
    private func touch(_ principal: Principal) {
        guard batch.grants[principal] == nil else { return }
        batch.grants[principal] = .some(held[principal])
    }

    /// Notes what differs from the file. What hangs on a session or a process never gets there.
    func mark(_ principal: Principal, _ change: SetChange) {
        guard principal.binding == .standing else { return }
        noteOwner(of: principal.uid)
        switch (unwritten.grants[principal], change) {
        case (.rows(var added, var removed), .rows(let more, let fewer)):
            added = added.subtracting(fewer).union(more)
            removed = removed.subtracting(more).union(fewer)
            unwritten.grants[principal] = .rows(added: added, removed: removed)
        case (.whole, .rows), (_, .whole): unwritten.grants[principal] = .whole
        case (nil, .rows): unwritten.grants[principal] = change
        }
    }
}
