import BrokerModel
import BrokerSQLite

/// Makes changes to groups. Use it only within a transaction.
struct GroupWriter {
    let db: Database
    /// Whether the author has access to every card. Only the members that such an app adds are shared with other apps, and
    /// only the groups that such an app names are found by name.
    let isConfirmed: Bool
    var bin: BinWriter?
    /// The author, as ``ChangeAuthor/app``.
    let author: [UInt8]

    /// Makes one change and logs it, unless nothing changes. Setting the owner's own card is never logged.
    func apply(_ change: GroupChange, _ index: Int, _ log: inout ChangeLog) throws {
        switch change {
        case .add(let group, let name, let owner):
            try bin?.added(group: group.rawValue)
            try db.statement("INSERT INTO contactGroup (record, name, owner, confirmed, sole) VALUES (?, ?, ?, ?, 1)")
                .bind(1, group.rawValue).bind(2, name).bind(3, owner).bind(4, isConfirmed ? 1 : 0).run()
            log.note(.addGroup, group, owner: owner)
        case .rename(let group, let name):
            guard let owner = try owner(of: group) else { throw ChangeError.recordDoesNotExist(index: index) }
            let changes = try db.statement("SELECT name <> ? OR confirmed < ? FROM contactGroup WHERE record = ?")
                .bind(1, name).bind(2, isConfirmed ? 1 : 0).bind(3, group.rawValue).first { $0.integer(0) != 0 }
            guard changes == true else { return }
            try bin?.keep(group: group.rawValue)
            try noteAuthor(group, owner)
            try db.statement("UPDATE contactGroup SET name = ?1, confirmed = 0 WHERE record = ?2 AND name <> ?1")
                .bind(1, name).bind(2, group.rawValue).run()
            if db.changesCount > 0 { log.note(.updateGroup, group, owner: owner) }
            if isConfirmed {
                try db.statement("UPDATE contactGroup SET confirmed = 1 WHERE record = ? AND confirmed = 0")
                    .bind(1, group.rawValue).run()
            }
        case .delete(let group):
            guard let owner = try owner(of: group) else { throw ChangeError.recordDoesNotExist(index: index) }
            try bin?.keep(deleted: group.rawValue)
            try db.statement("DELETE FROM contactGroup WHERE record = ?").bind(1, group.rawValue).run()
            log.note(.deleteGroup, group, owner: owner)
        case .addMember(let contact, let group), .removeMember(let contact, let group):
            guard let owner = try owner(of: group) else { throw ChangeError.parentRecordDoesNotExist(index: index) }
            guard try db.hasContact(contact) else { throw ChangeError.recordDoesNotExist(index: index) }
            let isAdding = if case .addMember = change { true } else { false }
            let confirmed = try db.statement("SELECT confirmed FROM member WHERE parent = ? AND contact = ?")
                .bind(1, group.rawValue).bind(2, contact.rawValue).first { $0.integer(0) }
            if isAdding ? confirmed == nil || isConfirmed && confirmed == 0 : confirmed != nil {
                try bin?.keep(member: contact.rawValue, of: group.rawValue, confirmed: confirmed)
                try noteAuthor(group, owner)
            }
            let sql =
                isAdding
                ? "INSERT INTO member (parent, contact) VALUES (?, ?) ON CONFLICT DO NOTHING"
                : "DELETE FROM member WHERE parent = ? AND contact = ?"
            let isChanged = try didChange(sql, group, contact)
            // Apps cannot see the mark, so it is not logged. It stays when another app adds the member again.
            if isAdding, isConfirmed {
                try db.statement("UPDATE member SET confirmed = 1 WHERE parent = ? AND contact = ? AND confirmed = 0")
                    .bind(1, group.rawValue).bind(2, contact.rawValue).run()
            }
            if isChanged {
                log.note(isAdding ? .addMember : .removeMember, group, member: contact, owner: owner)
            }
        case .addSubgroup(let child, let parent, let visible):
            let owner = try owner(of: child, in: parent, index)
            guard try !reaches(parent, from: child, visible) else { throw ChangeError.containmentCycle(index: index) }
            let sql = "INSERT INTO subgroup (parent, child) VALUES (?, ?) ON CONFLICT DO NOTHING"
            if try didChange(sql, parent, child) {
                try bin?.keep(subgroup: child.rawValue, of: parent.rawValue, existed: false)
                try noteAuthor(parent, owner)
                log.note(.addSubgroup, parent, member: child, owner: owner)
            }
        case .removeSubgroup(let child, let parent):
            let owner = try owner(of: child, in: parent, index)
            let sql = "DELETE FROM subgroup WHERE parent = ? AND child = ?"
            if try didChange(sql, parent, child) {
                try bin?.keep(subgroup: child.rawValue, of: parent.rawValue, existed: true)
                try noteAuthor(parent, owner)
                log.note(.removeSubgroup, parent, member: child, owner: owner)
            }
        case .setMe(let contact):
            if let contact, try !db.hasContact(contact) { throw ChangeError.recordDoesNotExist(index: index) }
            let me = try db.statement("SELECT me FROM book").first { $0.record(0) }
            guard me != contact else { return }
            try bin?.keepMe()
            try db.statement("UPDATE book SET me = ?").bind(1, contact?.rawValue).run()
        }
    }

    /// Notes that not only its owner has changed a group.
    private func noteAuthor(_ group: RecordNumber, _ owner: [UInt8]) throws(StoreError) {
        guard owner != author else { return }
        try db.statement("UPDATE contactGroup SET sole = 0 WHERE record = ? AND sole = 1").bind(1, group.rawValue).run()
    }

    private func owner(of group: RecordNumber) throws(StoreError) -> [UInt8]? {
        try db.statement("SELECT owner FROM contactGroup WHERE record = ?").bind(1, group.rawValue).first {
            $0.bytes(0)
        }
    }

    /// Returns the app that owns both groups; empty if different apps own them.
    private func owner(of child: RecordNumber, in parent: RecordNumber, _ index: Int) throws -> [UInt8] {
        guard let parents = try owner(of: parent) else { throw ChangeError.parentRecordDoesNotExist(index: index) }
        guard let childs = try owner(of: child) else { throw ChangeError.recordDoesNotExist(index: index) }
        return parents == childs ? parents : []
    }

    /// Whether `start` is `goal` or contains it, directly or indirectly. Follows visible groups only, because
    /// an error must not reveal that another app's groups exist.
    private func reaches(
        _ goal: RecordNumber, from start: RecordNumber, _ visible: [UInt8]?
    ) throws(StoreError) -> Bool {
        var seen: Set<RecordNumber> = [start]
        var rest = [start]
        while let group = rest.popLast() {
            if group == goal { return true }
            let children = try db.statement("SELECT child FROM subgroup WHERE parent = ?").bind(1, group.rawValue)
                .records()
            for child in children where !seen.contains(child) {
                seen.insert(child)
                if let visible, try owner(of: child) != visible { continue }
                rest.append(child)
            }
        }
        return false
    }

    private func didChange(_ sql: String, _ group: RecordNumber, _ member: RecordNumber) throws(StoreError) -> Bool {
        try db.statement(sql).bind(1, group.rawValue).bind(2, member.rawValue).run()
        return db.changesCount > 0
    }
}
