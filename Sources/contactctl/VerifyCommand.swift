import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that no audit record was changed or removed.",
        discussion: """
            Checks the records of all users, so it needs an administrator's password, or root. Keep the printed head in \
            another place: later it shows whether records were cut off at the end.
            """)

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let reply = try AdminClient(to: "verify the audit").call("VerifyAudit")
        let records = reply["records"]?.integer ?? 0
        let head = reply["head"]?.string ?? ""
        let contradictions = reply["contradictions"]?.elements.map(Array.init) ?? []
        if json {
            CommandJSON.print {
                $0.member("records", records)
                $0.member("head", head)
                $0.member("brokenAt", reply["brokenAt"]?.integer)
                CommandJSON.array("contradictions", contradictions, &$0)
            }
        }
        if let brokenAt = reply["brokenAt"]?.integer {
            throw CommandFailure(
                "the audit is broken: record \(brokenAt) does not follow from the one before",
                try: "the records before it are unchanged; compare the others with a backup", .refused)
        }
        if let book = contradictions.first {
            let (uid, sequence) = (book["uid"]?.integer ?? 0, book["sequence"]?.integer ?? 0)
            throw CommandFailure(
                "the audit contradicts the address book of user \(uid): record \(sequence) is missing or was changed",
                try: "access.sqlite was replaced by an older or a different file; compare it with a backup", .refused)
        }
        guard !json else { return }
        print(records == 1 ? "1 record is unchanged" : "\(records) records are unchanged")
        print("head \(Speech.clean(head))")
    }
}
