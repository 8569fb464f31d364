import BrokerModel
import BrokerSQLite

/// Groups, containers, links and the person's own card.
extension InversePlan {
    private func group(_ record: RecordNumber) throws(StoreError) -> (name: String, owner: [UInt8])? {
        try db.statement("SELECT name, owner FROM contactGroup WHERE record = ?").bind(1, record.rawValue)
            .first { ($0.text(0), $0.bytes(1)) }
    }

    private func isSeen(owner: [UInt8]) -> Bool { seen.groupOwner.map { $0 == owner } ?? true }

    /// Returns a group that exists and that the app sees.
    private mutating func seenGroup(_ record: RecordNumber) throws(StoreError) -> String? {
        guard let (name, owner) = try group(record), isSeen(owner: owner) else { return nil }
        if owner == seen.app { made.ownGroups.insert(record) }
        return name
    }

    mutating func plan(group entry: Entry) throws {
        let record = entry.state.record
        guard let item = entry.state.item,
            let (name, owner) = try db.statement("SELECT name, maker FROM binItem WHERE number = ?").bind(1, item)
                .first({ ($0.text(0), $0.bytes(1)) })
        else { return miss() }
        guard let (now, _) = try group(record) else {
            guard isSeen(owner: owner), try !isChangedByOthers(.group, record, after: entry.last) else {
                return miss()
            }
            if owner == seen.app { made.ownGroups.insert(record) }
            return take(.putBack(FormerRecords(kind: .group(name: name), records: [record], steps: [entry.state])))
        }
        let select = try db.statement(
            "SELECT name FROM binItem WHERE subject = 2 AND record = ? AND existed = 1 AND number > ? ORDER BY number LIMIT 1"
        )
        let after = try select.bind(1, record.rawValue).bind(2, entry.last).first { $0.text(0) } ?? now
        guard after != name, now != name else { return }
        guard try seenGroup(record) != nil else { return miss() }
        guard isForced || now == after else { return made.groupConflicts.append(record) }
        take(.group(.rename(record, name: name)))
    }

    /// A group that the app added goes, unless others use it by now.
    mutating func planRemoval(ofGroup entry: Entry) throws {
        let record = entry.state.record
        guard try group(record) != nil else { return }
        guard try seenGroup(record) != nil else { return miss() }
        let select = try db.statement(
            """
            SELECT max(mark <> ?3) FROM binItem JOIN binSave ON binSave.number = save
            WHERE subject IN (2, 3, 4) AND record = ?1 AND binItem.number > ?2
            AND (mark <> ?3 OR groupToken IS NOT ?4 AND takenBack = 0 AND takesBack IS NULL)
            """)
        let isOthers = try select.bind(1, record.rawValue).bind(2, entry.last).bind(3, seen.app).bind(4, group)
            .first { $0.integerOrNil(0) }
        if !isForced, let isOthers {
            guard isOthers == 0 || seen.groupOwner == nil else { return miss() }
            return made.groupConflicts.append(record)
        }
        take(.group(.delete(record)))
    }

    // MARK: Containers

    private func name(ofContainer record: RecordNumber) throws(StoreError) -> String? {
        try db.statement("SELECT name FROM container WHERE record = ?").bind(1, record.rawValue).first { $0.text(0) }
    }

    mutating func planContainer(_ state: FormerState) throws {
        guard try name(ofContainer: state.record) == nil else { return }
        guard let item = state.item,
            let name = try db.statement("SELECT name FROM binItem WHERE number = ?").bind(1, item)
                .first({ $0.text(0) })
        else { return miss() }
        take(.putBack(FormerRecords(kind: .container(name: name), records: [state.record], steps: [state])))
    }

    /// A container that the app added goes if nothing else is in it.
    mutating func planRemoval(ofContainer record: RecordNumber) throws {
        guard try name(ofContainer: record) != nil else { return }
        let (contacts, groups) = made.changes.reduce(into: (Set<RecordNumber>(), Set<RecordNumber>())) { gone, change in
            switch change {
            case .delete(let contact): gone.0.insert(contact)
            case .group(.delete(let group)): gone.1.insert(group)
            default: break
            }
        }
        for (table, gone) in [("contact", contacts), ("contactGroup", groups)] {
            let within = try db.statement("SELECT record FROM \(table) WHERE container = ?").bind(1, record.rawValue)
                .records()
            guard gone.isSuperset(of: within) else {
                if !made.hasMore { miss() }
                return
            }
        }
        take(.container(.delete(record)))
    }

    // MARK: What connects records

    /// - Parameters:
    ///   - returned: the contacts that come back, whose groups and links come with them.
    ///   - groups: the groups that come back.
    ///   - gone: the groups that the group of saves added. What connects them goes with them, as with added contacts.
    mutating func planRelations(
        with returned: Set<RecordNumber>, _ groups: Set<RecordNumber>,
        leavingOut gone: Set<RecordNumber>
    ) throws {
        let sets = Set(
            entries.lazy.filter { $0.state.subject == .handLink && returned.contains($0.state.record) }
                .compactMap(\.state.former))
        let me = try db.statement("SELECT me FROM book").first { $0.record(0) } ?? nil
        var back: [FormerState] = []
        var links: [FormerState] = []
        for entry in entries {
            let state = entry.state
            switch state.subject {
            case .contact, .group, .container, .added: continue
            case .member:
                if isAdded(state.member) || gone.contains(state.record) { continue }
                if returned.contains(state.member) || groups.contains(state.record) {
                    back.append(state)
                } else {
                    try plan(member: state)
                }
            case .subgroup:
                if !gone.isDisjoint(with: [state.record, state.member]) { continue }
                if groups.isDisjoint(with: [state.record, state.member]) {
                    try plan(subgroup: state)
                } else {
                    back.append(state)
                }
            case .handLink:
                let isBack = returned.contains(state.record) || state.former.map(sets.contains) ?? false
                if isBack { back.append(state) } else if !isAdded(state.record) { links.append(state) }
            case .unlike:
                if isAdded(state.record) || isAdded(state.member) { continue }
                if returned.isDisjoint(with: [state.record, state.member]) {
                    links.append(state)
                } else {
                    back.append(state)
                }
            case .me:
                if let former = state.former, returned.contains(former), me == nil {
                    back.append(state)
                } else {
                    try plan(me: entry, now: me)
                }
            }
        }
        if !back.isEmpty {
            let records = Set(back.flatMap { [$0.record, $0.member] }.filter { $0.rawValue > 0 })
            // What comes back in this part comes back whole.
            made.changes.append(.putBack(FormerRecords(kind: .relations, records: records, steps: back)))
        }
        try plan(links: links)
    }

    private mutating func plan(member state: FormerState) throws {
        let isMember = try db.statement("SELECT 1 FROM member WHERE parent = ? AND contact = ?")
            .bind(1, state.record.rawValue).bind(2, state.member.rawValue).hasRow()
        guard isMember != state.existed, try db.hasContact(state.member), try group(state.record) != nil else { return }
        guard isSeen(state.member), try seenGroup(state.record) != nil else { return miss() }
        take(
            .group(
                state.existed
                    ? .addMember(state.member, to: state.record) : .removeMember(state.member, from: state.record)))
    }

    private mutating func plan(subgroup state: FormerState) throws {
        let isInside = try db.statement("SELECT 1 FROM subgroup WHERE parent = ? AND child = ?")
            .bind(1, state.record.rawValue).bind(2, state.member.rawValue).hasRow()
        guard isInside != state.existed, try group(state.record) != nil, try group(state.member) != nil else { return }
        guard try seenGroup(state.record) != nil, try seenGroup(state.member) != nil else { return miss() }
        take(
            .group(
                state.existed
                    ? .addSubgroup(state.member, to: state.record, visible: seen.groupOwner)
                    : .removeSubgroup(state.member, from: state.record)))
    }

    private mutating func plan(me entry: Entry, now: RecordNumber?) throws {
        let former = entry.state.former
        guard now != former else { return }
        let isLater = try db.statement("SELECT 1 FROM binItem WHERE subject = 7 AND number > ?").bind(1, entry.last)
            .hasRow()
        guard !isLater, try former.map({ try isSeen($0) && db.hasContact($0) }) ?? true else { return miss() }
        take(.group(.setMe(former)))
    }

    /// The links as they were, in one change.
    private mutating func plan(links states: [FormerState]) throws {
        if states.isEmpty { return }
        var there: [FormerState] = []
        for state in states {
            let cards = state.subject == .unlike ? [state.record, state.member] : [state.record]
            if try cards.allSatisfy(db.hasContact) { there.append(state) }
        }
        let now = try LinkTables.all(db, "handLink")
        let unlike = try db.statement("SELECT 1 FROM unlike WHERE record = ? AND other = ?")
        let isDone = try there.allSatisfy { state in
            guard state.subject == .unlike else { return now.first(of: state.record) == state.former }
            let isUnlike = try unlike.bind(1, state.record.rawValue).bind(2, state.member.rawValue).hasRow()
            return isUnlike == state.existed
        }
        guard !isDone else { return }
        let cards = Set(there.flatMap { $0.subject == .unlike ? [$0.record, $0.member] : [$0.record] })
        guard cards.allSatisfy(isSeen) else { return miss() }
        take(.putBack(FormerRecords(kind: .links, records: cards, steps: there)))
    }
}
