import BrokerAccessControl
import BrokerAccessStore
import BrokerJSON
import BrokerModel
import BrokerVarlinkClient
import Glibc

/// Measures what the audit costs per disclosure, and how long queries of a long audit take.
extension Benchmark {
    private static let records = 1_000_000
    private static let apps = 100
    private static let queries = 20
    private static let perCommit = 5_000
    private static let fetches = 4_000
    /// 2026-01-01, in microseconds since 1970.
    private static let began: Int64 = 1_767_225_600_000_000
    /// The time between two records, in microseconds.
    private static let pause: Int64 = 10_000_000

    /// A fetch that repeats an earlier one within seconds is counted and not recorded, so the difference is the cost of
    /// a record.
    mutating func measureRecord(_ app: ChildProcess) throws {
        _ = try place(app, .oneCore)
        var times: (recorded: [Int64], counted: [Int64]) = ([], [])
        for _ in 0..<Self.rounds {
            let count = Self.fetches / Self.rounds
            times.recorded += try app.ask("fetch \(count)").dropFirst(2)
            times.counted += try app.ask("fetch-again \(count)").dropFirst(2)
        }
        let (recorded, counted) = (Samples(times.recorded), Samples(times.counted))
        report.figures.append(Figure("a disclosure with its record, one core", recorded))
        report.figures.append(Figure("a disclosure that is only counted, one core", counted))
        report.figures.append(Figure("the audit's cost per disclosure", .time(max(0, recorded.p50 - counted.p50))))
        try place(app)
    }

    private func place(_ app: ChildProcess) throws { _ = try place(app, nil) }

    /// Measures queries in an audit of a million records, which 100 apps caused. Some apps caused many, others few.
    static func measureAudit(_ build: String, _ report: inout Report) throws {
        let scratch = try Scratch(build: build)
        defer { scratch.remove() }
        let size = try write(records, into: scratch.state)
        try scratch.startBroker()
        let client = try VarlinkClient(path: scratch.admin, timeout: .seconds(60))
        func measure(_ name: String, _ count: Int = queries, expecting: ClosedRange<Int>, _ parameters: String) throws {
            let times = try (0..<count).map { _ in
                let start = Clock.now()
                let reply = try client.call("io.contactbroker.Admin.QueryAudit", parameters: Array(parameters.utf8))
                let time = Clock.now() - start
                let found = reply["records"]?.count ?? -1
                guard expecting.contains(found) else { throw Failure("\(name): \(found) records were found") }
                return time
            }
            report.figures.append(Figure("audit of 1,000,000 records: \(name)", Samples(times)))
        }
        let hour = began + Int64(records / 2) * pause
        let window =
            #""since":"\#(Timestamp.text(seconds: hour / 1_000_000))","until":"\#(Timestamp.text(seconds: hour / 1_000_000 + 3_600))""#
        try measure("the latest 50", expecting: 50...50, #"{"allUsers":true,"limit":50}"#)
        try measure("50 of a busy app", expecting: 50...50, #"{"allUsers":true,"app":"org.example.App0","limit":50}"#)
        try measure("50 of a rare app", expecting: 50...50, #"{"allUsers":true,"app":"org.example.App99","limit":50}"#)
        try measure(
            "none of an unknown app", expecting: 0...0, #"{"allUsers":true,"app":"org.example.None","limit":50}"#)
        try measure("50 of a user", expecting: 50...50, #"{"uid":1002,"limit":50}"#)
        try measure("the records of one hour", expecting: 300...400, "{\"allUsers\":true,\(window),\"limit\":1000}")
        try measure("none of a rare event", expecting: 0...0, #"{"allUsers":true,"event":"purge","limit":50}"#)
        let named = try client.call(
            "io.contactbroker.Admin.QueryAudit", parameters: Array("{\"allUsers\":true,\(window),\"limit\":1}".utf8))
        let pseudonym = named["records"]?.elements?.first { _ in true }?["contactIdentifiers"]?.elements?.first { _ in
            true
        }?.string
        guard let pseudonym else { throw Failure("the records name no contact") }
        try measure(
            "the records of a contact", expecting: 1...100, #"{"allUsers":true,"contact":"\#(pseudonym)","limit":100}"#)
        let start = Clock.now()
        guard try client.call("io.contactbroker.Admin.VerifyAudit")["brokenAt"] == nil else {
            throw Failure("the audit is broken")
        }
        report.figures.append(Figure("audit of 1,000,000 records: verification", Samples([Clock.now() - start])))
        report.figures.append(Figure("audit of 1,000,000 records: the file", .size(size)))
    }

    /// Writes an audit as a broker would have written it.
    ///
    /// - Returns: the size of the file, in bytes.
    private static func write(_ count: Int, into state: String) throws -> Int {
        say("writing an audit of \(count) records")
        let store = try AccessStore.open(folder: state, now: began)
        for number in 0..<count {
            // The first app has a tenth of all records, the last one a thousandth.
            let place = number % 1_000
            let app = place < 100 ? 0 : place < 999 ? 1 + place % (apps - 2) : apps - 1
            store.audit.append(
                AuditRecord(
                    time: began + Int64(number) * pause, uid: UInt32(1_000 + app % 3), app: "org.example.App\(app)",
                    strength: .installed, event: .disclosure,
                    keys: ContactKeySet([.givenName, .familyName, .phoneNumbers]), count: 1,
                    contacts: [RecordNumber(Int64(1 + number % 50_000))], revision: 5))
            if number % perCommit == perCommit - 1 { try store.commit() }
        }
        try store.commit()
        store.close(now: began + Int64(count) * pause)
        var status = stat()
        guard stat(state + "/access.sqlite", &status) == 0 else { throw Failure(system: "the audit is not there") }
        return Int(status.st_size)
    }
}
