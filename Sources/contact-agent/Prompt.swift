import BrokerFormatting
import BrokerJSON
import BrokerModel

/// How sure the broker is of who is asking, surest first.
enum IdentityStrength: String, Sendable {
    case labelled, sandboxed, service, installed, claimed, unverified
}

/// How long what is granted lasts.
enum Lifetime: String, Sendable {
    case untilRevoked, session, process
}

/// Who asks, as the broker saw it. The words in it are the app's own.
struct Caller: Hashable, Sendable {
    var displayName: String
    var identifier: String
    var strength: IdentityStrength
    var executable: String?
    var pid: Int
    var terminal: String?
}

/// One question for the person.
struct Prompt: Hashable, Sendable {
    enum Kind: String, Sendable {
        case access, button, manage, pick, propose
    }

    var cookie: String
    /// `nil` for a kind that this program does not know.
    var kind: Kind?
    var caller: Caller
    /// What was decided for this app so far, in the interface's words.
    var status: String
    var purpose: String?
    var keys: [String]
    /// It named keys, be it none at all; otherwise it means all but notes.
    var namesKeys: Bool
    var query: String?
    /// The one-time picker: more than one can be picked.
    var isMultiple: Bool
    /// The card that the app offers.
    var proposed: Card?
    var totalContacts: Int
    var grantedContacts: Int
    /// What may be offered, the first one by default; empty where a standing grant goes on as it is.
    var lifetimes: [Lifetime]
    /// The program runs other people's programs, and so is no app itself: what it is granted hangs on its process.
    var isInterpreter: Bool
    /// The app was refused before: it waits as one line, until the person opens it.
    var isQuiet: Bool
    /// The person opened it themselves, and no app waits.
    var isOwn = false
    /// The administrator lets everything be shared.
    var allowsAll: Bool
    /// Keys that the administrator lets the app read at most; `nil`: all.
    var maximumKeys: [String]?
    /// When a grant ends at the latest, by the administrator's word, as `2026-01-31T12:00:00Z`.
    var endsAt: String?
    /// Seconds since 1970; `nil` where the broker did not say.
    var expires: Int64?

    /// Nothing was decided for this app so far.
    var isUndecided: Bool { status == "notDetermined" }
    /// The app sees contacts already, on terms that one more contact does not change.
    var hasGrant: Bool { status == "limited" || status == "full" }
}

extension Caller {
    /// - Returns: `nil` where the object is none that the interface describes.
    init?(_ object: JSONValue) {
        guard let displayName = object["displayName"]?.string, let identifier = object["identifier"]?.string,
            let strength = object["strength"]?.string, let pid = object["pid"]?.integer
        else { return nil }
        self.displayName = displayName
        self.identifier = identifier
        // A strength that we do not know is none that we could vouch for.
        self.strength = IdentityStrength(rawValue: strength) ?? .unverified
        executable = object["executable"]?.string
        self.pid = Int(pid)
        terminal = object["terminal"]?.string
    }
}

extension Prompt {
    /// - Returns: `nil` where the object is none that the interface describes.
    init?(_ object: JSONValue, _ names: LocalizedNames = .inEnglish) {
        guard let cookie = object["cookie"]?.string, let kind = object["kind"]?.string,
            let caller = object["caller"].flatMap(Caller.init)
        else { return nil }
        self.cookie = cookie
        self.kind = Kind(rawValue: kind)
        self.caller = caller
        status = object["currentStatus"]?.string ?? ""
        purpose = object["purpose"]?.string
        keys = object["keys"]?.strings ?? []
        namesKeys = object["keys"].map { !$0.isNull } ?? false
        isMultiple = object["multiple"]?.bool ?? false
        proposed = object["proposed"].flatMap { Card($0, names) }
        query = object["query"]?.string
        totalContacts = Int(object["totalContacts"]?.integer ?? 0)
        grantedContacts = Int(object["grantedContacts"]?.integer ?? 0)
        let hasGrant = status == "limited" || status == "full"
        lifetimes = hasGrant ? [] : (object["lifetimes"]?.strings ?? []).compactMap(Lifetime.init)
        isInterpreter = object["interpreter"]?.bool ?? false
        isQuiet = object["quiet"]?.bool ?? false
        // A level that we do not know is none that we could go beyond.
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
