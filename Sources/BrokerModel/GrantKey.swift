/// What a grant can name, by its name on the wire: the properties of contacts, and what is none.
public enum GrantKey: Hashable, CaseIterable, RawRepresentable, Sendable {
    case property(ContactKey)
    /// Groups that others made.
    case groups

    public static let allCases = ContactKey.allCases.map(GrantKey.property) + [.groups]

    public init?(rawValue: String) {
        guard let key = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = key
    }

    public var rawValue: String {
        switch self {
        case .property(let key): key.rawValue
        case .groups: "groups"
        }
    }

    public var set: ContactKeySet {
        switch self {
        case .property(let key): ContactKeySet(key)
        case .groups: .groups
        }
    }
}

extension ContactKeySet {
    /// Groups that others made. It is no property, so that no contact has a value for it and no fetch can ask for it: who may see
    /// single contacts sees with it in which groups these are, whoever made them.
    ///
    /// Its bit is far from those of the properties, which are their places; the access database keeps it.
    public static let groups = ContactKeySet(rawValue: 1 << 62)

    /// All that a grant can name.
    public static let grantable = all.union(groups)

    /// What no grant has unless it was granted by name.
    public static let byName = named.union(groups)

    public init(_ keys: some Sequence<GrantKey>) {
        self = keys.reduce(into: []) { $0.formUnion($1.set) }
    }

    /// The names of a grant's keys: those of the properties in the order of the stored form, then the others.
    public var grantNames: [String] {
        GrantKey.allCases.filter { isSuperset(of: $0.set) }.map(\.rawValue)
    }
}
