import BrokerModel
import BrokerSQLite

/// What connects records: members of groups, groups within groups, links, and which card is the person's own.
///
/// What a save changed of these by deleting or returning a record comes back with that record, and is nothing to take back by
/// itself.
extension InversePlan {
    mutating func planRelations() throws {
        try planReturned()
        let linking = savesThatRelink
        var links: [FormerState] = []
        for subject in order where !made.hasMore {
            let state = rows(subject)[0].state
            switch subject.subject {
            case .contact, .group, .container, .added: continue
            case .member: try plan(member: subject)
            case .subgroup: try plan(subgroup: subject)
            case .handLink:
                if !isAdded(state.record), !linking.contains(state.save) { links.append(state) }
            case .unlike:
                let cards = [state.record, state.member]
                if !cards.contains(where: { isAdded($0) || replaces($0, in: state.save) }) { links.append(state) }
            case .me: try planMe(subject)
            }
        }
        if !made.hasMore { try plan(links: links) }
    }

    // MARK: What comes with a record

    /// Brings back what connected the records that come back, as the saves that deleted them found it, unless that was changed
    /// since.
    private mutating func planReturned() throws {
        guard !returned.isEmpty || !returnedGroups.isEmpty else { return }
        let me = try db.statement("SELECT me FROM book").first { $0.record(0) } ?? nil
        // The sets of cards that the contacts were in, for each save.
        var sets: [Int64: Set<RecordNumber>] = [:]
        for row in rows where row.state.subject == .handLink && isBack(row.state.record, row.state) {
            if let former = row.state.former { sets[row.state.save, default: []].insert(former) }
        }
        var back: [FormerState] = []
        for row in rows {
            let state = row.state
            let isBack: Bool
            switch state.subject {
            case .contact, .group, .container, .added: continue
            case .member, .subgroup, .unlike:
                isBack = self.isBack(state.record, state) || self.isBack(state.member, state)
            case .handLink:
                let isOfSet = state.former.map { sets[state.save]?.contains($0) == true } ?? false
                isBack = self.isBack(state.record, state) || isOfSet
            case .me: isBack = me == nil && state.former.map { self.isBack($0, state) } ?? false
            }
            let subject = Subject(subject: state.subject, record: state.record, member: state.member)
            if isBack, try state.subject == .me || !isChanged(subject, after: state.place) { back.append(state) }
        }
        guard !back.isEmpty else { return }
        // What comes back in this part comes back whole, so this does not wait for room. Of what a limited app does not see, the
        // number must not tell.
        if view.seesEverything { made.counts.others += 1 }
        made.changes.append(.putBack(FormerRecords(kind: .relations, records: Self.records(back), steps: back)))
    }

    /// Whether a row is of the save that deleted a record, and this or the other record of the row comes back now.
    private func isBack(_ record: RecordNumber, _ state: FormerState) -> Bool {
        let ends = [state.record, state.member] + (state.subject == .me ? [state.former].compactMap(\.self) : [])
        return deletions[record] == state.save && ends.contains { returned.contains($0) || returnedGroups.contains($0) }
    }

    private static func records(_ states: [FormerState]) -> Set<RecordNumber> {
        Set(states.flatMap { [$0.record, $0.member] }.filter { $0.rawValue > 0 })
    }

    /// The saves in which links changed because linked cards were deleted or came back.
    private var savesThatRelink: Set<Int64> {
        Set(
            rows.lazy.map(\.state).filter { $0.subject == .handLink && replaces($0.record, in: $0.save) }.map(\.save))
    }

    // MARK: By themselves

    private mutating func plan(member subject: Subject) throws {
        let (group, contact) = (subject.record, subject.member)
        guard let first = own(rows(subject), replacing: contact)?.state else { return }
        guard !isAdded(contact), !addedGroups.contains(group) else { return }
        guard view.sees(contact) else {
            // The app cannot have named the contact if the group was deleted or came back.
            return savesOfGroups.contains(first.save) ? () : miss()
        }
        guard try sees(group: group) else { return miss() }
        let isMember = try db.statement("SELECT 1 FROM member WHERE parent = ? AND contact = ?")
            .bind(1, group.rawValue).bind(2, contact.rawValue).hasRow()
        guard isMember != first.existed else { return }
        guard try db.hasContact(contact), try name(ofGroup: group) != nil else { return comesLater([contact, group]) }
        guard try view.isForced || !isChanged(subject, after: first.place) else { return conflict(group) }
        // A member that another app added is not shared with apps that have the group. To add it again would share it.
        guard !first.existed || first.former != RecordNumber(0) || !view.seesEverything else { return miss() }
        take(
            \.others,
            .group(first.existed ? .addMember(contact, to: group) : .removeMember(contact, from: group)))
    }

    /// The first row that is not about a contact that the same save deleted or brought back.
    private func own(_ rows: [Row], replacing contact: RecordNumber) -> Row? {
        rows.first { !replaces(contact, in: $0.state.save) }
    }

    /// What connects records is compared once they are there.
    private mutating func comesLater(_ ends: [RecordNumber]) {
        if ends.contains(where: { returned.contains($0) || returnedGroups.contains($0) }) { again = true }
    }

    private mutating func conflict(_ group: RecordNumber) {
        if !made.groupConflicts.contains(group) { made.groupConflicts.append(group) }
    }

    private mutating func plan(subgroup subject: Subject) throws {
        let (parent, child) = (subject.record, subject.member)
        let (first, owner) = (rows(subject)[0].state, view.seen.groupOwner)
        guard addedGroups.isDisjoint(with: [parent, child]) else { return }
        guard try sees(group: parent), try sees(group: child) else {
            return savesOfGroups.contains(first.save) ? () : miss()
        }
        let isInside = try db.statement("SELECT 1 FROM subgroup WHERE parent = ? AND child = ?")
            .bind(1, parent.rawValue).bind(2, child.rawValue).hasRow()
        guard isInside != first.existed else { return }
        guard try name(ofGroup: parent) != nil, try name(ofGroup: child) != nil else {
            return comesLater([parent, child])
        }
        guard try view.isForced || !isChanged(subject, after: first.place) else { return conflict(parent) }
        take(
            \.others,
            .group(
                first.existed
                    ? .addSubgroup(child, to: parent, visible: owner)
                    : .removeSubgroup(child, from: parent)))
    }

    private mutating func planMe(_ subject: Subject) throws {
        let rows = rows(subject)
        guard
            let first = rows.first(where: { row in row.state.former.map { !replaces($0, in: row.state.save) } ?? true })
        else { return }
        guard view.seesEverything else { return miss() }
        let former = first.state.former
        let now = try db.statement("SELECT me FROM book").first { $0.record(0) } ?? nil
        guard now != former, !(former.map { returned.contains($0) && now == nil } ?? false) else { return }
        guard try view.isForced || !isChanged(subject, after: first.state.place),
            try former.map({ try returned.contains($0) || db.hasContact($0) }) ?? true
        else { return miss() }
        take(\.others, .group(.setMe(former)))
    }

    /// The links as they were, in one change.
    private mutating func plan(links states: [FormerState]) throws {
        if states.isEmpty { return }
        guard view.seesEverything, states.count <= Self.mostLinks else { return miss() }
        var there: [FormerState] = []
        for state in states {
            let cards = state.subject == .unlike ? [state.record, state.member] : [state.record]
            if try cards.allSatisfy(db.hasContact) { there.append(state) } else { comesLater(cards) }
        }
        let now = try LinkTables.all(db, "handLink")
        let unlike = try db.statement("SELECT 1 FROM unlike WHERE record = ? AND other = ?")
        let isDone = try there.allSatisfy { state in
            guard state.subject == .unlike else { return now.first(of: state.record) == state.former }
            return try unlike.bind(1, state.record.rawValue).bind(2, state.member.rawValue).hasRow() == state.existed
        }
        guard !isDone else { return }
        let isFree = try there.allSatisfy { state in
            try !isChanged(
                Subject(subject: state.subject, record: state.record, member: state.member), after: state.place)
        }
        guard view.isForced || isFree else { return miss() }
        take(\.others, .putBack(FormerRecords(kind: .links, records: Self.records(there), steps: there)))
    }

    /// More links are not taken back by one change.
    private static let mostLinks = 10_000
}
