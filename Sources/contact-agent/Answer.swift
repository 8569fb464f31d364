import BrokerJSON
import BrokerModel
import Glibc

/// The person's answer to one prompt. An empty answer dismisses the prompt, and the broker stores nothing.
struct Answer: Hashable, Sendable {
    enum Level: String, Sendable {
        case denied, limited, full
    }

    enum Allowance: String, Sendable {
        case once, always
    }

    var level: Level?
    /// The identifiers of the rows that were turned on.
    var identifiers: [String]?
    /// How many contacts the groups among these rows have, without one for each row.
    var moreContacts = 0
    /// The identifiers of the rows that were turned off.
    var removed: [String]?
    /// How many contacts the groups among these rows have, without one for each row.
    var lessContacts = 0
    /// The keys that the app may read. `nil` keeps an existing grant's keys. In a first grant, `nil` excludes
    /// the keys that must be granted by name.
    var keys: [String]?
    /// What the app may change; `nil` keeps an existing grant's right.
    var changes: ChangeRight?
    var lifetime: Lifetime?
    var neverAskAgain: Bool?
    /// Whether an app that may never ask again may ask.
    var mayAskAgain: Bool?
    /// The contacts or values of a one-time pick.
    var picked: [Pick]?
    /// Whether to add the offered card as a new contact. ``mergeInto`` instead names the row of the contact
    /// to merge it into.
    var addProposed: Bool?
    var mergeInto: String?
    /// The offered card with the person's changes; `nil` if there are none.
    var card: WireContact?
    /// Whether to make the save, and whether the app may make others like it.
    var allow: Allowance?

    /// A picked contact, or one of its values.
    struct Pick: Hashable, Sendable {
        var contact: String
        /// The value's key; `identifier` means the whole contact.
        var key = "identifier"
        /// Identifies one of several values.
        var value: String?
    }

    static let dismissed = Answer()

    /// The number of contacts in the rows that were turned on, for what the person reads afterwards.
    var contacts: Int { (identifiers?.count ?? 0) + moreContacts }

    /// Whether the answer grants contacts or keys, hands over contacts, accepts an offered card, or allows a save. Such an
    /// answer counts only after the arming time.
    var isApproval: Bool {
        level == .full || !(identifiers ?? []).isEmpty || !(picked ?? []).isEmpty || takesCard || allow != nil
            || level != .denied && !((keys ?? []).isEmpty && lifetime == nil && changes == nil)
    }

    /// Whether the person accepts the offered card.
    var takesCard: Bool { addProposed == true || mergeInto != nil }

    func write(into writer: inout JSONWriter) {
        writer.member("level", level?.rawValue)
        writer.member("identifiers", identifiers)
        writer.member("removed", removed)
        writer.member("keys", keys)
        writer.member("changes", changes?.rawValue)
        writer.member("lifetime", lifetime?.kind)
        writer.member("expires", lifetime?.seconds.map { Timestamp.text(seconds: Int64(time(nil)) + $0) })
        writer.member("neverAskAgain", neverAskAgain)
        writer.member("mayAskAgain", mayAskAgain)
        writer.member("addProposed", addProposed)
        writer.member("mergeInto", mergeInto)
        writer.member("allow", allow?.rawValue)
        if let card {
            writer.name("card")
            card.write(to: &writer)
        }
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
