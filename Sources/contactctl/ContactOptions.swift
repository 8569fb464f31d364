import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

/// A change of an app's access to single contacts and contact groups.
struct ContactChange {
    let change: String
    let contacts: [String]
    var groups: [String] = []
    let task: String
    let done: String

    func carryOut(_ target: AppOptions, _ users: Users, json: Bool) throws {
        let client = try AdminClient(to: task)
        let grants = try client.grants(of: target, users)
        guard let first = grants.first else { return }
        let reply = try client.call("ChangeGrantedContacts") {
            $0.member("app", first.app)
            $0.member("strength", target.strength)
            $0.member("change", change)
            if !contacts.isEmpty { $0.member("contacts", contacts) }
            if !groups.isEmpty { $0.member("groups", groups) }
            users.write(&$0)
        }
        let changed = AppGrant.all(reply["grants"])
        guard !json else { return CommandJSON.print { CommandJSON.grants(changed, &$0) } }
        for grant in changed {
            print("\(done)\(users.suffix): \(grant.name.full) now sees \(grant.sees)")
        }
        guard !changed.isEmpty else {
            return Speech.say("nothing changed: \(first.name.full) sees \(first.sees)\(users.suffix)")
        }
        if change != "share" { Speech.say("it may have kept what it has already read") }
    }
}

/// The options of a command that concern whose contacts it changes, and its output.
struct ContactOwnerOptions: ParsableArguments {
    @Option(
        help: "Whose contacts: a name or a UID. Only for root.",
        completion: .words(Completions.users)
    )
    var user: String?
    @Flag(help: "Print JSON.") var json = false
}

/// How a person names contacts and contact groups.
enum RecordWords {
    static let contacts: ArgumentHelp =
        "A contact: a name, an e-mail address, a phone number or an identifier. Repeat it for several contacts."
    static let groups: ArgumentHelp = "A contact group, by its whole name. Repeat it for several groups."

    /// The broker's maximum of contacts, and of groups.
    private static let most = 20

    static func check(contacts: [String] = [], groups: [String] = []) throws {
        // The broker's maxima, in bytes.
        if contacts.contains(where: { $0.utf8.count > 256 }) {
            throw ValidationError("the contact's name, address or number has more than 256 bytes")
        }
        if groups.contains(where: { $0.utf8.count > 1_024 }) {
            throw ValidationError("the group's name has more than 1024 bytes")
        }
        for (option, words) in [("--contact", contacts), ("--group", groups)] where words.count > most {
            throw ValidationError("\(option) can be repeated \(most) times at most")
        }
    }
}
