import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

/// One app's grant, as the broker reports it. The broker also reports an undecided app whose prompts are
/// turned off.
struct AppGrant {
    let json: JSONValue
    let app: String
    let displayName: String

    var uid: UInt32 { json["uid"]?.uid ?? 0 }
    var strength: String { text("strength") ?? "" }
    var status: String { text("status") ?? "" }
    var contacts: Int64 { json["contacts"]?.integer ?? 0 }

    init(_ json: JSONValue) {
        self.json = json
        app = json["app"]?.string ?? ""
        displayName = json["displayName"]?.string ?? app
    }

    /// The grants in a member of a reply.
    static func all(_ list: JSONValue?) -> [AppGrant] { list?.items.map(AppGrant.init) ?? [] }

    /// The grants of each app together, in the order of the first ones.
    static func byApp(_ grants: [AppGrant]) -> [[AppGrant]] {
        var order: [String] = []
        for grant in grants where !order.contains(grant.app) { order.append(grant.app) }
        let apps = Dictionary(grouping: grants, by: \.app)
        return order.compactMap { apps[$0] }
    }

    func text(_ name: String) -> String? { json[name]?.string }

    var name: AppName { AppName(app, displayName: displayName) }

    /// Whether the person turned off this app's prompts.
    var isSilenced: Bool { json["silenced"]?.bool == true }

    /// Whether the person or an administrator has decided on access.
    var isDecided: Bool { status != "notDetermined" }

    /// The policy's effective status; `nil` if the policy does not change the grant.
    var byPolicy: String? { text("counts") }

    /// The effective status in words.
    var statusWords: String {
        let words = Self.words(ofStatus: byPolicy ?? status) + (byPolicy == nil ? "" : " by policy")
        return isSilenced ? "\(words), never ask" : words
    }

    static func words(ofStatus status: String) -> String { status == "notDetermined" ? "not decided" : status }

    /// The contacts that the app sees, in words.
    var contactsSeen: String {
        switch byPolicy ?? status {
        case "full": "all contacts"
        case "limited": Count.words(contacts, "contact") + groups
        default: "nothing"
        }
    }

    /// The keys that the app may read, in words; `nil` if it sees nothing.
    var keysSeen: String? {
        contactsSeen == "nothing" ? nil : KeyWords.text(json["keys"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What the app may change; `nil` if it sees nothing.
    var changes: ChangeRight? { contactsSeen == "nothing" ? nil : text("changes").flatMap(ChangeRight.init) }

    /// The contacts and the keys in one text.
    var sees: String { keysSeen.map { "\(contactsSeen): \($0)" } ?? contactsSeen }

    /// Says that contact groups are shared, which the broker does not name without a password.
    private var groups: String {
        let count = json["groups"]?.integer ?? 0
        return count == 0 ? "" : " (\(Count.words(count, "group")))"
    }

    /// Who decided, from the reader's point of view: `you`, `root`, or the user's name.
    func decider(_ users: Users) -> String {
        guard text("decidedBy") == "administrator" else { return users.isOwn ? "you" : "the user" }
        let through = text("decidedThrough") ?? ""
        return ChangedBy.name(in: through) ?? (through.hasSuffix("by root") ? "root" : "an administrator")
    }

    /// What ends the grant, or who denied it.
    func until(_ users: Users, absolute: Bool) -> String {
        switch byPolicy ?? status {
        case "notDetermined" where byPolicy != nil: return "ended by policy"
        case "denied" where byPolicy != nil, "restricted": return "until the policy changes"
        case "denied":
            let isRevoked = text("decidedThrough")?.hasPrefix("revoked ") == true
            return "\(isRevoked ? "revoked" : "denied") by \(decider(users))"
        case "notDetermined": return "until reset"
        default: break
        }
        let end = text("expires").map { absolute ? LocalTime.text($0) : RelativeTime.left(until: $0) }
        if let session = text("session") { return sessionWords(session) + (end.map { ", at most \($0)" } ?? "") }
        if let end { return end }
        return byPolicy == nil ? "until revoked" : "until the policy changes"
    }

    /// The terminal session or process that the grant is bound to, with the terminal's name.
    private func sessionWords(_ words: String) -> String {
        guard let leader = json["sessionLeader"]?.integer.flatMap(pid_t.init(exactly:)) else { return words }
        let terminal = TerminalName.ofSession(leader).map { " (\($0))" } ?? ""
        return (leader == getsid(0) ? "this terminal session" : "a terminal session") + terminal
    }

    func lastUsed(absolute: Bool) -> String {
        guard let time = text("lastUsedAt") else { return "never" }
        return absolute ? LocalTime.text(time) : RelativeTime.since(time)
    }

    /// Explains the identity strength.
    var certainty: String {
        switch strength {
        case "labelled": "named by the kernel's security label"
        case "sandboxed": "named by its sandbox"
        case "service": "a service of the system manager"
        case "installed": "named by an installed package; other programs of the user can imitate it"
        case "password":
            "whoever knows its password; other programs of the user can read it from the program's settings"
        case "claimed": "started under this name, which any program of the user can use"
        case "unverified": "known only by its file, which other programs of the user can run"
        case "declared": "a program in a folder that the user declared; whatever can write there can replace it"
        default: "unknown"
        }
    }

    /// Whether the word is part of the app's identifier or name, in any case, or its path with the beginning of its hash.
    func isCalled(_ word: String) -> Bool {
        app.lowercased().contains(word.lowercased()) || displayName.lowercased().contains(word.lowercased())
            || name.placeAndHash == word
    }
}
