import BrokerModel
import BrokerSQLite

/// What is written of containers. Used within a transaction only.
final class ContainerStatements {
    private let count, insert, delete, exists, contactWithin, groupWithin, putContact, putGroup: PreparedStatement

    init(_ db: Database) throws {
        let prepare = { (sql: String) in try PreparedStatement(sql, on: db) }
        count = try prepare("SELECT count(*) FROM container")
        insert = try prepare("INSERT INTO container (record, name) VALUES (?, ?)")
        delete = try prepare("DELETE FROM container WHERE record = ?")
        exists = try prepare("SELECT 1 FROM container WHERE record = ?")
        contactWithin = try prepare("SELECT 1 FROM contact WHERE container = ? LIMIT 1")
        groupWithin = try prepare("SELECT 1 FROM contactGroup WHERE container = ? LIMIT 1")
        putContact = try prepare("UPDATE contact SET container = ? WHERE record = ?")
        putGroup = try prepare("UPDATE contactGroup SET container = ? WHERE record = ?")
    }

    /// Makes one change. It is no part of the history, which tells of contacts and groups.
    func apply(_ change: ContainerChange, _ index: Int) throws {
        switch change {
        case .add(let container, let name):
            guard try number(count) < StoredContainer.most else { throw ChangeError.tooManyContainers(index: index) }
            insert.bind(1, container.rawValue)
            insert.bind(2, name)
            try insert.run()
        case .delete(let container):
            guard try finds(exists, container) else { throw ChangeError.recordDoesNotExist(index: index) }
            guard try !finds(contactWithin, container), try !finds(groupWithin, container) else {
                throw ChangeError.containerInUse(index: index)
            }
            delete.bind(1, container.rawValue)
            try delete.run()
        case .put(let record, let isGroup, let container):
            guard try finds(exists, container) else { throw ChangeError.recordDoesNotExist(index: index) }
            let put = isGroup ? putGroup : putContact
            put.bind(1, container.rawValue)
            put.bind(2, record.rawValue)
            try put.run()
        }
    }

    private func number(_ statement: PreparedStatement) throws(StoreError) -> Int64 {
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    private func finds(_ statement: PreparedStatement, _ container: RecordNumber) throws(StoreError) -> Bool {
        statement.bind(1, container.rawValue)
        defer { statement.reset() }
        return try statement.step()
    }
}
