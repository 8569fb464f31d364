import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change an app's access. More access needs the password of the user.",
        discussion: """
            A value whose option you omit stays unchanged. An app with full access that is set to limited sees nothing \
            until you share single contacts in contact-agent.
            """)

    @OptionGroup var target: AppOptions
    @OptionGroup var users: UserOptions
    @Option(help: "full, limited or denied.", completion: .list(levels)) var level: String?
    @Option(
        help:
            "The keys that the app may read, such as givenName,familyName,phoneNumbers; groups also covers groups that other apps made.",
        completion: .list(GrantKey.allCases.map(\.rawValue)))
    var keys: String?
    @Option(help: "What the app may change: none, own (what it adds), edit (what it sees) or all (also delete).")
    var changes: ChangeRight?
    @Option(help: "The end of the access: in 30m, 12h, 7d, or at 2026-01-31 or '2026-01-31 12:00'.") var until: String?
    @Flag(help: "Print JSON.") var json = false

    private static let levels = ["full", "limited", "denied"]

    func validate() throws {
        guard level != nil || keys != nil || changes != nil || until != nil else {
            throw ValidationError("nothing to change; use --level, --keys, --changes or --until")
        }
        if let level, !Self.levels.contains(level) {
            throw ValidationError("--level requires full, limited or denied, not \(Speech.clean(level))")
        }
        if let keys {
            let unknown = Self.names(keys).first { GrantKey(rawValue: $0) == nil }
            guard unknown == nil, !Self.names(keys).isEmpty else {
                throw ValidationError(
                    "--keys requires names of keys, separated by commas; \(Speech.clean(unknown ?? keys)) is not a key")
            }
        }
        try Moment.check(until, of: "--until")
    }

    private static func names(_ keys: String) -> [String] {
        keys.split(separator: ",").map { String($0.filter { $0 != " " }) }.filter { !$0.isEmpty }
    }

    func run() throws {
        let (users, client) = try users.open(to: "change the access")
        let grants = try client.matching(
            target.app, strength: target.strength, in: client.grants(of: users).filter(\.isDecided), users)
        guard let grant = grants.first else { return }
        // The person must choose the grant, because a wrong guess could give an app more access.
        let strengths = Set(grants.map(\.strength)).sorted()
        guard strengths.count == 1, users.isAll || grants.count == 1 else {
            throw client.refused(
                "\(grant.name.full) has \(grants.count) grants",
                try: "choose one: " + strengths.map { "--strength \(Speech.clean($0))" }.joined(separator: " or "))
        }
        let statuses = Set(grants.map(\.status))
        guard let status = level ?? (statuses.count == 1 ? grant.status : nil) else {
            throw client.refused("\(grant.name.full) has different access for each user", try: "name one user: --user")
        }
        let reply = try client.call("SetGrant") {
            $0.member("app", grant.app)
            $0.member("strength", grant.strength)
            $0.member("status", status)
            $0.member("keys", keys.map(Self.names))
            $0.member("changes", changes?.rawValue)
            $0.member("expires", until.flatMap { Moment($0)?.after(Int64(time(nil))) })
            users.write(&$0)
        }
        let now = AppGrant.all(reply["grants"])
        guard !json else { return CommandJSON.print { CommandJSON.grants(now, &$0) } }
        for grant in now {
            let end = grant.status == "denied" ? "" : ", \(grant.until(users, absolute: true))"
            print("changed\(users.suffix(grant.uid)): \(grant.name.full) now sees \(grant.sees)\(end)")
            if changes != nil, let changes = grant.changes { print("it may \(changes.words)") }
        }
        if let changes, now.contains(where: { $0.changes.map { $0 < changes } ?? false }) {
            Speech.say(
                "a rule of the policy lets it change less than \(changes.rawValue): contactctl why \(target.shellWord)")
        }
        if now.contains(where: { $0.status == "limited" && $0.contacts == 0 }) {
            // Only the user themself can, or root for one user.
            let option = users.isAll ? " --user USER" : users.option
            Speech.say(
                "to share contacts with it: contactctl share \(target.shellWord) --contact NAME\(option); "
                    + "or choose the app in contact-agent")
        }
    }
}

extension ChangeRight: ExpressibleByArgument {}
