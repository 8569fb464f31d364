/// The keys that a grant can name, by their names on the wire: the properties of contacts, and groups.
public enum GrantKey: Hashable, CaseIterable, RawRepresentable, Sendable {
    case property(ContactKey)
    /// Groups that other programs created.
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
    /// Groups that other programs created. This is not a property: no contact has a value for it, and no
    /// fetch can request it. With this key, an app with a limited grant sees which groups the contacts in its
    /// granted set belong to, even groups that other programs created.
    ///
    /// The access database stores this bit. It is far above the properties' bits, whose positions are the
    /// properties' indices.
    public static let groups = ContactKeySet(rawValue: 1 << 62)

    /// All keys that a grant can name.
    public static let grantable = all.union(groups)

    /// Keys that a grant has only if they were granted by name.
    public static let byName = named.union(groups)

    public init(_ keys: some Sequence<GrantKey>) {
        self = keys.reduce(into: []) { $0.formUnion($1.set) }
    }

    /// The names of the set's keys: properties in the order of the stored form, then groups.
    public var grantNames: [String] {
        GrantKey.allCases.filter { isSuperset(of: $0.set) }.map(\.rawValue)
    }
}
