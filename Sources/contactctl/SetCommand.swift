import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change what an app may see: less at once, more with your password.",
        discussion: """
            What is not named stays as it is. An app that had everything and is set to limited sees nothing until you \
            share single contacts in contact-agent. To forget what you said, use reset.
            """)

    @Argument(help: "The app's name or identifier, or part of it.") var app: String
    @Option(help: "full, limited or denied.") var level: String?
    @Option(
        help: "The keys that it may read, such as givenName,familyName,phoneNumbers; groups lets it see others' groups."
    )
    var keys: String?
    @Option(help: "When that ends: in 30m, 12h, 7d, or at 2026-01-31 or 2026-01-31T12:00:00Z.") var until: String?
    @Option(help: "Only where the broker was so sure of the app, for example unverified.") var strength: String?

    private static let levels = ["full", "limited", "denied"]

    func validate() throws {
        guard level != nil || keys != nil || until != nil else {
            throw ValidationError("nothing to change; name --level, --keys or --until")
        }
        if let level, !Self.levels.contains(level) {
            throw ValidationError("--level takes full, limited or denied; not \(Speech.clean(level))")
        }
        if let keys {
            let unknown = Self.names(keys).first { GrantKey(rawValue: $0) == nil }
            guard unknown == nil, !Self.names(keys).isEmpty else {
                throw ValidationError(
                    "--keys takes names of keys, with commas between; \(Speech.clean(unknown ?? keys)) is none")
            }
        }
        if let until, Moment(until) == nil {
            throw ValidationError("--until takes 30m, 12h, 7d, a date or a time; not \(Speech.clean(until))")
        }
    }

    private static func names(_ keys: String) -> [String] {
        keys.split(separator: ",").map { String($0.filter { $0 != " " }) }.filter { !$0.isEmpty }
    }

    func run() throws {
        let client = try AdminClient(to: "change what the app may see")
        let grants = try client.matching(app, strength: strength, in: client.grants().filter(\.isDecided))
        guard let grant = grants.first else { return }
        // The person must choose the grant, because a wrong guess could give an app more access.
        guard grants.count == 1 else {
            throw client.refused(
                "the broker knows \(Speech.clean(grant.displayName)) in \(grants.count) ways",
                try: "name one: " + grants.map { "--strength \(Speech.clean($0.strength))" }.joined(separator: " or "))
        }
        let reply = try client.call("SetGrant") {
            $0.member("app", grant.app)
            $0.member("strength", grant.strength)
            $0.member("status", level ?? grant.status)
            $0.member("keys", keys.map(Self.names))
            $0.member("expires", until.flatMap { Moment($0)?.after(Int64(time(nil))) })
        }
        let now = reply["grants"]?.elements.map { $0.map(AppGrant.init) }?.first ?? grant
        let read = KeyWords.text(now.json["keys"]).map { ", \($0)" } ?? ""
        let contacts = now.extent == "1" ? "contact" : "contacts"
        let sight = now.status == "denied" ? "no contact" : "\(now.extent) \(contacts)\(read)"
        let end = now.status == "denied" ? "" : ", until \(now.end == "revoked" ? "you revoke it" : now.end)"
        print("\(Speech.clean(now.displayName)) may see \(sight)\(end)")
        if now.status == "limited", now.contacts == 0 {
            Speech.say("share contacts with it in contact-agent: l lists the apps")
        }
    }
}
