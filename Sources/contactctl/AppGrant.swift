import BrokerCommandOutput
import BrokerJSON

/// One app's grant, as the broker reports it. The broker also reports an undecided app whose prompts are
/// turned off.
struct AppGrant {
    let json: JSONValue
    let app: String
    let displayName: String
    let strength: String
    let status: String
    let contacts: Int64

    init(_ json: JSONValue) {
        self.json = json
        app = json["app"]?.string ?? ""
        displayName = json["displayName"]?.string ?? app
        strength = json["strength"]?.string ?? ""
        status = json["status"]?.string ?? ""
        contacts = json["contacts"]?.integer ?? 0
    }

    func text(_ name: String) -> String? { json[name]?.string }

    /// Whether the person turned off this app's prompts.
    var isSilenced: Bool { json["silenced"]?.bool == true }

    /// Whether the person or an administrator has decided on access.
    var isDecided: Bool { status != "notDetermined" }

    /// The status, the effective access if policy changes it, and a note if prompts are turned off.
    var counting: String {
        let counting = text("counts").map { "\(status), by policy \($0)" } ?? status
        guard isSilenced else { return counting }
        return isDecided ? "\(counting), never asked" : "never asked"
    }

    /// The number of contacts that the app can see under policy, in words. The exact number is known only if
    /// policy does not change the access.
    var countingExtent: String {
        switch text("counts") {
        case nil: extent
        case "full": "all"
        case "limited": "some"
        default: "none"
        }
    }

    /// The number of contacts that the person granted, in words.
    var extent: String {
        switch status {
        case "full": "all"
        case "limited": "\(contacts)"
        default: "none"
        }
    }

    /// The event that ends the grant: the end of a session or process, or a time. Otherwise `revoked`, or
    /// `reset` if access is denied or not decided.
    var end: String {
        if let session = text("session") { return session }
        if let expires = text("expires") { return LocalTime.text(expires) }
        return status == "denied" || !isDecided ? "reset" : "revoked"
    }

    var lastUsed: String { text("lastUsedAt").map { LocalTime.text($0) } ?? "never" }

    /// Explains the identity strength.
    var certainty: String {
        switch strength {
        case "labelled": "the kernel's label names it"
        case "sandboxed": "its sandbox names it"
        case "service": "it is a service of the system"
        case "installed": "the system's packages name it"
        case "claimed": "it is started under that name, which any program of yours can take"
        case "unverified": "only its file is known; other programs of yours can run it"
        default: "unknown"
        }
    }

    /// Whether the word is part of the app's identifier or name, in any case.
    func isCalled(_ word: String) -> Bool {
        app.lowercased().contains(word.lowercased()) || displayName.lowercased().contains(word.lowercased())
    }
}
