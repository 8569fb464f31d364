import BrokerFormatting
import BrokerJSON
import BrokerModel

/// One contact of a list, as the person recognises it. Already harmless to show.
struct Row: Hashable, Sendable {
    /// Valid for one prompt.
    var identifier: String
    var name: String
    var detail: String?
    /// The app sees it already.
    var isGranted: Bool
    var isEnabled: Bool
    /// Why it cannot be chosen.
    var reason: String?
    /// Choosing it picks the whole contact; otherwise its card is shown.
    var returns = true
}

extension Row {
    /// - Returns: `nil` where the object is none that the interface describes.
    init?(_ object: JSONValue, _ names: LocalizedNames = .inEnglish) {
        guard let identifier = object["identifier"]?.string, let contact = object["contact"] else { return nil }
        self.identifier = identifier
        let named = (try? WireContact(contact))?.contact ?? Contact()
        // Beside it stand numbers and brackets, which keep their places.
        name = Bidirectional.isolated(ShownText.line(NameFormatter(names: names).string(from: named)))
        detail = object["detail"]?.string.map { Bidirectional.isolated(ShownText.line($0)) }
        isGranted = object["granted"]?.says("all") ?? false
        isEnabled = object["enabled"]?.bool ?? false
        returns = object["returns"]?.bool ?? true
        reason = object["reason"]?.string.map(ShownText.line)
    }
}

/// A page of contacts, as `Search` answers it.
struct SearchResult: Hashable, Sendable {
    var rows: [Row]
    /// Of all pages.
    var total: Int
    var offset: Int
}
