import BrokerAccessControl
import BrokerCommandOutput
import BrokerJSON
import BrokerModel

/// An app for which a policy that is tried has another effect than the one in force, as the broker reports it.
struct PolicyChange {
    /// The app, and what it has under each of the two policies.
    let lines: [String]

    init(_ json: JSONValue) {
        let uid = json["uid"]?.integer.flatMap(UInt32.init(exactly:)) ?? 0
        let name = AppName(json["app"]?.string ?? "", displayName: json["displayName"]?.string)
        let strength = Speech.clean(json["strength"]?.string ?? "")
        lines = [
            "\(name.full)\(Users.all.suffix(uid)), \(strength)", "  now               \(Self.words(json["before"]))",
            "  with these files  \(Self.words(json["after"]))",
        ]
    }

    /// For example: `full, until 2026-03-01 13:00, sees everything but notes`.
    private static func words(_ effect: JSONValue?) -> String {
        let status = effect?["status"]?.string ?? ""
        var words = [AppGrant.words(ofStatus: status)]
        if status == "limited" { words[0] = "limited to " + Count.words(effect?["contacts"]?.integer ?? 0, "contact") }
        if let expires = effect?["expires"]?.string { words.append("until \(LocalTime.text(expires))") }
        if effect?["maximumLevel"]?.string == "limited" { words.append("limited at most") }
        if let lifetime = effect?["maximumLifetime"]?.integer {
            words.append("for \(TimeSpan.words(seconds: lifetime)) at most")
        }
        switch effect?["mayAsk"]?.bool {
        case true where effect?["password"]?.bool == true: words.append("asks with a password")
        case true where status == "notDetermined": words.append("may ask")
        case false where status != "restricted": words.append("cannot ask")
        default: break
        }
        if let keys = KeyWords.text(effect?["keys"]), !keys.isEmpty {
            words.append("\(status == "notDetermined" ? "may get" : "sees") \(keys)")
        }
        return Speech.clean(words.joined(separator: ", "))
    }
}
