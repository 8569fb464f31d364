import BrokerFormatting
import BrokerJSON
import BrokerModel

/// The identity strength of an app, strongest first.
enum IdentityStrength: String, Sendable {
    case labelled, sandboxed, service, installed, claimed, unverified, declared
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
struct Caller: Hashable, Sendable {
    var displayName: String
    var identifier: String
    var strength: IdentityStrength
    var executable: String?
    var pid: Int
    var terminal: String?
    /// The folder that the person declared, at strength `declared`.
    var folder: String?
    /// When the declaration of the folder ends, such as `2026-01-31T12:00:00Z`.
    var folderUntil: String?
}

/// One prompt for the person.
struct Prompt: Hashable, Sendable {
    enum Kind: String, Sendable {
        case access, button, manage, pick, propose, keys
    }

    var cookie: String
    /// `nil` for a kind that this program does not know.
    var kind: Kind?
    var caller: Caller
    /// The app's current authorization level, as the interface names it.
    var status: String
    var purpose: String?
    /// Whether the app gave another purpose when the person last decided about it.
    var hasOtherPurpose: Bool
    /// The purpose that the app gave then; `nil` if it is the same one, or the broker has started since.
    var formerPurpose: String?
    var keys: [String]
    /// Whether the app sent a list of keys, which may be empty. Without a list, the app asks for all keys
    /// except those that must be granted by name.
    var namesKeys: Bool
    var query: String?
    /// The keys of the app's grant; `nil` if it has none.
    var grantedKeys: [String]?
    /// When the app last got contacts, such as `2026-01-31T12:00:00Z`, and how many it got in all; `nil` if the broker
    /// does not count them.
    var lastUsedAt: String?
    var contactsRead: Int?
    /// Whether the person can pick several contacts or values, in a one-time pick.
    var isMultiple: Bool
    /// The most contacts and values together that the person can pick; `nil` if there is no limit.
    var limit: Int?
    /// The card that the app offers.
    var proposed: WireContact?
    var totalContacts: Int
    var grantedContacts: Int
    /// The order in which the person wants names displayed.
    var nameOrder: ContactNameFormatter.Order
    /// The lifetimes to offer, the default first. For a review, the present one first, and empty without a grant.
    /// Empty for any other prompt if the app has a grant, because an answer does not change the grant's lifetime.
    var lifetimes: [Lifetime]
    /// When the app's grant ends, such as `2026-01-31T12:00:00Z`; `nil` if it lasts until something else happens.
    var grantedUntil: String?
    /// Whether the executable is an interpreter. An interpreter runs other programs, so it does not identify
    /// an app. Its grants are bound to a process or session.
    var isInterpreter: Bool
    /// Whether the prompt waits as one line until the person opens it. If so, the app was refused before, or
    /// many other apps have asked.
    var isQuiet: Bool
    /// Whether the person chose never to be asked about the app again.
    var isSilenced: Bool
    /// Whether the person opened the prompt. No app waits for the answer to such a prompt.
    var isOwn = false
    /// Whether policy permits full access.
    var allowsAll: Bool
    /// The keys that policy limits the app to; `nil` means no limit.
    var maximumKeys: [String]?
    /// The latest time at which policy ends a grant, such as `2026-01-31T12:00:00Z`.
    var endsAt: String?
    /// The time at which the prompt expires, in seconds since 1970; `nil` if the broker did not send it.
    var expires: Int64?

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

extension Caller {
    /// - Returns: `nil` if the object does not match the interface.
    init?(_ object: JSONValue) {
        guard let displayName = object["displayName"]?.string, let identifier = object["identifier"]?.string,
            let strength = object["strength"]?.string, let pid = object["pid"]?.integer
        else { return nil }
        self.displayName = displayName
        self.identifier = identifier
        // An unknown strength counts as the weakest.
        self.strength = IdentityStrength(rawValue: strength) ?? .unverified
        executable = object["executable"]?.string
        self.pid = Int(pid)
        terminal = object["terminal"]?.string
        folder = object["folder"]?.string
        folderUntil = object["folderUntil"]?.string
    }
}

extension Prompt {
    /// - Returns: `nil` if the object does not match the interface.
    init?(_ object: JSONValue) {
        guard let cookie = object["cookie"]?.string, let kind = object["kind"]?.string,
            let caller = object["caller"].flatMap(Caller.init)
        else { return nil }
        self.cookie = cookie
        self.kind = Kind(rawValue: kind)
        self.caller = caller
        status = object["currentStatus"]?.string ?? ""
        purpose = object["purpose"]?.string
        hasOtherPurpose = object["otherPurpose"]?.bool ?? false
        keys = object["keys"]?.strings ?? []
        namesKeys = object["keys"].map { !$0.isNull } ?? false
        isMultiple = object["multiple"]?.bool ?? false
        limit = object["limit"]?.integer.flatMap(Int.init(exactly:))
        proposed = object["proposed"].flatMap { try? WireContact($0) }
        query = object["query"]?.string
        grantedKeys = object["grantedKeys"]?.strings
        lastUsedAt = object["lastReadAt"]?.string ?? object["lastUsedAt"]?.string
        contactsRead = object["contactsRead"]?.integer.flatMap(Int.init(exactly:))
        formerPurpose = object["formerPurpose"]?.string
        totalContacts = Int(object["totalContacts"]?.integer ?? 0)
        grantedContacts = Int(object["grantedContacts"]?.integer ?? 0)
        nameOrder =
            switch object["displayOrder"]?.string {
            case "familyName": .familyNameFirst
            case "givenName": .givenNameFirst
            default: .userDefault
            }
        let hasGrant = status == "limited" || status == "full"
        lifetimes = (object["lifetimes"]?.strings ?? []).enumerated().flatMap {
            Lifetime.offered(as: $0.element, at: $0.offset)
        }
        if hasGrant != (self.kind == .manage) { lifetimes = [] }
        grantedUntil = object["grantedUntil"]?.string
        isInterpreter = object["interpreter"]?.bool ?? false
        isQuiet = object["quiet"]?.bool ?? false
        isSilenced = object["silenced"]?.bool ?? false
        // An unknown maximum level counts as limited.
        allowsAll = object["maximumLevel"].map { $0.isNull || $0.string == "full" } ?? true
        maximumKeys = object["maximumKeys"]?.strings
        endsAt = object["endsAt"]?.string
        expires = object["expires"]?.string.flatMap(Timestamp.seconds)
    }
}

extension JSONValue {
    /// The strings of an array of strings.
    var strings: [String]? { elements?.compactMap(\.string) }
}
