import BrokerAccessControl
import BrokerAuditReport
import BrokerCommandOutput
import BrokerModel

/// The words that the report uses at the terminal and on the HTML page.
enum ReportWords {
    static func level(_ app: AppActivity) -> String {
        app.level.map { AppGrant.words(ofStatus: $0.rawValue) } ?? "no record"
    }

    /// A number of contacts; `12+` for at least 12.
    static func contacts(_ count: ContactCount) -> String { count.isExact ? "\(count.atMost)" : "\(count.atLeast)+" }

    /// A number of contacts in words: `at least 12, at most 40`.
    static func range(_ count: ContactCount) -> String {
        count.isExact ? "\(count.atMost)" : "at least \(count.atLeast), at most \(count.atMost)"
    }

    static func keys(_ app: AppActivity) -> String { KeyWords.text(app.keys) }

    /// The prompts and their results: `3 prompts: 1 limited, 2 denied`; empty if there were none.
    static func prompts(_ app: AppActivity) -> String {
        var results = AppActivity.Answer.allCases.compactMap { answer in
            app.answers[answer].map { "\($0) \(words(answer))" }
        }
        if app.unanswered > 0 { results.append("\(app.unanswered) unanswered") }
        guard !results.isEmpty else { return "" }
        return "\(Count.words(app.prompts, "prompt")): " + results.joined(separator: ", ")
    }

    static func words(_ answer: AppActivity.Answer) -> String {
        answer == .neverAskAgain ? "never ask again" : answer.rawValue
    }

    /// A local time to the minute.
    static func time(_ seconds: Int64?) -> String? { seconds.map { LocalTime.text(Timestamp.text(seconds: $0)) } }

    static func day(_ seconds: Int64?) -> String? { time(seconds).map { String($0.prefix(10)) } }

    /// The day up to which retention removed records; `nil` if it removed none. The broker counts these days in UTC.
    static func removalDay(_ report: AuditReport) -> String? {
        report.removedUntil.map { String(Timestamp.text(seconds: $0).prefix(10)) }
    }

    static func period(_ report: AuditReport) -> String {
        let (period, days) = (report.period, report.period.count)
        return
            "\(period.date(0)) to \(period.date(days - 1)) (\(Count.words(days, "day")), \(LocalTime.zone(at: period.begin)))"
    }

    static func scope(_ users: Users) -> String {
        switch users {
        case .own: "your apps"
        case .one, .all: "the apps of " + (users.name ?? "")
        }
    }

    /// Losses of audit records, the most important part of a report; empty if there are none.
    static func gaps(_ report: AuditReport) -> [String] {
        let hidden = report.gapCount - report.gaps.count
        return (hidden > 0 ? ["\(hidden) earlier gaps"] : [])
            + report.gaps.map { gap in
                let what =
                    gap.detail.isEmpty
                    ? "the broker ended unexpectedly; records of the last tenth of a second may be missing" : gap.detail
                return "\(time(gap.time) ?? ""): \(what)"
            }
    }

    /// What a reader must know to understand the numbers.
    static func notes(_ report: AuditReport, _ users: Users) -> [String] {
        var notes: [String] = []
        if let removed = removalDay(report) {
            notes.append(
                """
                Retention removed the audit's records up to \(removed). What an app was allowed before may be missing, and \
                so may contacts that it got in lists.
                """)
        }
        if let beginning = report.beginning {
            if beginning >= report.period.begin { notes.append("The audit begins on \(day(beginning) ?? "").") }
        } else {
            notes.append("The audit has no records.")
        }
        let without = report.daysWithoutRecords
        if !without.isEmpty { notes.append("Days without any record: \(dates(without)).") }
        notes.append(
            """
            Disclosures are replies with contacts. The record of a reply with many contacts has several parts, and each \
            part counts.
            """)
        if report.users.contains(where: { !$0.contacts.isExact || $0.apps.contains { !$0.contacts.isExact } }) {
            notes.append(
                report.namesContacts
                    ? """
                    12+: at least 12 different contacts. The audit does not name the contacts of a list of all contacts, so \
                    the number is that of the largest part of such a list.
                    """
                    : """
                    12+: at least 12 different contacts, the most in one record. Only an administrator's report can tell \
                    whether two records are about the same contacts.
                    """)
        }
        if !users.isAll {
            notes.append("Losses that concern the whole audit may be only in the report about all users.")
        }
        if report.unknownRecords > 0 {
            notes.append(
                "\(Count.words(report.unknownRecords, "record")) of an unknown kind not counted: update contactctl.")
        }
        notes.append("Built from the audit alone: what is not on record is not in this report.")
        return notes
    }

    /// The most dates that a note lists.
    private static let datesListed = 10

    static func dates(_ dates: [String]) -> String {
        let hidden = dates.count - datesListed
        return dates.prefix(datesListed).joined(separator: ", ") + (hidden > 0 ? " and \(hidden) more" : "")
    }
}
