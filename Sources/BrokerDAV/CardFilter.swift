/// The filter of a query (RFC 6352 §10.5).
public struct CardFilter: Hashable, Sendable {
    /// How conditions are combined. The RFC's default is `anyOf`.
    public enum Test: String, Hashable, Sendable {
        case anyOf = "anyof"
        case allOf = "allof"
    }

    /// What must be true of a property or a parameter.
    public enum Condition<Tests: Hashable & Sendable>: Hashable, Sendable {
        case isDefined
        case isNotDefined
        case matches(Tests)
    }

    public struct PropertyFilter: Hashable, Sendable {
        /// In upper case, without a group.
        public let name: String
        /// In upper case; `nil` if properties in any group, or in none, match.
        public let group: String?
        public let condition: Condition<PropertyTests>
    }

    public struct PropertyTests: Hashable, Sendable {
        public let test: Test
        public let texts: [TextMatch]
        public let parameters: [ParameterFilter]
    }

    public struct ParameterFilter: Hashable, Sendable {
        /// In upper case.
        public let name: String
        public let condition: Condition<TextMatch>
    }

    public let test: Test
    /// Every card matches a filter without properties, as on other servers.
    public let properties: [PropertyFilter]

    /// - Parameter element: `filter`; `nil` if the query has none.
    init(_ element: XMLElement?) throws(RequestError) {
        guard let element else {
            test = .anyOf
            properties = []
            return
        }
        var conditions = 0
        test = try Test(of: element)
        var properties: [PropertyFilter] = []
        for child in element.children {
            guard child.name == .card("prop-filter") else { throw .unmet(.supportedFilter) }
            properties.append(try PropertyFilter(child, counting: &conditions))
        }
        self.properties = properties
    }
}

extension CardFilter.Test {
    init(of element: XMLElement) throws(RequestError) {
        guard let test = Self(rawValue: element.attribute("test") ?? "anyof") else { throw .invalid("test") }
        self = test
    }
}

extension CardFilter.PropertyFilter {
    init(_ element: XMLElement, counting conditions: inout Int) throws(RequestError) {
        try CardFilter.count(&conditions)
        let parts = try CardFilter.name(of: element).split(separator: ".", omittingEmptySubsequences: false)
        name = String(parts.last ?? "")
        group = parts.count > 1 ? parts.dropLast().joined(separator: ".") : nil
        let test = try CardFilter.Test(of: element)
        var texts: [TextMatch] = []
        var parameters: [CardFilter.ParameterFilter] = []
        var isNotDefined = false
        for child in element.children {
            switch child.name {
            case .card("is-not-defined"): isNotDefined = true
            case .card("text-match"):
                try CardFilter.count(&conditions)
                texts.append(try TextMatch(child))
            case .card("param-filter"):
                try CardFilter.count(&conditions)
                parameters.append(try CardFilter.ParameterFilter(child))
            default: throw .unmet(.supportedFilter)
            }
        }
        let hasTests = !texts.isEmpty || !parameters.isEmpty
        guard !(isNotDefined && hasTests) else { throw .invalid("is-not-defined") }
        condition =
            isNotDefined
            ? .isNotDefined
            : hasTests ? .matches(.init(test: test, texts: texts, parameters: parameters)) : .isDefined
    }
}

extension CardFilter.ParameterFilter {
    init(_ element: XMLElement) throws(RequestError) {
        name = try CardFilter.name(of: element)
        var condition = CardFilter.Condition<TextMatch>.isDefined
        for child in element.children {
            guard condition == .isDefined else { throw .invalid("param-filter") }
            switch child.name {
            case .card("is-not-defined"): condition = .isNotDefined
            case .card("text-match"): condition = .matches(try TextMatch(child))
            default: throw .unmet(.supportedFilter)
            }
        }
        self.condition = condition
    }
}

extension CardFilter {
    fileprivate static func count(_ conditions: inout Int) throws(RequestError) {
        conditions += 1
        guard conditions <= DAVBounds.conditions else { throw .filterTooLarge }
    }

    /// Names of vCard ignore case (RFC 6350 §3.3).
    fileprivate static func name(of element: XMLElement) throws(RequestError) -> String {
        guard let name = element.attribute("name"), !name.isEmpty else { throw .invalid("name") }
        return name.uppercased()
    }
}
