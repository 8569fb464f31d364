import BrokerJSON

/// What the person chose. An empty answer dismisses the prompt, and the broker stores nothing.
struct Answer: Hashable, Sendable {
    enum Level: String, Sendable {
        case denied, limited, full
    }

    var level: Level?
    /// Rows that were turned on.
    var identifiers: [String]?
    /// Rows that were turned off.
    var removed: [String]?
    /// The keys that the app may read. `nil` keeps an existing grant's keys; a first grant then excludes those granted
    /// by name.
    var keys: [String]?
    var lifetime: Lifetime?
    var neverAskAgain: Bool?
    /// What was picked in the one-time picker.
    var picked: [Pick]?
    /// Adds the offered card as a new contact, or merges it into the contact of this row.
    var addProposed: Bool?
    var mergeInto: String?

    /// A contact, or one value of it.
    struct Pick: Hashable, Sendable {
        var contact: String
        /// The value's key; `identifier` means the whole contact.
        var key = "identifier"
        /// Identifies one of several values.
        var value: String?
    }

    static let dismissed = Answer()

    /// The answer grants or hands over contacts, or adds an offered card. Such answers must be armed.
    var isApproval: Bool { level == .full || !(identifiers ?? []).isEmpty || !(picked ?? []).isEmpty || takesCard }

    /// Accepts the offered card.
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
