import JSON

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

    static let dismissed = Answer()

    /// The app may see more than before.
    var isApproval: Bool { level == .full || !(identifiers ?? []).isEmpty }

    func write(into writer: inout JSONWriter) {
        writer.member("level", level?.rawValue)
        writer.member("identifiers", identifiers)
        writer.member("removed", removed)
        writer.member("keys", keys)
        writer.member("lifetime", lifetime?.rawValue)
        writer.member("neverAskAgain", neverAskAgain)
    }
}
