import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Show what each app read, and how each request was answered. Oldest first.",
        discussion: "Needs the password of the user, or an administrator's; root needs none.")

    @OptionGroup var users: UserOptions
    @Option(
        help: "Only this app: its name, path or identifier, or a part of these.",
        completion: .words(Completions.apps), transform: ShellWord.read)
    var app: String?
    @Option(help: "Only records since a time: 30m, 12h, 7d, 2026-01-31 or '2026-01-31 12:00'.") var since: String?
    @Option(
        help: "Only this event, such as disclosure, refusal or revocation.", completion: .list(AuditWords.events))
    var event: String?
    @Option(
        help: """
            Only records that concern this contact: a name, an e-mail address, a phone number or an identifier. Needs what \
            who needs.
            """, completion: .nothing)
    var contact: String?
    @Option(
        help: """
            Only records that name the contact with this pseudonym, from the output of --json. Needs an administrator's \
            password, or root.
            """, completion: .nothing)
    var pseudonym: String?
    @Option(help: "At most this number of records, the latest.") var limit: Int?
    @Flag(help: "Continue with new records as they arrive, until interrupted.") var follow = false
    @Flag(help: "Print JSON, with hashes; with --follow one record per line.") var json = false
    @Flag(help: "Print comma-separated values (RFC 4180).") var csv = false

    /// The number of records to show if neither ``limit`` nor ``since`` is given.
    private static let defaultLimit = 50
    /// The broker's maximum for a limit.
    private static let mostRecords = 100_000
    /// How many records are requested for each line of a table.
    private static let recordsPerLine = 20
    /// With ``follow``, the number of earlier records to show before the new ones, if neither ``limit`` nor
    /// ``since`` is given.
    private static let defaultLimitBeforeNew = 10

    func validate() throws {
        if let limit, !(1...Self.mostRecords).contains(limit) {
            throw ValidationError(
                "--limit requires a number from 1 to \(Self.mostRecords); --since shows all records since a time")
        }
        try Moment.check(since, of: "--since")
        try RecordWords.check(contacts: contact.map { [$0] } ?? [])
        if contact != nil, follow || users.allUsers || pseudonym != nil {
            throw ValidationError("--contact goes with neither --follow, --all-users nor --pseudonym")
        }
        if let event, !AuditWords.events.contains(event) {
            throw ValidationError("--event requires one of \(AuditWords.events.joined(separator: ", "))")
        }
        if json, csv { throw ValidationError("--json and --csv exclude each other") }
    }

    func run() throws {
        let users = try users.users(to: "read the audit")
        let client = try AdminClient(to: "read the audit", timeout: follow ? nil : AdminClient.timeout)
        // An app that was reset has records, but no grant from which to learn its identifier. In that case
        // this program reads all records and filters them.
        let identifier: String? = try app.flatMap { word in
            let candidates = try client.grants(of: users).filter { $0.isCalled(word) }
            return try candidates.isEmpty ? nil : client.matching(word, in: candidates, users).first?.app
        }
        let isSifted = app != nil && identifier == nil
        let bound = limit ?? (since == nil ? follow ? Self.defaultLimitBeforeNew : Self.defaultLimit : nil)
        // A list of contacts is one line, and many records.
        let mostRecords = bound.map { json || csv || follow ? $0 : min(Self.mostRecords, $0 * Self.recordsPerLine) }
        var records: [JSONValue] = []
        var count = 0
        var removed: String?
        var rows = AuditRows(users)
        if csv { print(AuditWords.csvHeading) }
        try client.stream("QueryAudit") {
            users.write(&$0)
            $0.member("app", identifier)
            $0.member("since", since.flatMap { Moment($0)?.before(Int64(time(nil))) })
            $0.member("event", event)
            $0.member("named", contact)
            $0.member("contact", pseudonym)
            $0.member("limit", isSifted && !follow ? nil : mostRecords)
            if follow { $0.member("follow", true) }
        } each: {
            removed = removed ?? RemovedRecords.day($0)
            let all = $0["records"]?.items ?? []
            let batch = isSifted ? all.filter { Self.isOf($0, app: app ?? "") } : all
            // A table needs all its rows, but lines can be printed as they arrive.
            guard follow || csv && !(isSifted && bound != nil) else {
                records += batch
                count += batch.count
                if records.count > 2 * Self.mostRecords { records.removeFirst(records.count - Self.mostRecords) }
                return
            }
            let lines =
                json
                ? batch.map { Speech.visible(json: String(decoding: $0.text, as: UTF8.self)) }
                : csv ? batch.map(AuditWords.csv) : rows.lines(batch)
            for line in lines { print(line) }
            // Without a flush, a pipe gets the records only when the buffer is full.
            fflush(nil)
        }
        guard !follow else { return }
        // Without these, the latest records are all that the person asked for.
        let isAll = since != nil || contact != nil
        guard !json, !csv else {
            if isAll || count < mostRecords ?? .max { RemovedRecords.say(removed) }
            let shown = Array(records.suffix(isSifted ? bound ?? Self.mostRecords : Self.mostRecords))
            if json { CommandJSON.print { CommandJSON.array("records", shown, &$0) } }
            if csv { for record in shown { print(AuditWords.csv(record)) } }
            return sayMore(shown.count, of: count, bound)
        }
        let lines = AuditTable.lines(records.suffix(Self.mostRecords))
        if isAll || lines.count < bound ?? .max { RemovedRecords.say(removed) }
        guard !lines.isEmpty else { throw CommandFailure("no matching records", .refused) }
        let table = AuditTable.table(lines.suffix(bound ?? lines.count), users, withApp: true)
        Screen.show(table.lines(width: Screen.width, heading: Screen.heading))
        sayMore(
            min(lines.count, bound ?? lines.count), of: bound == nil && count > Self.mostRecords ? count : lines.count,
            bound)
    }

    /// Says that there is more than what is shown.
    private func sayMore(_ shown: Int, of all: Int, _ bound: Int?) {
        if bound == nil, all > shown { Speech.say("shows the latest \(shown) of \(all); for all: --csv") }
        if limit == nil, shown == bound { Speech.say("shows the latest \(shown); for more: --limit") }
    }

    private static func isOf(_ record: JSONValue, app: String) -> Bool {
        record["app"]?.string?.lowercased().contains(app.lowercased()) ?? false
    }
}
