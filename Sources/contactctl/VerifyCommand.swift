import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that nobody has altered the audit.",
        discussion: """
            Keep the head that is printed somewhere else: later it shows that nothing was cut off at the end.
            """)

    func run() throws {
        let reply = try AdminClient(to: "verify the audit").call("VerifyAudit")
        let records = reply["records"]?.integer ?? 0
        if let brokenAt = reply["brokenAt"]?.integer {
            throw CommandFailure(
                "the audit is broken: record \(brokenAt) does not follow from the one before",
                try: "what stands before it is as it was written; restore the rest from a backup to compare", .refused)
        }
        if let book = reply["contradictions"]?.elements?.first(where: { _ in true }) {
            let (uid, sequence) = (book["uid"]?.integer ?? 0, book["sequence"]?.integer ?? 0)
            throw CommandFailure(
                "the audit is not the one that user \(uid)'s address book was saved with: record \(sequence) is missing or "
                    + "another one",
                try: "an older access.sqlite was put back, or another one written; compare it with a backup", .refused)
        }
        print(records == 1 ? "1 record, as it was written" : "\(records) records, all as they were written")
        print("head \(Speech.clean(reply["head"]?.string ?? ""))")
    }
}
