import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what one app may know, and what it did last.")

    @Argument(help: "The app's name or identifier, or part of it.") var app: String
    /// The number of audit records to show.
    private static let recent = 5

    func run() throws {
        let client = try AdminClient(to: "show the app")
        let grants = try client.matching(app, in: client.grants())
        for (place, grant) in grants.enumerated() {
            if place > 0 { print() }
            for line in Self.lines(grant) { print(line) }
        }
        guard let identifier = grants.first?.app else { return }
        let records = try client.call("QueryAudit") {
            $0.member("app", identifier)
            $0.member("limit", Self.recent)
        }
        guard let elements = records["records"]?.elements, records["records"]?.count != 0 else { return }
        print("\nLast on record")
        for line in AuditTable.lines(Array(elements), withApp: false) { print("  \(line)") }
    }

    static func lines(_ grant: AppGrant) -> [String] {
        var lines = [Speech.clean(grant.displayName)]
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            lines.append("  " + name + String(repeating: " ", count: 12 - name.count) + Speech.clean(value))
        }
        add("identifier", grant.app)
        add("how sure", "\(grant.strength): \(grant.certainty)")
        switch grant.status {
        case "full": add("may see", "all contacts")
        case "limited": add("may see", grant.contacts == 1 ? "1 contact" : "\(grant.contacts) contacts")
        case "denied": add("may see", "nothing: you refused it")
        case "notDetermined": add("may see", "nothing: you decided nothing about it")
        default: add("status", grant.status)
        }
        add("policy", grant.text("counts").map { "makes it \($0); contactctl why says by which rule" })
        if grant.isSilenced { add("questions", "never: contactctl reset has it ask again") }
        if grant.status != "denied" {
            add("reads", KeyWords.text(grant.json["keys"]))
            add("until", grant.end)
        }
        let decidedBy = grant.text("decidedBy").map { $0 == "person" ? " by you" : " by \($0)" } ?? ""
        add("decided", grant.text("decidedAt").map { LocalTime.text($0) + decidedBy })
        add("answered", grant.text("decidedThrough"))
        add("last used", grant.lastUsed)
        add("uses", (grant.json["uses"]?.integer).map { "\($0)" })
        return lines
    }
}
