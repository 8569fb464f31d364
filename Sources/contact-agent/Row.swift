import BrokerFormatting
import BrokerJSON
import BrokerModel

/// One contact in a list, with its name and a detail by which the person recognises it. All text is safe for
/// a terminal.
struct Row: Hashable, Sendable {
    /// Identifies the row within one prompt only.
    var identifier: String
    var name: String
    var detail: String?
    /// Whether the app can already see this contact.
    var isGranted: Bool
    var isEnabled: Bool
    /// The reason why the row cannot be chosen.
    var reason: String?
    /// Whether choosing the row picks the whole contact; otherwise it opens the card.
    var returns = true
    /// The number of contacts: 1, or those of a contact group.
    var contacts = 1
    /// What the contact has in common with an offered card: `email`, `phone` or `name`.
    var match: String?
    /// What a save would do to the record.
    var change: SaveChange?
}

extension Row {
    /// - Returns: `nil` if the object does not match the interface.
    init?(_ object: JSONValue, _ names: LocalizedNames = .inEnglish) {
        guard let identifier = object["identifier"]?.string, let contact = object["contact"] else { return nil }
        self.identifier = identifier
        name = Self.name(of: contact, names)
        let shown = object["detail"]?.string.map { names.isolated(ShownText.line($0)) }
        isEnabled = object["enabled"]?.bool ?? false
        returns = object["returns"]?.bool ?? true
        let members = Self.count(object["members"])
        contacts = members ?? 1
        let linked = Self.count(object["linked"]).map { names.text(.rowLinked, count: $0) }
        let group = members.map { count in
            let group = names.text(.rowGroup, count: count)
            return object["grows"]?.bool == true ? names.text(.rowGrows, [.name: group]) : group
        }
        let change = SaveChange(object, names)
        self.change = change
        // The row of a change has the warning about its names before the detail.
        let warning = change == nil ? Lookalike.warning(name).map { names.text($0) } : nil
        detail = [warning, shown, linked, group].compactMap(\.self)
            .joined(separator: "  ")
        match = object["match"]?.string
        isGranted = object["granted"]?.says("all") ?? false
        reason = object["problem"]?.string.flatMap { names.words(forRow: $0, key: object["key"]?.string) }
    }

    /// The name of a contact as the broker describes it.
    static func name(of contact: JSONValue, _ names: LocalizedNames) -> String {
        let named = (try? WireContact(contact))?.contact ?? Contact()
        // Texts are isolated, so that their direction does not move the numbers and brackets next to them.
        return names.isolated(ShownText.line(NameFormatter(names: names).string(from: named)))
    }

    /// A number that is 1 or more; smaller ones count as 1.
    private static func count(_ value: JSONValue?) -> Int? {
        value?.int.map { max(1, $0) }
    }
}

/// A page of contacts, as `Search` returns it.
struct SearchResult: Hashable, Sendable {
    var rows: [Row]
    /// The number of contacts on all pages.
    var total: Int
    var offset: Int
}
