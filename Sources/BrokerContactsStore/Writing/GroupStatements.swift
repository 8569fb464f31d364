import BrokerModel
import BrokerSQLite

/// What is written of groups. Used within a transaction only.
final class GroupStatements {
    private let db: Database
    private let selectOwner, insertGroup, renameGroup, deleteGroup: PreparedStatement
    private let insertMember, deleteMember, insertSubgroup, deleteSubgroup, selectChildren: PreparedStatement
    private let selectContact, updateMe: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        let prepare = { (sql: String) in try PreparedStatement(sql, on: db) }
        selectOwner = try prepare("SELECT owner FROM contactGroup WHERE record = ?")
        insertGroup = try prepare("INSERT INTO contactGroup (record, name, owner) VALUES (?, ?, ?)")
        renameGroup = try prepare("UPDATE contactGroup SET name = ?1 WHERE record = ?2 AND name <> ?1")
        deleteGroup = try prepare("DELETE FROM contactGroup WHERE record = ?")
        insertMember = try prepare("INSERT INTO member (parent, contact) VALUES (?, ?) ON CONFLICT DO NOTHING")
        deleteMember = try prepare("DELETE FROM member WHERE parent = ? AND contact = ?")
        insertSubgroup = try prepare("INSERT INTO subgroup (parent, child) VALUES (?, ?) ON CONFLICT DO NOTHING")
        deleteSubgroup = try prepare("DELETE FROM subgroup WHERE parent = ? AND child = ?")
        selectChildren = try prepare("SELECT child FROM subgroup WHERE parent = ?")
        selectContact = try prepare("SELECT 1 FROM contact WHERE record = ?")
        updateMe = try prepare("UPDATE book SET me = ?")
    }

    /// Makes one change. What is already so is no change.
    func apply(_ change: GroupChange, _ index: Int, _ log: inout ChangeLog) throws {
        switch change {
        case .add(let group, let name, let owner):
            insertGroup.bind(1, group.rawValue)
            insertGroup.bind(2, name)
            insertGroup.bind(3, owner)
            try insertGroup.run()
            log.note(.addGroup, group, owner: owner)
        case .rename(let group, let name):
            guard let owner = try owner(of: group) else { throw ChangeError.recordDoesNotExist(index: index) }
            renameGroup.bind(1, name)
            renameGroup.bind(2, group.rawValue)
            if try didChange(renameGroup) { log.note(.updateGroup, group, owner: owner) }
        case .delete(let group):
            guard let owner = try owner(of: group) else { throw ChangeError.recordDoesNotExist(index: index) }
            deleteGroup.bind(1, group.rawValue)
            try deleteGroup.run()
            log.note(.deleteGroup, group, owner: owner)
        case .addMember(let contact, let group), .removeMember(let contact, let group):
            guard let owner = try owner(of: group) else { throw ChangeError.parentRecordDoesNotExist(index: index) }
            guard try exists(contact) else { throw ChangeError.recordDoesNotExist(index: index) }
            let isAdding = if case .addMember = change { true } else { false }
            if try didChange(isAdding ? insertMember : deleteMember, group, contact) {
                log.note(isAdding ? .addMember : .removeMember, group, member: contact, owner: owner)
            }
        case .addSubgroup(let child, let parent, let visible):
            let owner = try owner(of: child, in: parent, index)
            guard try !reaches(parent, from: child, visible) else { throw ChangeError.containmentCycle(index: index) }
            if try didChange(insertSubgroup, parent, child) {
                log.note(.addSubgroup, parent, member: child, owner: owner)
            }
        case .removeSubgroup(let child, let parent):
            let owner = try owner(of: child, in: parent, index)
            if try didChange(deleteSubgroup, parent, child) {
                log.note(.removeSubgroup, parent, member: child, owner: owner)
            }
        case .setMe(let contact):
            if let contact {
                guard try exists(contact) else { throw ChangeError.recordDoesNotExist(index: index) }
                updateMe.bind(1, contact.rawValue)
            } else {
                updateMe.bindNull(1)
            }
            try updateMe.run()
        }
    }

    private func owner(of group: RecordNumber) throws(StoreError) -> [UInt8]? {
        selectOwner.bind(1, group.rawValue)
        defer { selectOwner.reset() }
        return try selectOwner.step() ? selectOwner.bytes(0) : nil
    }

    /// Whose both groups are; empty where they are of two apps.
    private func owner(of child: RecordNumber, in parent: RecordNumber, _ index: Int) throws -> [UInt8] {
        guard let parents = try owner(of: parent) else { throw ChangeError.parentRecordDoesNotExist(index: index) }
        guard let childs = try owner(of: child) else { throw ChangeError.recordDoesNotExist(index: index) }
        return parents == childs ? parents : []
    }

    private func exists(_ contact: RecordNumber) throws(StoreError) -> Bool {
        selectContact.bind(1, contact.rawValue)
        defer { selectContact.reset() }
        return try selectContact.step()
    }

    /// Whether a group is another one or within it, going through visible groups only: a cycle that somebody else's
    /// groups close must not tell that they are there.
    private func reaches(
        _ goal: RecordNumber, from start: RecordNumber, _ visible: [UInt8]?
    ) throws(StoreError) -> Bool {
        var seen: Set<RecordNumber> = [start]
        var rest = [start]
        while let group = rest.popLast() {
            if group == goal { return true }
            selectChildren.bind(1, group.rawValue)
            var children: [RecordNumber] = []
            while try selectChildren.step() { children.append(RecordNumber(selectChildren.integer(0))) }
            for child in children where !seen.contains(child) {
                seen.insert(child)
                if let visible, try owner(of: child) != visible { continue }
                rest.append(child)
            }
        }
        return false
    }

    private func didChange(_ statement: PreparedStatement) throws(StoreError) -> Bool {
        try statement.run()
        return db.changesCount > 0
    }

    private func didChange(
        _ statement: PreparedStatement, _ group: RecordNumber, _ member: RecordNumber
    ) throws(StoreError) -> Bool {
        statement.bind(1, group.rawValue)
        statement.bind(2, member.rawValue)
        return try didChange(statement)
    }
}
