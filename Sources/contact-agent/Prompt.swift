import BrokerFormatting
import BrokerJSON
import BrokerModel

/// The identity strength of an app, strongest first.
enum IdentityStrength: String, Sendable {
    case labelled, sandboxed, service, installed, password, claimed, unverified, declared
}

/// The lifetime of a grant.
enum Lifetime: Hashable, Sendable {
    case untilRevoked, session, process
    /// Until the end that the present grant has.
    case untilTime
    /// From now on for so many days.
    case days(Int)

    /// The lifetimes for which the interface's name of a kind stands, at the given place of a list of kinds.
    static func offered(as kind: String, at place: Int) -> [Lifetime] {
        switch kind {
        case "untilRevoked": [.untilRevoked]
        case "session": [.session]
        case "process": [.process]
        // The first one is what the grant has already.
        case "untilTime": (place == 0 ? [.untilTime] : []) + [1, 7, 30].map { .days($0) }
        default: []
        }
    }

    /// How long it lasts from now on, in seconds; `nil` if it has no such length.
    var seconds: Int64? {
        if case .days(let days) = self { Int64(days) * 86_400 } else { nil }
    }

    /// The kind as the interface names it.
    var kind: String {
        switch self {
        case .untilRevoked: "untilRevoked"
        case .session: "session"
        case .process: "process"
        case .untilTime, .days: "untilTime"
        }
    }
}

/// The app that asks, as the broker identified it. Its display name is the app's own text.
struct Caller: Sendable {
    let displayName: String
    let identifier: String
    /// An unknown strength counts as the weakest.
    let strength: IdentityStrength
    let pid: Int64
    private let json: JSONValue

    var executable: String? { json["executable"]?.string }
    var terminal: String? { json["terminal"]?.string }
    /// The folder that the person declared, at strength `declared`.
    var folder: String? { json["folder"]?.string }
    /// When the declaration of the folder ends, in seconds since 1970.
    var folderUntil: Int64? { json["folderUntil"]?.seconds }

    /// - Returns: `nil` if the object does not match the interface.
    init?(_ json: JSONValue) {
        guard let displayName = json["displayName"]?.string, let identifier = json["identifier"]?.string,
            let strength = json["strength"]?.string, let pid = json["pid"]?.integer
        else { return nil }
        (self.displayName, self.identifier, self.pid, self.json) = (displayName, identifier, pid, json)
        self.strength = IdentityStrength(rawValue: strength) ?? .unverified
    }
}

/// One prompt for the person.
struct Prompt: Sendable {
    enum Kind: String, Sendable {
        case access, button, manage, pick, propose, keys, change
    }

    let cookie: String
    /// `nil` for a kind that this program does not know.
    let kind: Kind?
    let caller: Caller
    /// The app's current authorization level, as the interface names it.
    let status: String
    /// The card that the app offers.
    let proposed: WireContact?
    var query: String?
    var totalContacts: Int
    var grantedContacts: Int
    /// The time at which the prompt expires, in seconds since 1970; `nil` if the broker did not send it.
    var expires: Int64?
    /// Whether the person opened the prompt. No app waits for the answer to such a prompt.
    var isOwn = false
    private let json: JSONValue

    /// - Returns: `nil` if the object does not match the interface.
    init?(_ json: JSONValue) {
        guard let cookie = json["cookie"]?.string, let kind = json["kind"]?.string,
            let caller = json["caller"].flatMap(Caller.init)
        else { return nil }
        self.cookie = cookie
        self.kind = Kind(rawValue: kind)
        self.caller = caller
        self.json = json
        status = json["currentStatus"]?.string ?? ""
        proposed = json["proposed"].flatMap { try? WireContact($0) }
        query = json["query"]?.string
        totalContacts = json["totalContacts"]?.int ?? 0
        grantedContacts = json["grantedContacts"]?.int ?? 0
        expires = json["expires"]?.seconds
    }

    var purpose: String? { json["purpose"]?.string }
    /// Whether the app gave another purpose when the person last decided about it.
    var hasOtherPurpose: Bool { json["otherPurpose"]?.bool ?? false }
    /// The purpose that the app gave then; `nil` if it is the same one, or the broker has started since.
    var formerPurpose: String? { json["formerPurpose"]?.string }
    var keys: [String] { json["keys"]?.strings ?? [] }
    /// Whether the app sent a list of keys, which may be empty. Without a list, the app asks for all keys
    /// except those that must be granted by name.
    var namesKeys: Bool { json["keys"].map { !$0.isNull } ?? false }
    /// The keys of the app's grant; `nil` if it has none.
    var grantedKeys: [String]? { json["grantedKeys"]?.strings }
    /// What the app asks to change; `nil` if it did not say.
    var wantedChanges: ChangeRight? { json["changes"]?.string.flatMap(ChangeRight.init) }
    /// What the app may change; `nil` if it has no grant.
    var grantedChanges: ChangeRight? {
        isUndecided || status == "denied" ? nil : json["grantedChanges"]?.string.flatMap(ChangeRight.init)
    }
    /// How many contacts the save would delete, change and add, and how many other changes it makes.
    var saveCounts: (deleted: Int, changed: Int, added: Int, other: Int) {
        func count(_ name: String) -> Int { json["save"]?[name]?.int ?? 0 }
        return (count("deleted"), count("changed"), count("added"), count("other"))
    }
    /// Whether the save cannot be put back, because the bin is full.
    var isIrreversible: Bool { json["save"]?["irreversible"]?.bool ?? false }
    /// The most that the app may get.
    var maximumChanges: ChangeRight { json["maximumChanges"]?.string.flatMap(ChangeRight.init) ?? .all }
    /// When the app last got contacts, in seconds since 1970, and how many it got in all; `nil` if the broker does not
    /// count them.
    var lastUsedAt: Int64? { json["lastReadAt"]?.seconds ?? json["lastUsedAt"]?.seconds }
    var contactsRead: Int? { json["contactsRead"]?.int }
    /// Whether the person can pick several contacts or values, in a one-time pick.
    var isMultiple: Bool { json["multiple"]?.bool ?? false }
    /// The most contacts and values together that the person can pick; `nil` if there is no limit.
    var limit: Int? { json["limit"]?.int }
    /// The order in which the person wants names displayed.
    var nameOrder: ContactNameFormatter.Order {
        switch json["displayOrder"]?.string {
        case "familyName": .familyNameFirst
        case "givenName": .givenNameFirst
        default: .userDefault
        }
    }
    /// The lifetimes to offer, the default first. For a review, the present one first, and empty without a grant.
    /// Empty for any other prompt if the app has a grant, because an answer does not change the grant's lifetime.
    var lifetimes: [Lifetime] {
        guard hasGrant == (kind == .manage) else { return [] }
        return (json["lifetimes"]?.strings ?? []).enumerated().flatMap {
            Lifetime.offered(as: $0.element, at: $0.offset)
        }
    }
    /// When the app's grant ends, in seconds since 1970; `nil` if it lasts until something else happens.
    var grantedUntil: Int64? { json["grantedUntil"]?.seconds }
    /// Whether the executable is an interpreter. An interpreter runs other programs, so it does not identify
    /// an app. Its grants are bound to a process or session.
    var isInterpreter: Bool { json["interpreter"]?.bool ?? false }
    /// Whether the prompt waits as one line until the person opens it. If so, the app was refused before, or
    /// many other apps have asked.
    var isQuiet: Bool { json["quiet"]?.bool ?? false }
    /// Whether the person chose never to be asked about the app again.
    var isSilenced: Bool { json["silenced"]?.bool ?? false }
    /// Whether policy permits full access. An unknown maximum level counts as limited.
    var allowsAll: Bool { json["maximumLevel"].map { $0.isNull || $0.string == "full" } ?? true }
    /// The keys that policy limits the app to; `nil` means no limit.
    var maximumKeys: [String]? { json["maximumKeys"]?.strings }
    /// The latest time at which policy ends a grant, in seconds since 1970.
    var endsAt: Int64? { json["endsAt"]?.seconds }

    /// Whether there is no contact, so that no list of contacts is offered.
    var isEmptyBook: Bool { totalContacts == 0 }
    /// Whether the app's grant has all keys that need no naming, as a first grant of an access button has.
    var getsWholeCard: Bool {
        grantedKeys.map { ContactKeySet($0.compactMap(GrantKey.init)).isSuperset(of: GrantedKeys.ordinary) } ?? true
    }
    /// What refusing access means: a denial has the lifetime that is offered first.
    var refusalNow: Phrase {
        switch lifetimes.first {
        case .session: .notNowSession
        case .process: .notNowProcess
        case .untilRevoked, .untilTime, .days, nil: .dontAllow
        }
    }
    /// Whether the person has not decided about this app.
    var isUndecided: Bool { status == "notDetermined" }
    /// Whether the app has access. An answer then adds contacts to the grant without changing its keys or
    /// lifetime.
    var hasGrant: Bool { status == "limited" || status == "full" }
}

extension JSONValue {
    /// The strings of an array of strings.
    var strings: [String]? { elements?.compactMap(\.string) }
    /// A timestamp of the interface, such as `2026-01-31T12:00:00Z`, in seconds since 1970.
    var seconds: Int64? { string.flatMap(Timestamp.seconds) }
    var int: Int? { integer.flatMap(Int.init(exactly:)) }
}
