import ArgumentParser
import BrokerCommandOutput
import BrokerConnection
import BrokerJSON
import BrokerModel
import Glibc

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that no audit record was changed or removed.",
        discussion: """
            Checks the records of all users, so it needs an administrator's password, or root. Root also compares them with \
            the positions that the broker reported to the system's journal, every hour and at each stop. Keep the printed \
            head in another place, in case the journal is lost.
            """)

    @Option(
        help: """
            Compare only with what the journal got since a time, such as 12h or '2026-01-31 12:00', for example since you \
            put an older audit back yourself.
            """)
    var since: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws { try Moment.check(since, of: "--since") }

    func run() throws {
        let earliest = since.flatMap { Moment($0)?.before(Int64(time(nil))) }.flatMap(Timestamp.seconds) ?? 0
        // Only root can read all of the journal, and a session's broker does not report to the system's journal.
        let mayRead = getuid() == 0 && BrokerConnection.systemBrokerIsInstalled
        let journal = mayRead ? JournalHeads.read(since: earliest) : nil
        let heads = journal?.heads ?? []
        let reply = try AdminClient(to: "verify the audit").read("VerifyAudit") {
            if !heads.isEmpty { journal?.write(&$0) }
        }
        let contradictedHeads = reply["contradictedHeads"]?.items ?? []
        let records = reply["records"]?.integer ?? 0
        let head = reply["head"]?.string ?? ""
        let removed = VerifiedRemoval(reply["removed"])
        let contradictions = reply["contradictions"]?.items ?? []
        if json {
            CommandJSON.print {
                $0.member("records", records)
                $0.member("head", head)
                $0.member("brokenAt", reply["brokenAt"]?.integer)
                $0.member("missingTo", reply["missingTo"]?.integer)
                if let removed = reply["removed"] {
                    $0.name("removed")
                    $0.raw(Array(removed.text))
                }
                CommandJSON.array("contradictions", contradictions, &$0)
                $0.member("journalHeads", journal?.heads.count)
                CommandJSON.array("contradictedHeads", contradictedHeads, &$0)
            }
        }
        if let brokenAt = reply["brokenAt"]?.integer {
            throw CommandFailure(
                "the audit is broken: \(Self.words(brokenAt, missingTo: reply["missingTo"]?.integer))",
                try: "the records before it are unchanged; compare the others with a backup", .refused)
        }
        if let book = contradictions.first {
            let (uid, sequence) = (book["uid"]?.integer ?? 0, book["sequence"]?.integer ?? 0)
            throw CommandFailure(
                "the audit contradicts the address book of user \(uid): record \(sequence) is missing or was changed",
                try: "access.sqlite was replaced by an older or a different file; compare it with a backup", .refused)
        }
        if let found = JournalContradiction(heads, contradicted: contradictedHeads) {
            throw CommandFailure(found.reason(last: records + (removed?.sequence ?? 0)), try: found.advice, .refused)
        }
        if let journal, let reason = removed?.contradiction(journal) {
            throw CommandFailure(
                reason, try: "somebody may have removed them by hand; compare access.sqlite with a backup", .refused)
        }
        guard !json else { return }
        print("\(Count.words(records, "record")) \(records == 1 ? "is" : "are") unchanged")
        if let removed { print(removed.words) }
        print("head \(Speech.clean(head))")
        let confirmed = heads.filter { $0.sequence > removed?.sequence ?? 0 }
        if let last = confirmed.max(by: { $0.sequence < $1.sequence }) {
            print("the journal confirms \(confirmed.count) of them, the last one is record \(last.sequence)")
        } else if mayRead {
            Speech.say(
                journal == nil
                    ? "the journal could not be read, so the end of the audit is not confirmed"
                    : "the journal has no report of this audit yet, so its end is not confirmed")
        } else if BrokerConnection.systemBrokerIsInstalled {
            Speech.say("root also compares the audit with the journal: sudo contactctl verify")
        }
    }

    private static func words(_ brokenAt: Int64, missingTo last: Int64?) -> String {
        guard let last, last >= brokenAt else { return "record \(brokenAt) does not follow from the one before" }
        let which = last == brokenAt ? "record \(brokenAt) is" : "records \(brokenAt) to \(last) are"
        return "\(which) missing, and no record says that retention removed \(last == brokenAt ? "it" : "them")"
    }
}
