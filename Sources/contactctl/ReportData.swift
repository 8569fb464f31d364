import BrokerAccessControl
import BrokerAuditReport
import BrokerJSON
import BrokerModel

/// The report for programs, as JSON.
enum ReportJSON {
    static func write(_ report: AuditReport, _ writer: inout JSONWriter) {
        let period = report.period
        writer.member("from", period.date(0))
        writer.member("until", period.date(period.count - 1))
        writer.member("begin", Timestamp.text(seconds: period.begin))
        writer.member("end", Timestamp.text(seconds: period.end))
        writer.member("auditBegins", report.beginning.map(Timestamp.text(seconds:)))
        writer.member("removedUntil", ReportWords.removalDay(report))
        writer.member("daysWithoutRecords", report.daysWithoutRecords)
        writer.member("gapCount", report.gapCount)
        writer.name("gaps")
        writer.array(report.gaps) { writer, gap in
            writer.object {
                $0.member("time", Timestamp.text(seconds: gap.time))
                $0.member("detail", gap.detail)
            }
        }
        writer.member("unknownRecords", report.unknownRecords)
        writer.name("users")
        writer.array(report.users) { writer, user in
            writer.object {
                $0.member("uid", user.uid)
                contacts(user.contacts, &$0)
                $0.member("daysWithoutRecords", user.daysWithoutRecords)
                $0.name("apps")
                $0.array(user.apps) { writer, app in writer.object { self.app(app, period, &$0) } }
            }
        }
    }

    private static func contacts(_ count: ContactCount, _ writer: inout JSONWriter) {
        writer.member("contactsAtLeast", count.atLeast)
        writer.member("contactsAtMost", count.atMost)
    }

    static func app(_ app: AppActivity, _ period: ReportPeriod, _ writer: inout JSONWriter) {
        writer.member("app", app.identity.app)
        writer.member("strength", app.identity.strength)
        writer.member("level", app.level?.rawValue)
        writer.member("levelSince", app.levelSince.map(Timestamp.text(seconds:)))
        writer.member("keys", app.keys.grantNames)
        contacts(app.contacts, &writer)
        writer.member("disclosures", app.disclosureCount)
        writer.name("disclosuresPerDay")
        writer.array(0..<period.count) { $0.value(app.disclosures[$1] ?? 0) }
        writer.name("contactsPerDayAtLeast")
        writer.array(0..<period.count) { $0.value(app.contactsByDay[$1]?.atLeast ?? 0) }
        writer.member("otherReplies", app.otherReplies)
        writer.member("firstUse", app.firstUse.map(Timestamp.text(seconds:)))
        writer.member("lastUse", app.lastUse.map(Timestamp.text(seconds:)))
        writer.member("unused", app.isUnused)
        writer.member("grants", app.grants)
        writer.member("revocations", app.revocations)
        writer.member("prompts", app.prompts)
        writer.name("answers")
        writer.object {
            for answer in AppActivity.Answer.allCases { $0.member(answer.rawValue, app.answers[answer] ?? 0) }
        }
        writer.member("refusals", app.refusals)
        writer.member("withheld", app.withheld)
        writer.member("saves", app.saves)
        writer.member("alarms", app.alarms)
    }
}

/// The report as comma-separated values (RFC 4180), one line for each app, with the values of the JSON.
enum ReportCSV {
    static func lines(_ report: AuditReport) -> [String] {
        let columns =
            [
                "uid", "app", "strength", "level", "contactsAtLeast", "contactsAtMost", "disclosures", "otherReplies",
                "keys", "firstUse", "lastUse", "unused", "grants", "revocations", "prompts",
            ] + AppActivity.Answer.allCases.map { "answers.\($0.rawValue)" } + [
                "refusals", "withheld", "saves", "alarms",
            ]
        return [columns.joined(separator: ",")]
            + report.users.flatMap(\.apps).compactMap { app in
                var writer = JSONWriter()
                writer.object {
                    $0.member("uid", app.identity.uid)
                    ReportJSON.app(app, report.period, &$0)
                }
                return (try? JSONDocument(parsing: writer.bytes)).map { AuditWords.csv($0.root, columns) }
            }
    }
}
