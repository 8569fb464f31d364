import BrokerModel
import BrokerSQLite

/// Makes changes to containers. Use it only within a transaction.
struct ContainerWriter {
    let db: Database
    var bin: BinWriter?

    /// Makes one change. It is not logged, because the change history does not cover containers.
    func apply(_ change: ContainerChange, _ index: Int) throws {
        switch change {
        case .add(let container, let name):
            guard try db.integer("SELECT count(*) FROM container") ?? 0 < StoredContainer.most else {
                throw ChangeError.tooManyContainers(index: index)
            }
            try bin?.keep(container: container.rawValue, name: nil)
            try db.statement("INSERT INTO container (record, name) VALUES (?, ?)")
                .bind(1, container.rawValue).bind(2, name).run()
        case .delete(let container):
            let select = try db.statement("SELECT name FROM container WHERE record = ?")
            guard let name = try select.bind(1, container.rawValue).first({ $0.text(0) }) else {
                throw ChangeError.recordDoesNotExist(index: index)
            }
            for table in ["contact", "contactGroup"] {
                let within = try db.statement("SELECT 1 FROM \(table) WHERE container = ? LIMIT 1")
                guard try !within.bind(1, container.rawValue).hasRow() else {
                    throw ChangeError.containerInUse(index: index)
                }
            }
            try bin?.keep(container: container.rawValue, name: name)
            try db.statement("DELETE FROM container WHERE record = ?").bind(1, container.rawValue).run()
        case .put(let record, let isGroup, let container):
            guard try exists(container) else { throw ChangeError.recordDoesNotExist(index: index) }
            try db.statement("UPDATE \(isGroup ? "contactGroup" : "contact") SET container = ? WHERE record = ?")
                .bind(1, container.rawValue).bind(2, record.rawValue).run()
        }
    }

    private func exists(_ container: RecordNumber) throws(StoreError) -> Bool {
        try db.statement("SELECT 1 FROM container WHERE record = ?").bind(1, container.rawValue).hasRow()
    }
}
