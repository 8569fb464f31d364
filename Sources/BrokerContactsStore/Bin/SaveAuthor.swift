/// Who made a save, as the audit names it.
public struct SaveAuthor: Hashable, Sendable {
    /// The app's identifier; empty for the person.
    public let app: String
    /// How reliably the app was identified; empty for the person.
    public let strength: String
    /// Whether other programs of the person can pass for the app.
    let isAssumable: Bool

    public init(app: String, strength: String, isAssumable: Bool) {
        self.app = app
        self.strength = strength
        self.isAssumable = isAssumable
    }

    init(app: String, strength: String) { self.init(app: app, strength: strength, isAssumable: false) }

    /// The person, or the broker for the person.
    public static let person = SaveAuthor(app: "", strength: "")

    /// Whose space the states take that a save of this author leaves in the bin.
    var portion: BinPortion {
        if app.isEmpty { return .person }
        return isAssumable ? .assumableApps : .otherApps
    }
}

/// A part of the bin's space. No other part's states are pushed out for it.
enum BinPortion: Int64, CaseIterable {
    case assumableApps = 0
    case otherApps
    case person
}
