import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show which app read what, and what you answered. Oldest first.")

    @Option(help: "Of this app only: its name or identifier, or part of it.") var app: String?
    @Option(help: "Since a time: 30m, 12h, 7d, 2026-01-31 or 2026-01-31T12:00:00Z.") var since: String?
    @Option(help: "Of this event only, such as disclosure, refusal or revocation.") var event: String?
    @Option(help: "Of this contact only, by its name in what --json prints.") var contact: String?
    @Option(help: "The latest so many.") var limit: Int?
    @Flag(help: "Go on with new records as they come, until interrupted.") var follow = false
    @Flag(help: "Print JSON, with hashes; with --follow one record a line.") var json = false

    /// The number of records to show if neither ``limit`` nor ``since`` is given.
    private static let defaultLimit = 50
    /// The broker's maximum for a limit.
    private static let mostRecords = 100_000
    /// With ``follow``, the number of earlier records to show before the new ones, if neither ``limit`` nor
    /// ``since`` is given.
    private static let defaultLimitBeforeNew = 10

    func validate() throws {
        if let limit, !(1...Self.mostRecords).contains(limit) {
            throw ValidationError(
                "--limit takes a number from 1 to \(Self.mostRecords); --since gives all since a time")
        }
        if let since, Moment(since) == nil {
            throw ValidationError("--since takes 30m, 12h, 7d, a date or a time; not \(Speech.clean(since))")
        }
    }

    func run() throws {
        let client = try AdminClient(to: "read the audit", waitingForEver: follow)
        // An app that was reset has records, but no grant from which to learn its identifier. In that case
        // this program reads all records and filters them.
        let identifier: String? = try app.flatMap { word in
            let candidates = try client.grants().filter { $0.isCalled(word) }
            return try candidates.isEmpty ? nil : client.matching(word, in: candidates).first?.app
        }
        let isSifted = app != nil && identifier == nil
        let bound = limit ?? (since == nil ? follow ? Self.defaultLimitBeforeNew : Self.defaultLimit : nil)
        var records: [JSONValue] = []
        var rows = AuditRows()
        try client.stream("QueryAudit") {
            $0.member("app", identifier)
            $0.member("since", since.flatMap { Moment($0)?.before(Int64(time(nil))) })
            $0.member("event", event)
            $0.member("contact", contact)
            $0.member("limit", isSifted && !follow ? nil : bound)
            if follow { $0.member("follow", true) }
        } each: {
            let all = $0["records"]?.elements.map(Array.init) ?? []
            let batch = isSifted ? all.filter { Self.isOf($0, app: app ?? "") } : all
            guard follow else {
                records += batch
                return
            }
            for record in batch { print(json ? String(decoding: record.text, as: UTF8.self) : rows.line(record)) }
            // Without a flush, a pipe gets the records only when the buffer is full.
            fflush(nil)
        }
        guard !follow else { return }
        if isSifted, let bound { records = records.suffix(bound) }
        if json {
            print(JSONLines.text(records))
        } else if records.isEmpty {
            throw CommandFailure("nothing is on record", .refused)
        } else {
            for line in AuditTable.lines(records, withApp: true) { print(line) }
        }
        if limit == nil, records.count == bound { Speech.say("the latest \(records.count); more with --limit") }
    }

    private static func isOf(_ record: JSONValue, app: String) -> Bool {
        record["app"]?.string?.lowercased().contains(app.lowercased()) ?? false
    }
}
