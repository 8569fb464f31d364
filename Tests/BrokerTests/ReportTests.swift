import BrokerAccessControl
import BrokerAccessStore
import BrokerAuditReport
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerLedger

@Suite("The report agrees with what apps received")
struct ReportTests {
    /// Random grants, revocations, reads and saves over many days. Afterwards the report, built from the replies of
    /// `QueryAudit`, is compared with what each app recorded.
    @Test("Random operations", arguments: [1, 2, 3, 4], [false, true])
    func random(seed: UInt64, deletes: Bool) throws {
        let run = try ReportRun(seed: seed, deletes: deletes)
        for _ in 0..<1_200 { try run.step() }
        try run.compare()
        try run.compareParts()
    }
}

/// The state of one random run.
private final class ReportRun {
    /// What one app received.
    private struct Received {
        /// Replies with contacts, by days since 1970.
        var replies: [Int64: Int] = [:]
        var emptyReplies = 0
        var refusals = 0
        var names: Set<String> = []
        var namesByDay: [Int64: Set<String>] = [:]
        /// Seconds since 1970.
        var first: Int64?
        var last: Int64?
        /// Whether it got a list of all contacts while its grant was full.
        var listedAll = false
    }

    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let apps: [TestApp]
    private let ctl: TestApp
    /// Whether contacts are deleted. Then a list may have fewer contacts than the grant.
    private let deletes: Bool
    private var numbers: SeededNumbers
    /// The names of the contacts, and how many there ever were.
    private var names: [String] = []
    private var made = 0
    private var received: [String: Received] = [:]
    private static let day: Int64 = 86_400

    init(seed: UInt64, deletes: Bool) throws {
        self.deletes = deletes
        fixture = try BrokerFixture()
        numbers = SeededNumbers(seed: seed)
        keeper = try fixture.app("keeper", .full)
        apps = try [fixture.app("app0"), fixture.app("app1"), fixture.app("app2", strength: .installed)]
        ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        for _ in 0..<12 { try add(by: keeper) }
    }

    private func pick<Item>(_ items: [Item]) -> Item { items[Int.random(in: 0..<items.count, using: &numbers)] }
    private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &numbers) == 0 }

    private var now: Int64 { fixture.surroundings.seconds }

    /// Equal replies within 10 seconds have one record and a count at the time of the last one. Time never moves less
    /// than that across midnight, so each of them is counted on its own day.
    private func passTime() {
        let seconds: Int64 =
            chance(20) ? .random(in: 600..<30_000, using: &numbers) : .random(in: 0..<5, using: &numbers)
        let crosses = (now + seconds) / Self.day != now / Self.day
        fixture.loop.advance(by: .seconds(crosses ? max(seconds, 60) : seconds))
    }

    func step() throws {
        passTime()
        let app = pick(apps)
        switch Int.random(in: 0..<14, using: &numbers) {
        case 0, 1: try settle(.limited(to: records(Int.random(in: 0...4, using: &numbers))), app)
        // The other apps never have all contacts, so the report knows all contacts that they got.
        case 2: if app === apps[0], chance(2) { try settle(.full, app) }
        case 3: if chance(2) { _ = try ctl.call("SetGrant", #"{"app":"\#(app.caller.app)","status":"denied"}"#) }
        case 4: if chance(3) { _ = try ctl.call("ResetGrant", #"{"app":"\#(app.caller.app)"}"#) }
        case 5: if chance(4) { try narrow(app) }
        case 6: if chance(3) { try add(by: access(of: app) == nil || access(of: app) == .denied ? keeper : app) }
        case 7: if deletes, names.count > 4, chance(4) { try delete() }
        case 8...10: try fetch(#""sortOrder":"givenName""#, by: app, isList: true)
        default: try fetch(#""predicate":{"name":"\#(pick(names))"}"#, by: app, isList: false)
        }
    }

    private func access(of app: TestApp) -> Access? { fixture.access.grant(of: app.principal)?.access }

    private func add(by app: TestApp) throws {
        let name = "N\(made)x"
        made += 1
        try #require(try app.save([.add(given: name)]).error == nil)
        names.append(name)
    }

    private func delete() throws {
        let name = pick(names)
        try #require(try keeper.save([.delete(keeper.identifier(of: name))]).error == nil)
        names.removeAll { $0 == name }
    }

    private func records(_ count: Int) throws -> Set<RecordNumber> {
        try (0..<count).reduce(into: []) { set, _ in set.formUnion(try fixture.records(pick(names))) }
    }

    /// As an agent does, adds contacts to a limited grant, and ends any other grant first.
    private func settle(_ access: Access, _ app: TestApp) throws {
        var access = access
        switch (self.access(of: app), access) {
        case (.limited(let former)?, .limited(let records)) where chance(2):
            access = .limited(to: former.union(records))
        case (_?, _): _ = try ctl.call("ResetGrant", #"{"app":"\#(app.caller.app)"}"#)
        case (nil, _): break
        }
        try fixture.settle(access, for: app)
    }

    /// An administrator removes contacts from a limited grant.
    private func narrow(_ app: TestApp) throws {
        guard case .limited(let records)? = access(of: app) else { return }
        let left = records.filter { _ in chance(2) }.map {
            "\"" + fixture.access.audit.pseudonyms.pseudonym(of: $0, uid: app.caller.uid) + "\""
        }
        let answer = try ctl.call(
            "SetGrant",
            #"{"app":"\#(app.caller.app)","status":"limited","identifiers":[\#(left.sorted().joined(separator: ","))]}"#
        )
        try #require(answer.error == nil)
    }

    /// An app without a grant would wait for the person's answer.
    private func fetch(_ parameters: String, by app: TestApp, isList: Bool) throws {
        guard let access = access(of: app) else { return }
        let answer = try app.fetch(parameters)
        var mine = received[app.caller.app] ?? Received()
        defer { received[app.caller.app] = mine }
        if let error = answer.error {
            #expect(error == "AccessDenied" && access == .denied)
            mine.refusals += 1
            return
        }
        mine.first = mine.first ?? now
        mine.last = now
        if answer.contacts.isEmpty { mine.emptyReplies += 1 } else { mine.replies[now / Self.day, default: 0] += 1 }
        mine.names.formUnion(answer.names)
        mine.namesByDay[now / Self.day, default: []].formUnion(answer.names)
        if isList, access == .full { mine.listedAll = true }
    }

    /// The records that `QueryAudit` with `withEarlier` has at least.
    private func needed(_ records: [JSONValue], since begin: Int64) -> [JSONValue] {
        var (begun, used, lastUses): (Set<String>, Set<String>, [String: Int]) = ([], [], [:])
        var needed: Set<Int> = []
        for (index, record) in records.enumerated() {
            let event = record["event"]?.string ?? ""
            let app =
                "\(record["uid"]?.integer ?? 0) \(record["strength"]?.string ?? "") \(record["app"]?.string ?? "")"
            let isLater = record["time"]?.string.flatMap(Timestamp.seconds).map { $0 >= begin } ?? false
            if isLater || begun.insert(app).inserted || ["grant", "revocation", "save", "purge"].contains(event) {
                needed.insert(index)
            }
            guard event == "disclosure", !isLater else { continue }
            if used.insert(app).inserted { needed.insert(index) }
            lastUses[app] = index
        }
        return needed.union(lastUses.values).sorted().map { records[$0] }
    }

    /// A report about the last days is the same without the earlier records that it does not need.
    func compareParts() throws {
        let records = try ctl.stream("QueryAudit").flatMap { $0.parameters["records"]?.elements.map(Array.init) ?? [] }
        var left = records.count
        for days in [1, 2, 5] {
            let period = ReportPeriod(endingOnDayOf: now, days: days)
            let needed = needed(records, since: period.begin)
            left = min(left, needed.count)
            let texts = [records, needed].map { records in
                var report = AuditReport(period)
                for record in records { report.read(record) }
                let apps = report.users.flatMap(\.apps).map {
                    """
                    \($0.identity) \(String(describing: $0.level)) \($0.levelSince ?? 0) \($0.contacts) \($0.disclosureCount)
                    \($0.contactsByDay.sorted { $0.key < $1.key }) \($0.firstUse ?? 0) \($0.lastUse ?? 0) \($0.isUnused)
                    \($0.otherReplies) \($0.refusals) \($0.saves)
                    """
                }
                return "\(report.beginning ?? 0) \(report.daysWithoutRecords) \(apps)"
            }
            #expect(texts[0] == texts[1], "\(days) days")
        }
        #expect(left < records.count)
    }

    func compare() throws {
        // Closes the windows of repeats.
        let last = now
        fixture.loop.advance(by: .seconds(120))
        let days = Int(last / Self.day - BrokerFixture.start / 1_000_000 / Self.day) + 2
        let period = ReportPeriod(endingOnDayOf: now, days: days)
        var report = AuditReport(period)
        for reply in try ctl.stream("QueryAudit") {
            for record in reply.parameters["records"]?.elements.map(Array.init) ?? [] { report.read(record) }
        }
        #expect(report.namesContacts && report.unknownRecords == 0 && report.gapCount == 0)
        let user = try #require(report.users.first { $0.uid == 1_000 })
        for app in apps {
            let name = app.caller.app
            let mine = try #require(received[name])
            let activity = try #require(user.apps.first { $0.identity.app == name })
            #expect(activity.identity.strength == app.caller.strength.rawValue)
            let replies = Dictionary(
                uniqueKeysWithValues: mine.replies.map { (Int($0.key - period.begin / Self.day), $0.value) })
            #expect(activity.disclosures == replies, "\(name)")
            #expect(activity.otherReplies == mine.emptyReplies && activity.refusals == mine.refusals, "\(name)")
            #expect(activity.firstUse == mine.first && activity.lastUse == mine.last, "\(name)")
            #expect(
                activity.contacts.atLeast <= mine.names.count && mine.names.count <= activity.contacts.atMost, "\(name)"
            )
            if !deletes, !mine.listedAll { #expect(activity.contacts.isExact, "\(name)") }
            for (day, names) in mine.namesByDay where !names.isEmpty {
                let contacts = try #require(activity.contactsByDay[Int(day - period.begin / Self.day)])
                #expect(contacts.atLeast <= names.count && names.count <= contacts.atMost, "\(name), \(day)")
            }
            #expect(activity.level == access(of: app)?.status ?? .notDetermined, "\(name)")
        }
    }
}

extension ReportPeriod {
    /// Days in UTC, whatever the zone of this machine.
    fileprivate init(endingOnDayOf time: Int64, days count: Int) {
        let first = time - time % 86_400 - Int64(count - 1) * 86_400
        let midnights = (0...count).map { first + Int64($0) * 86_400 }
        self.init(
            midnights: midnights, dates: midnights.dropLast().map { String(Timestamp.text(seconds: $0).prefix(10)) })
    }
}
