/// One property of a card, as a filter sees it.
public struct FilteredProperty: Hashable, Sendable {
    /// `nil` if the property is in no group.
    public let group: String?
    /// The value with escapes removed. The parts of a structured value, such as N, are joined by semicolons.
    public let value: String
    /// Each value of each parameter.
    public let parameters: [Parameter]

    public struct Parameter: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(group: String? = nil, value: String, parameters: [Parameter] = []) {
        self.group = group
        self.value = value
        self.parameters = parameters
    }
}

extension CardFilter {
    /// Whether a card matches. Pure.
    ///
    /// - Parameter properties: returns the properties of the card that have the name, which is in upper case. It must
    ///   return only what the client may see: otherwise a client could find out hidden values by searching for them.
    public func matches(_ properties: (_ name: String) -> [FilteredProperty]) -> Bool {
        guard !self.properties.isEmpty else { return true }
        return test.combine(self.properties) { $0.matches(properties($0.name)) }
    }
}

extension CardFilter.Test {
    func combine<Item>(_ items: [Item], _ matches: (Item) -> Bool) -> Bool {
        switch self {
        case .anyOf: items.contains(where: matches)
        case .allOf: items.allSatisfy(matches)
        }
    }
}

extension CardFilter.PropertyFilter {
    /// Whether one of the properties satisfies the tests. `allof` wants all tests satisfied by the same property.
    fileprivate func matches(_ properties: [FilteredProperty]) -> Bool {
        let candidates = properties.filter { group == nil || $0.group?.uppercased() == group }
        switch condition {
        case .isDefined: return !candidates.isEmpty
        case .isNotDefined: return candidates.isEmpty
        case .matches(let tests): return candidates.contains { tests.match($0) }
        }
    }
}

extension CardFilter.PropertyTests {
    fileprivate func match(_ property: FilteredProperty) -> Bool {
        switch test {
        case .anyOf:
            texts.contains { $0.matches(property.value) } || parameters.contains { $0.matches(property.parameters) }
        case .allOf:
            texts.allSatisfy { $0.matches(property.value) }
                && parameters.allSatisfy { $0.matches(property.parameters) }
        }
    }
}

extension CardFilter.ParameterFilter {
    fileprivate func matches(_ parameters: [FilteredProperty.Parameter]) -> Bool {
        let values = parameters.lazy.filter { $0.name.uppercased() == name }
        switch condition {
        case .isDefined: return !values.isEmpty
        case .isNotDefined: return values.isEmpty
        case .matches(let match): return values.contains { match.matches($0.value) }
        }
    }
}
