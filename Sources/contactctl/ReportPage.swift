import BrokerAuditReport
import BrokerModel

/// The report as one HTML page that can be printed and mailed. It has no scripts, loads nothing, and its content security
/// policy forbids both.
struct ReportPage {
    let report: AuditReport
    let users: Users

    var markup: Markup {
        let title = "Contacts disclosed to \(ReportWords.scope(users))"
        let all = report.users
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width">
            <meta name="referrer" content="no-referrer">
            <title>\(title), \(ReportWords.period(report))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>\(title)</h1>
            <p>\(ReportWords.period(report))</p>
            \(gaps)\(all.isEmpty ? Self.nothing : "")\(unused(all))\(all.map { section($0) })<h2>Notes</h2>
            <ul>
            \(ReportWords.notes(report, users).map { "<li>\($0)</li>\n" as Markup })</ul>
            </body>
            </html>

            """
    }

    private static let nothing: Markup = "<p>No app is on record.</p>\n"

    private var gaps: Markup {
        let gaps = ReportWords.gaps(report)
        guard !gaps.isEmpty else { return "" }
        return """
            <section class="alert" role="alert">
            <h2>The audit has gaps</h2>
            <ul>
            \(gaps.map { "<li>\($0)</li>\n" as Markup })</ul>
            </section>

            """
    }

    private func unused(_ all: [AuditReport.User]) -> Markup {
        let apps = all.flatMap { $0.apps.filter(\.isUnused) }
        guard !apps.isEmpty else { return "" }
        let rows = apps.map { app in
            """
            <tr>\(userCell(app.identity.uid))<th scope="row">\(AppName(app.identity.app).identityAndHash)</th>\
            <td>\(ReportWords.level(app))</td><td>\(ReportWords.day(app.levelSince) ?? "")</td>\
            <td>\(ReportWords.day(app.lastUse) ?? "never")</td></tr>

            """ as Markup
        }
        return """
            <h2>Access that was not used</h2>
            <table>
            <thead><tr>\(userHeading)<th scope="col">App</th><th scope="col">Level</th><th scope="col">Since</th>\
            <th scope="col">Last used</th></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>

            """
    }

    private var userHeading: Markup { users.isAll ? "<th scope=\"col\">User</th>" : "" }
    private func userCell(_ uid: UInt32) -> Markup { users.isAll ? "<td>\(UserName.text(uid))</td>" : "" }

    // MARK: One user

    private func section(_ user: AuditReport.User) -> Markup {
        let names = AppName.identities(user.apps.map { AppName($0.identity.app) })
        let without = user.daysWithoutRecords
        let days = without.isEmpty ? "none" : "\(without.count): \(ReportWords.dates(without))"
        return """
            <section>
            <h2>\(users.isAll ? "User \(UserName.text(user.uid))" : "All apps together")</h2>
            \(plots(user.disclosures, user.contactsByDay))
            <dl>
            <dt>Different contacts</dt><dd>\(ReportWords.range(user.contacts))</dd>
            <dt>Disclosures</dt><dd>\(user.sum(\.disclosureCount))</dd>
            <dt>Refusals</dt><dd>\(user.sum(\.refusals))</dd>
            <dt>Alarms</dt><dd>\(user.sum(\.alarms))</dd>
            <dt>Prompts</dt><dd>\(user.sum(\.prompts))</dd>
            <dt>Days without records</dt><dd>\(days)</dd>
            </dl>
            <table>
            <thead><tr><th scope="col">App</th><th scope="col">Level</th>\
            <th scope="col" class="number">Contacts</th><th scope="col" class="number">Disclosures</th>\
            <th scope="col" class="number">Refusals</th><th scope="col">First used</th>\
            <th scope="col">Last used</th></tr></thead>
            <tbody>
            \(zip(user.apps, names).map { row($0, $1) })</tbody>
            </table>
            \(zip(user.apps, names).map { article($0, $1) })</section>

            """
    }

    private func plots(_ disclosures: [Int: Int], _ contacts: [Int: ContactCount]) -> Markup {
        guard !disclosures.isEmpty else { return "" }
        let isExact = contacts.values.allSatisfy(\.isExact)
        return """
            <div class="plots">
            \(DayPlot.markup("Disclosures per day", disclosures, report.period))
            \(DayPlot.markup(
                "Different contacts per day\(isExact ? "" : " (at least)")", contacts.mapValues(\.atLeast), report.period))
            </div>
            """
    }

    private func row(_ app: AppActivity, _ name: String) -> Markup {
        """
        <tr><th scope="row">\(name)</th><td>\(ReportWords.level(app))</td>\
        <td class="number">\(ReportWords.contacts(app.contacts))</td><td class="number">\(app.disclosureCount)</td>\
        <td class="number">\(app.refusals)</td><td>\(ReportWords.day(app.firstUse) ?? "never")</td>\
        <td>\(ReportWords.day(app.lastUse) ?? "never")</td></tr>

        """
    }

    private func article(_ app: AppActivity, _ name: String) -> Markup {
        let since = app.levelSince.map { ", since \(ReportWords.time($0) ?? "")" } ?? ""
        let hash = AppName(app.identity.app).hash
        return """
            <article>
            <h3>\(name)</h3>
            \(plots(app.disclosures, app.contactsByDay))
            <dl>
            \(entry("Identity", app.identity.strength + (hash.map { ", SHA-256 \($0)" } ?? "")))\
            \(entry("Level", ReportWords.level(app) + since))\
            \(entry("Keys received", ReportWords.keys(app)))\
            \(entry("Different contacts", ReportWords.range(app.contacts)))\
            \(entry("Disclosures", "\(app.disclosureCount)"))\
            \(entry("Replies without contacts", app.otherReplies))\
            \(entry("First and last used", uses(app)))\
            \(entry("Grants", app.grants))\
            \(entry("Revocations", app.revocations))\
            \(entry("Prompts", ReportWords.prompts(app)))\
            \(entry("Refusals", app.refusals))\
            \(entry("Replies withdrawn after a revocation", app.withheld))\
            \(entry("Saves", app.saves))\
            \(entry("Alarms", app.alarms))</dl>
            </article>

            """
    }

    private func uses(_ app: AppActivity) -> String {
        guard let first = ReportWords.time(app.firstUse), let last = ReportWords.time(app.lastUse) else {
            return "never"
        }
        return "\(first) and \(last)"
    }

    /// A line of a list; none if there is nothing to say.
    private func entry(_ name: String, _ value: String) -> Markup {
        value.isEmpty ? "" : "<dt>\(name)</dt><dd>\(value)</dd>\n"
    }

    private func entry(_ name: String, _ value: Int) -> Markup { value == 0 ? "" : entry(name, "\(value)") }

    private static let style: Markup = """

        :root { color-scheme: light dark; --line: #c8ccd4; --soft: #5a6070; --bar: #2f6db5; --alert: #b3261e }
        @media (prefers-color-scheme: dark) { :root { --line: #444a57; --soft: #a2a9b8; --bar: #7fb2f0; --alert: #ff8a80 } }
        body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
        h1 { font-size: 1.5rem; margin: 0 }
        h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line) }
        h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere }
        .alert { border: 2px solid var(--alert); padding: 0 1rem; margin: 1rem 0 }
        .alert h2 { color: var(--alert); border: 0; margin: .5rem 0 }
        table { border-collapse: collapse; width: 100%; margin: .75rem 0 }
        th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line) }
        thead th { color: var(--soft); font-weight: normal; white-space: nowrap }
        td { white-space: nowrap }
        tbody th { font-weight: normal; overflow-wrap: anywhere }
        th.number, td.number { text-align: right }
        dl { display: grid; grid-template-columns: 16rem 1fr; margin: .5rem 0 }
        dt { color: var(--soft) }
        dd { margin: 0; overflow-wrap: anywhere }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1rem 2rem }
        figure { margin: .5rem 0 }
        figcaption { color: var(--soft) }
        svg { display: block; width: 100% }
        .bars { fill: var(--bar) }
        .axis { stroke: var(--line); fill: none }
        svg text { font-size: 11px; fill: var(--soft) }
        .end { text-anchor: end }
        @media (max-width: 40rem) { dl { grid-template-columns: 1fr } dd { margin: 0 0 .4rem } }
        @media print { body { margin: 0; max-width: none } article, tr, svg { break-inside: avoid } }

        """
}
