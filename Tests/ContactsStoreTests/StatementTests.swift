import BrokerSQLite
import Testing

@testable import BrokerContactsStore

@Suite("Statements")
struct StatementTests {
    @Test("A statement does not run if a parameter could not be set, and can then be used again")
    func parameterOutOfRange() throws {
        let database = try Database(path: ":memory:", .readWrite, patience: 0)
        try database.execute("CREATE TABLE kept (value INTEGER)")
        let insert = try PreparedStatement("INSERT INTO kept VALUES (?1)", on: database)
        insert.bind(1, 1)
        insert.bind(2, 2)
        #expect(throws: StoreError.self) { try insert.run() }
        #expect(try database.integer("SELECT count(*) FROM kept") == 0)

        insert.bind(1, 3)
        try insert.run()
        #expect(try database.text("SELECT group_concat(value) FROM kept") == "3")
    }

    @Test("A statement accepts no parameter while it is being read")
    func parameterOfRunningStatement() throws {
        let database = try Database(path: ":memory:", .readWrite, patience: 0)
        let select = try PreparedStatement("VALUES (?1), (?1)", on: database)
        select.bind(1, 1)
        #expect(try select.step())
        select.bind(1, "other")
        #expect(throws: StoreError.self) { try select.step() }
    }
}
