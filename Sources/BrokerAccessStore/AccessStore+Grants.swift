import BrokerAccessControl
import BrokerModel

extension AccessStore {
    /// Returns a principal's grant; `nil` if there is none. The grant may have expired; see ``expired(at:)``.
    public func grant(of principal: Principal) -> Grant? { held[principal]?.grant }

    /// All principals with a grant, in no particular order.
    public var principals: [Principal] { principals(of: nil) }

    /// The principals of one user with a grant, or those of all users if `uid` is `nil`, in no particular order.
    public func principals(of uid: UInt32?) -> [Principal] { held.grants(of: uid).map(\.key) }

    /// Returns how many disclosures to an app were recorded, and when the last one was. Disclosures to the
    /// app's sessions and processes count too.
    ///
    /// The store counts ``AuditEvent/disclosure`` records. A crash may lose the last few counts.
    ///
    /// - Returns: `lastUsedAt` in seconds since 1970.
    /// `contacts` and `lastReadAt` say the same of replies that had contacts: how many contacts, each as often as a reply had
    /// it, and when the last of these replies was.
    public func usage(
        of principal: Principal
    ) -> (lastUsedAt: Int64?, uses: Int, contacts: Int, lastReadAt: Int64?) {
        let usage = usages[principal.bound(to: .persistent)] ?? Usage()
        let counted = audit.ledger.openUses(
            of: AuditLedger.Owner(uid: principal.uid, strength: principal.strength, app: principal.app))
        guard let last = counted.last, usages[principal.bound(to: .persistent)] != nil else {
            return (usage.lastUsedAt, usage.uses, usage.contacts, usage.lastReadAt)
        }
        return (
            max(usage.lastUsedAt ?? .min, last / 1_000_000), usage.uses + counted.uses, usage.contacts, usage.lastReadAt
        )
    }

    /// The app's name when its grant was made. It is untrusted text: strip it before display.
    public func displayName(of principal: Principal) -> String? { held[principal]?.displayName }

    /// Returns a revision above all earlier ones, including those of failed batches.
    public func nextRevision() -> Int64 {
        counters.revision += 1
        return counters.revision
    }

    /// The history of a principal's granted set; `nil` if there is no grant.
    public func setHistory(of principal: Principal) -> SetHistory? { held[principal]?.history }

    /// Replaces a principal's grant. Take the new grant's revision from ``nextRevision()``.
    public func setGrant(_ grant: Grant, for principal: Principal, displayName: String, at moment: SetMoment) {
        touch(principal)
        var grant = grant
        if case .limited(let set) = grant.access {
            grant.groups.joined.formIntersection(set)
            grant.groups.withheld.subtract(set)
        } else {
            grant.groups = GrantedGroups()
        }
        var history = SetHistory(of: grant, after: held[principal], moment)
        // To take back a group lowers the access, also if nobody is in the group.
        if let former = held[principal]?.grant.groups.all, !former.isSubset(of: grant.groups.all) {
            history.forgetDeleted(grant.revision, moment)
        }
        held[principal] = StoredGrant(
            grant: grant, displayName: displayName, history: history, decision: StoredGrant.newDecision())
        noteDecision()
        if usages[principal.bound(to: .persistent)] == nil { usages[principal.bound(to: .persistent)] = Usage() }
        mark(principal, .whole)
    }

    /// Records keys that the app asked for by name. This changes no access, so the revision stays.
    public func noteAsked(_ keys: ContactKeySet, by principal: Principal) {
        guard var noted = held[principal], !noted.grant.asked.isSuperset(of: keys) else { return }
        touch(principal)
        noted.grant.asked.formUnion(keys)
        held[principal] = noted
        mark(principal, .rows(added: [], removed: []))
    }

    /// Resets a principal: removes its grant and its identifier key. Its old identifiers become permanently
    /// invalid.
    ///
    /// A session or process of an app that is not an interpreter uses the app's persistent key. To reset the app,
    /// reset its persistent principal too, even if that principal has no grant.
    public func removeGrant(of principal: Principal) {
        drop(principal)
        guard identifierKeys.removeValue(forKey: principal) != nil else { return }
        noteDecision()
        batch.identifiers.remove(principal)
        mark(principal, .whole)
    }

    /// Ends an expired grant. The identifier key stays, so a new grant uses the same identifiers.
    public func endGrant(of principal: Principal) { drop(principal) }

    /// Principals whose grant has expired.
    ///
    /// - Parameter now: seconds since 1970.
    public func expired(at now: Int64) -> [Principal] {
        held.grants(of: nil).filter { $0.value.grant.hasExpired(at: now) }.map(\.key)
    }

    /// Adds contacts that the app created to a limited principal's granted set, under a new revision. Does nothing
    /// for any other principal.
    public func widen(_ principal: Principal, with records: Set<RecordNumber>, at moment: SetMoment) {
        guard case .limited(let set)? = held[principal]?.grant.access else { return }
        add(records.subtracting(set), to: principal, at: moment) { $0.access = .limited(to: set.union(records)) }
    }

    /// Records contacts that an app created while the policy limited it, unless its grant is limited.
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

    /// Removes deleted contacts from all grants of a user. Each changed grant gets a new revision.
    ///
    /// - Parameter moment: when the contacts were deleted.
    public func drop(_ records: Set<RecordNumber>, uid: UInt32, at moment: SetMoment) {
        leave(records, uid: uid, as: .deleted, moment)
    }

    /// Removes contacts that never reached the book from the granted sets. No app saw them, so this records no
    /// event.
    func unwiden(_ records: Set<RecordNumber>, uid: UInt32, at moment: SetMoment) {
        leave(records, uid: uid, as: nil, moment)
    }

    private func leave(_ records: Set<RecordNumber>, uid: UInt32, as kind: SetEvent.Kind?, _ moment: SetMoment) {
        guard !records.isEmpty else { return }
        for (principal, held) in held.grants(of: uid) {
            let remove = { (gone: Set<RecordNumber>, edit: (inout Grant) -> Void) in
                guard !gone.isEmpty else { return }
                self.change(
                    principal, .rows(added: [], removed: gone), kind.map { [($0, gone)] } ?? [], moment, edit)
            }
            let own = records.intersection(held.grant.own)
            remove(own) { $0.own.subtract(own) }
            guard case .limited(let set) = held.grant.access else { continue }
            let gone = records.intersection(set)
            guard !gone.isEmpty else { continue }
            let members = gone.intersection(held.grant.groups.joined)
            let events: [(SetEvent.Kind, Set<RecordNumber>)] =
                kind == nil ? [] : [(.deleted, gone.subtracting(members)), (.deletedMember, members)]
            change(principal, .rows(added: [], removed: gone), events, moment) { $0.drop(records) }
        }
    }

    /// Contacts that were deleted before do not return to a principal's granted set, because its access was lowered.
    public func forgetDeleted(of principal: Principal, at moment: SetMoment) {
        guard var history = held[principal]?.history, history.forgetDeleted(0, moment) else { return }
        change(principal, .rows(added: [], removed: []), [], moment) { _ in }
        guard var new = held[principal] else { return }
        new.history.forgetDeleted(new.grant.revision, moment)
        held[principal] = new
    }

    /// After a restored backup, no contact and no group of before returns to a user's granted sets.
    public func forgetAllDeleted(uid: UInt32, at moment: SetMoment) {
        for (principal, held) in held.grants(of: uid) {
            if !held.grant.groups.gone.isEmpty {
                change(principal, .rows(added: [], removed: []), [], moment) { $0.groups.gone = [] }
            }
            forgetDeleted(of: principal, at: moment)
        }
    }

    /// Returns contacts, which were deleted and put back, to the granted sets of a user that they had left by that. An app
    /// whose access was lowered since does not get them.
    ///
    /// - Parameter members: returns the contacts that the groups of a grant have now. They return as members, so that they
    ///   leave with the group.
    /// - Returns: the changed grants, with the contacts that joined.
    public func rejoin(
        _ records: Set<RecordNumber>, uid: UInt32, at moment: SetMoment, members: (Grant) -> Set<RecordNumber>
    ) -> [(principal: Principal, grant: Grant, joined: Set<RecordNumber>)] {
        held.grants(of: uid).compactMap { principal, held in
            guard case .limited(let set) = held.grant.access else { return nil }
            let back = held.history.deleted(among: records)
            guard !back.single.isEmpty || !back.members.isEmpty else { return nil }
            let shared = members(held.grant)
            let joined = back.single.union(back.members.intersection(shared)).subtracting(set)
            guard !joined.isEmpty else { return nil }
            change(principal, .rows(added: joined, removed: []), [(.granted, joined)], moment) {
                $0.access = .limited(to: set.union(joined))
                $0.groups.joined.formUnion(joined.intersection(shared))
            }
            return grant(of: principal).map { (principal, $0, joined) }
        }
    }

    /// Returns the deleted contacts that would return to a principal's granted set if they came back. See
    /// ``rejoin(_:uid:at:members:)``.
    public func mayRejoin(_ principal: Principal) -> Set<RecordNumber> {
        guard let held = held[principal], case .limited = held.grant.access else { return [] }
        return held.history.deleted(among: nil).single
    }

    /// Brings a principal's granted set in line with the groups of its grant, under a new revision.
    ///
    /// The book decides who is a member. After a crash between the book's commit and this store's, the same call with
    /// the book's present members therefore makes the set right.
    ///
    /// - Parameters:
    ///   - members: as in ``Grant/follow(_:mayGrow:)``.
    /// - Returns: the new grant, and the cards that joined and left; `nil` if nothing changed.
    public func follow(
        _ members: [RecordNumber: Set<RecordNumber>], of principal: Principal, mayGrow: Bool, at moment: SetMoment
    ) -> (grant: Grant, joined: Set<RecordNumber>, left: Set<RecordNumber>)? {
        guard let former = held[principal]?.grant else { return nil }
        var grant = former
        grant.follow(members, mayGrow: mayGrow)
        guard grant != former else { return nil }
        guard (grant.access, grant.groups.joined) != (former.access, former.groups.joined) else {
            // The file does not say which groups are gone.
            held[principal]?.grant.groups = grant.groups
            return nil
        }
        let joined = grant.access.records.subtracting(former.access.records)
        let left = former.access.records.subtracting(grant.access.records)
        change(principal, .rows(added: joined, removed: left), [(.left, left), (.granted, joined)], moment) {
            ($0.access, $0.groups) = (grant.access, grant.groups)
        }
        grant.revision = counters.revision
        return (grant, joined, left)
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
        let persistent = principal.bound(to: .persistent)
        if !held.hasGrant(app: persistent) { usages[persistent] = nil }
    }

    /// Keeps the previous value, for a rollback of the batch.
    private func touch(_ principal: Principal) {
        guard batch.grants[principal] == nil else { return }
        batch.grants[principal] = .some(held[principal])
    }

    /// Marks a principal as changed. Principals bound to a session or a process are never written.
    func mark(_ principal: Principal, _ change: SetChange) {
        guard principal.binding == .persistent else { return }
        owners.note(principal.uid)
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
