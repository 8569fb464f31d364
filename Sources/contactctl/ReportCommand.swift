import ArgumentParser
import BrokerAuditReport
import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Summarize what each app got in the last days, from the audit.",
        discussion: "Needs the password of the user, or an administrator's; root needs none.")

    @OptionGroup var users: UserOptions
    @Option(help: "The number of days, in the local time zone.") var days = 30
    @Option(help: "The last day, such as 2026-01-31. Without it, today.") var until: String?
    @Option(help: "Write an HTML page without scripts to this file, to print or mail.", completion: .file()) var html:
        String?
    @Flag(help: "Print JSON.") var json = false
    @Flag(help: "Print comma-separated values (RFC 4180).") var csv = false

    private static let mostDays = 366
    private static let task = "make the report"

    func validate() throws {
        guard (1...Self.mostDays).contains(days) else {
            throw ValidationError("--days requires a number from 1 to \(Self.mostDays)")
        }
        if let until, until.utf8.count != 10 || LocalTime.seconds(until) == nil {
            throw ValidationError("--until requires a day such as 2026-01-31, not \(Speech.clean(until))")
        }
        guard [html != nil, json, csv].count(where: \.self) < 2 else {
            throw ValidationError("--html, --json and --csv exclude each other")
        }
    }

    func run() throws {
        let (users, client) = try users.open(to: Self.task)
        let days = LocalTime.days(endingOnDayOf: until.flatMap(LocalTime.seconds) ?? Int64(time(nil)), count: days)
        var report = AuditReport(ReportPeriod(midnights: days.midnights, dates: days.dates))
        // Nobody should type a password for a report that cannot be written. The file of this attempt is removed at once,
        // so that nothing is left if the person interrupts the program.
        if let html { _ = try file(at: html) }
        try client.stream("QueryAudit") {
            users.write(&$0)
            $0.member("since", Timestamp.text(seconds: report.period.begin))
            $0.member("withEarlier", true)
            $0.member("until", Timestamp.text(seconds: report.period.end))
        } each: { reply in
            if let day = RemovedRecords.day(reply).flatMap(Timestamp.seconds) { report.noteRemoval(until: day) }
            for record in reply["records"]?.items ?? [] { report.read(record) }
        }
        if json { return CommandJSON.print { ReportJSON.write(report, &$0) } }
        if csv { return print(ReportCSV.lines(report).joined(separator: "\n")) }
        guard let html else {
            let screen = ReportScreen(report: report, users: users)
            return Screen.show(screen.lines(width: Screen.width, heading: Screen.heading))
        }
        let file = try file(at: html)
        try file.write(Array(ReportPage(report: report, users: users).markup.text.utf8))
        try file.finish()
        Speech.say("wrote the report to \(Speech.clean(html)); only you can read the file")
    }

    private func file(at path: String) throws -> OutputFile {
        try OutputFile(at: path, to: Self.task, followsLink: false)
    }
}
