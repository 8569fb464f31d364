import BrokerAccessControl
import BrokerAuditReport
import BrokerJSON
import BrokerModel
import Glibc
import Testing

@testable import contactctl

@Suite("contactctl report")
struct ReportTests {
    /// 2026-03-01, 12:00.
    private static let now: Int64 = 1_772_366_400
    private static let day: Int64 = 86_400

    private func report(_ records: [String], days: Int = 3) throws -> AuditReport {
        var report = AuditReport(ReportPeriod(endingOnDayOf: Self.now, days: days))
        for record in records { report.read(try JSONDocument(parsing: Array(record.utf8)).root) }
        return report
    }

    private func record(_ seconds: Int64, _ event: String, _ more: String = "", app: String = "app", uid: Int = 7)
        -> String
    {
        """
        {"sequence":1,"time":"\(Timestamp.text(seconds: Self.now + seconds))","uid":\(uid),"app":"\(app)",\
        "strength":"claimed","event":"\(event)"\(more)}
        """
    }

    private func only(_ report: AuditReport) throws -> AppActivity {
        let user = try #require(report.users.first)
        try #require(report.users.count == 1 && user.apps.count == 1)
        return user.apps[0]
    }

    private let named = #","contacts":2,"keys":["givenName"],"contactIdentifiers":["a","b"]"#
    private let list = #","contacts":5,"keys":["givenName"]"#

    @Test("A period begins and ends at midnight, and only its records count")
    func period() throws {
        let midnight = Self.now - Self.now % Self.day - Self.now
        let first = midnight - 2 * Self.day
        let app = try only(
            report(
                [first - 1, first, midnight - 1, midnight, midnight + Self.day - 1, midnight + Self.day].map {
                    record($0, "disclosure", named)
                }))
        #expect(app.disclosures == [0: 1, 1: 1, 2: 2])
        // The first use was before the period.
        #expect(app.firstUse == Self.now + first - 1 && app.lastUse == Self.now + midnight + Self.day - 1)
    }

    @Test("A record that counts repeats counts as many replies, and no further contacts")
    func repeats() throws {
        let app = try only(
            report([record(-90, "disclosure", list), record(-80, "disclosure", list + #","repeats":6"#)]))
        #expect(app.disclosureCount == 7)
        #expect(app.contacts == ContactCount(atLeast: 5, atMost: 5))
    }

    @Test("Repeats at the beginning of the period have contacts that no other record of the period has")
    func repeatsAtBeginning() throws {
        let midnight = Self.now - Self.now % Self.day - Self.now - 2 * Self.day
        let app = try only(
            report([
                record(midnight - 3, "disclosure", list), record(midnight + 3, "disclosure", list + #","repeats":6"#),
            ]))
        #expect(app.disclosureCount == 6 && app.contacts.atMost == 5)
    }

    @Test("A list under a limited grant has the grant's contacts; any other list has only a number")
    func lists() throws {
        let grant = #","status":"limited","contacts":2,"detail":"untilRevoked","contactIdentifiers":["a","b"]"#
        let two = #","contacts":2,"keys":["givenName"]"#
        var records = [record(-9, "grant", grant), record(-8, "disclosure", two), record(-7, "disclosure", named)]
        #expect(try only(report(records)).contacts == ContactCount(atLeast: 2, atMost: 2))
        // A contact leaves the grant, another one joins it.
        records += [
            record(-6, "revocation", #","status":"limited","contacts":1,"contactIdentifiers":["a"]"#),
            record(-5, "grant", #","status":"limited","detail":"untilRevoked","contactIdentifiers":["c"]"#),
            record(-4, "disclosure", two),
        ]
        #expect(try only(report(records)).contacts == ContactCount(atLeast: 3, atMost: 3))
        // One of the contacts was deleted, and the list is shorter than the set.
        let short = #","contacts":1,"keys":["givenName"]"#
        #expect(try only(report(records + [record(-3, "disclosure", short)])).contacts.isExact == false)
        let full = record(-2, "grant", #","status":"full","detail":"untilRevoked""#)
        #expect(
            try only(report(records + [full, record(-1, "disclosure", list)])).contacts
                == ContactCount(atLeast: 5, atMost: 8))
    }

    @Test("With grants for sessions, the contacts of a list are not known")
    func sessions() throws {
        let grant = #","status":"limited","contacts":2,"contactIdentifiers":["a","b"],"detail":"#
        let app = try only(
            report([
                record(-9, "grant", grant + #""untilRevoked""#), record(-8, "grant", grant + #""session""#),
                record(-7, "disclosure", #","contacts":2,"keys":["givenName"]"#),
                record(-6, "disclosure", #","contacts":2,"keys":["givenName"]"#),
                record(-5, "revocation", #","status":"notDetermined","detail":"ended""#),
            ]))
        #expect(app.contacts == ContactCount(atLeast: 2, atMost: 4))
        // A denial that replaced a session's grant had a second record.
        #expect(
            try only(
                report([
                    record(-9, "grant", #","status":"full","detail":"session""#),
                    record(-8, "revocation", #","status":"denied""#),
                    record(-8, "revocation", #","status":"notDetermined","detail":"revoked, by root""#),
                ])
            ).level == .denied)
        // The grant that is not bound to the session stays.
        #expect(ReportWords.level(app) == "limited" && app.hasAccess)
    }

    @Test("The agent and a declared folder are no apps")
    func noApps() throws {
        let agent = "/usr/bin/contact-agent sha256:ab"
        #expect(
            try report([
                record(-9, "agent", #","detail":"joined, without a password""#, app: agent),
                record(-8, "agentSearch", #","contacts":3"#, app: agent), record(-7, "declaration", app: "/home/a/b"),
            ]).users.isEmpty)
    }

    @Test("A grant without a reply in the period is unused; a denial and a used grant are not")
    func unused() throws {
        let grant = record(-40 * Self.day, "grant", #","status":"full","detail":"untilRevoked""#)
        let former = record(-39 * Self.day, "disclosure", named)
        #expect(try only(report([grant, former])).isUnused)
        #expect(
            try only(report([grant, record(-5, "disclosure", #","contacts":0,"keys":[],"contactIdentifiers":[]"#)]))
                .isUnused == false)
        #expect(try report([grant, record(-39 * Self.day, "revocation", #","status":"denied""#)]).users.isEmpty)
        #expect(
            try report([grant, #"{"time":"2026-02-01T00:00:00Z","uid":7,"app":"","event":"purge"}"#]).users.isEmpty)
    }

    @Test("Prompts, answers, refusals and withdrawn replies are counted")
    func decisions() throws {
        let by = "by agent (installed), without a password"
        let app = try only(
            report([
                record(-9, "prompt"), record(-8, "answer", #","status":"limited","detail":"\#(by)""#),
                record(-7, "prompt"), record(-6, "answer", #","detail":"never ask again, \#(by)""#),
                // The person changed the app's access themself.
                record(-6, "answer", #","status":"full","detail":"in a review, \#(by)""#),
                record(-5, "prompt"), record(-5, "refusal", #","status":"denied""#),
                record(-4, "refusal", #","status":"denied","repeats":3"#), record(-3, "withheld", #","contacts":2"#),
                record(-2, "alarm"), record(-1, "alarm"),
            ]))
        #expect(ReportWords.prompts(app) == "3 prompts: 1 limited, 1 never ask again, 1 unanswered")
        #expect(app.refusals == 4 && app.withheld == 2 && app.alarms == 2)
    }

    @Test("Gaps are listed, the latest last, and days without records are named from the audit's beginning on")
    func gaps() throws {
        let report = try report(
            (0..<25).map { record(-Self.day + Int64($0), "gap", #","detail":"lost \#($0)""#, app: "") }
                + [record(0, "hologram")])
        #expect(report.gapCount == 25 && report.gaps.count == 20 && report.gaps.last?.detail == "lost 24")
        #expect(report.daysWithoutRecords == ["2026-03-01"] && report.unknownRecords == 1)
        let screen = ReportScreen(report: report, users: .own).lines(width: 80) { $0 }
        #expect(screen[2] == "THE AUDIT HAS GAPS" && screen[3] == "! 5 earlier gaps")
        #expect(ReportPage(report: report, users: .own).markup.text.contains("<h2>The audit has gaps</h2>"))
    }

    @Test("A person's own records name no contacts, so the number of different contacts is a range")
    func own() throws {
        let own = [record(-9, "disclosure", list), record(-8, "disclosure", list)].map {
            $0.replacing("\"sequence\":1,", with: "")
        }
        let report = try report(own)
        #expect(try only(report).contacts == ContactCount(atLeast: 5, atMost: 10) && !report.namesContacts)
        #expect(ReportWords.notes(report, .own).contains { $0.hasPrefix("12+") && $0.contains("administrator") })
    }

    // MARK: The page

    private static let hostile = [
        "<script>alert(1)</script>", "a\\\" onmouseover=\\\"alert(1)", "a' style='background:url(//x)",
        "</title><b>&amp;",
        "a\\u202Etxt.exe", "a\\nb\\r\\u0000\\u001b[31m", "--><svg onload=alert(1)>",
        "/bin/\\u200bx\\u2066 sha256:<img src=x>",
    ]

    @Test("Names of apps, identities and the broker's words cannot become markup", arguments: hostile)
    func escapes(text: String) throws {
        let grant = #","status":"full","detail":"untilRevoked""#
        var report = try report([
            record(-9, "disclosure", named, app: text),
            record(-40 * Self.day, "grant", grant, app: "unused " + text),
            record(-9, "disclosure", named, app: "x").replacing("claimed", with: text),
            record(-8, "gap", #","detail":"\#(text)""#, app: ""),
        ])
        let page = ReportPage(report: report, users: .one(7, name: "\"<i>\u{202E}")).markup.text
        let ours: Set<Substring> = [
            "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "ul", "li", "section",
            "article", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "svg", "desc", "div", "figure",
            "figcaption", "path", "text",
        ]
        for piece in page.split(separator: "<", omittingEmptySubsequences: false).dropFirst() {
            let tag = piece.prefix { $0 != ">" }
            let name = tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber || $0 == "!" }
            #expect(ours.contains(name), "<\(tag)>")
            #expect(!tag.contains(/\s(on\w+|src|href)\s*=/), "<\(tag)>")
            #expect(name == "section" || name == "meta" || !tag.contains(" style"), "<\(tag)>")
        }
        let forbidden = page.unicodeScalars.filter {
            $0.properties.generalCategory == .format || $0.properties.generalCategory == .control && $0 != "\n"
        }
        #expect(forbidden.isEmpty)
        #expect(page.contains(#"content="default-src 'none'; style-src 'unsafe-inline'""#))
        // At a terminal, no escape sequence and no line break of an app gets through.
        report.read(try JSONDocument(parsing: Array(record(-1, "disclosure", named).utf8)).root)
        let screen = ReportScreen(report: report, users: .own).lines(width: 100) { $0 }
        #expect(screen.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E } })
    }

    @Test("The page is written completely, only for its owner, and never through a link")
    func file() throws {
        let broker = try ReportedMachine.broker()
        let path = broker.folder + "/report.html", link = broker.folder + "/link.html"
        defer { for each in [path, link] { unlink(each) } }
        func run(_ file: String) throws -> RunningProgram.Outcome {
            try RunningProgram(
                "contactctl", ["report", "--until", ReportedMachine.lastDay, "--html", file], runtime: broker.folder
            ).finish()
        }
        let outcome = try run(path)
        #expect(outcome.code == 0 && outcome.output.isEmpty, "\(outcome.error)")
        var status = stat()
        try #require(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        try #require(symlink(path, link) == 0)
        let refused = try run(link)
        #expect(refused.code == 2 && refused.error.contains("a symbolic link"))
        #expect(lstat(path, &status) == 0 && status.st_size > 1_000)
        // The broker was not even asked.
        #expect(broker.asked.count == 1)
    }

    @Test("If the broker refuses, an earlier report stays as it was")
    func refusal() throws {
        let broker = try ScriptedBroker { _, _ in .error("io.contactbroker.Admin.NotAuthorized") }
        let path = broker.folder + "/report.html"
        defer { unlink(path) }
        let file = try #require(fopen(path, "w"))
        fputs("earlier", file)
        fclose(file)
        let outcome = try RunningProgram("contactctl", ["report", "--html", path], runtime: broker.folder).finish()
        #expect(outcome.code == 1 && outcome.error.contains("could not make the report"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_size == 7)
    }

    @Test(
        "Options that make no sense are refused",
        arguments: [
            ["--days", "0"], ["--days", "367"], ["--until", "tomorrow"], ["--until", "2026-02-30"],
            ["--json", "--csv"],
            ["--html", "x", "--json"],
        ])
    func options(_ arguments: [String]) throws {
        let outcome = try RunningProgram("contactctl", ["report"] + arguments, runtime: "/nonexistent").finish()
        #expect(outcome.code == 2 && outcome.output.isEmpty && outcome.error.contains(arguments[0].dropLast(0)))
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
