/// The times that SQLite alone takes for work in the comparison, in microseconds (p50).
struct StorageFloor {
    let rowByKey: Double
    let everyRow: Double
    let commit: Double
    let insertion: Double
}

extension Benchmark {
    mutating func measureStorage() throws {
        let sqlite = try SQLiteFloor(folder: scratch.state, count: size)
        let (row, all) = (try sqlite.rowByKey(), try sqlite.everyRow())
        let (unsynced, durable) = (try sqlite.commits(durable: false), try sqlite.commits(durable: true))
        report.figures += [
            Figure("SQLite: row by key", row), Figure(name("SQLite: every row"), all),
            Figure("SQLite: commit of one row, not synced", unsynced),
            Figure("SQLite: commit of one row, durable", durable),
            Figure(name("SQLite: insert every row, one transaction"), sqlite.insertion),
        ]
        storage = StorageFloor(
            rowByKey: row.p50, everyRow: all.p50, commit: durable.p50, insertion: sqlite.insertion.p50)
    }
}
