import BrokerJSON

/// What the person chose. With nothing in it the prompt is dismissed, and nothing is stored.
struct Answer: Hashable, Sendable {
    enum Level: String, Sendable {
        case denied, limited, full
    }

    var level: Level?
    /// Rows that were turned on.
    var identifiers: [String]?
    /// Rows that were turned off.
    var removed: [String]?
    /// What the app may read of them; `nil` means everything but notes.
    var keys: [String]?
    var lifetime: Lifetime?
    var neverAskAgain: Bool?
    /// What was picked for once.
    var picked: [Pick]?
    /// The card that was offered: added as a new one, or merged into the contact of this row.
    var addProposed: Bool?
    var mergeInto: String?

    /// A contact, or one value of it.
    struct Pick: Hashable, Sendable {
        var contact: String
        /// The value's key; `identifier` for the whole contact.
        var key = "identifier"
        /// Which of several values.
        var value: String?
    }

    static let dismissed = Answer()

    /// The app may see more than before.
    var isApproval: Bool { level == .full || !(identifiers ?? []).isEmpty || !(picked ?? []).isEmpty || takesCard }

    /// A card that was offered is taken.
    var takesCard: Bool { addProposed == true || mergeInto != nil }

    func write(into writer: inout JSONWriter) {
        writer.member("level", level?.rawValue)
        writer.member("identifiers", identifiers)
        writer.member("removed", removed)
        writer.member("keys", keys)
        writer.member("lifetime", lifetime?.rawValue)
        writer.member("neverAskAgain", neverAskAgain)
        writer.member("addProposed", addProposed)
        writer.member("mergeInto", mergeInto)
        if let picked {
            writer.name("picked")
            writer.array(picked) { writer, pick in
                writer.object {
                    $0.member("contact", pick.contact)
                    $0.member("key", pick.key)
                    $0.member("value", pick.value)
                }
            }
        }
    }
}
