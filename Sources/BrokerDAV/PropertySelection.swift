/// Which properties a request asks for (RFC 4918 §9.1).
public enum PropertySelection: Hashable, Sendable {
    /// All properties that the server returns unasked, and these.
    case all(including: [XMLName])
    /// Only the names of the properties.
    case names
    /// These properties, each once.
    case named([XMLName])

    /// Reads the first of `allprop`, `propname` and `prop` in an element; `nil` if there is none.
    init?(in parent: XMLElement) throws(RequestError) {
        for child in parent.children {
            switch child.name {
            case .allProp:
                let include = parent.firstChild(named: .include)
                self = .all(including: try include.map(Self.names) ?? [])
            case .propName: self = .names
            case .prop: self = .named(try Self.names(in: child))
            default: continue
            }
            return
        }
        return nil
    }

    /// Returns the names of the elements in `prop` or `include`, each once.
    static func names(in element: XMLElement) throws(RequestError) -> [XMLName] {
        var names: [XMLName] = []
        for child in element.children where !names.contains(child.name) {
            guard names.count < DAVBounds.properties else { throw .tooManyProperties }
            names.append(child.name)
        }
        return names
    }
}

/// The body of PROPFIND (RFC 4918 §9.1 and §14.20).
public struct PropertyFind: Hashable, Sendable {
    public let selection: PropertySelection

    /// - Parameter document: `nil` for an empty body, which means `allprop`.
    public init(_ document: XMLDocument?) throws(RequestError) {
        guard let root = document?.root else {
            selection = .all(including: [])
            return
        }
        guard root.name == .dav("propfind") else { throw .unexpectedRoot(root.name) }
        guard let selection = try PropertySelection(in: root) else { throw .invalid("propfind") }
        self.selection = selection
    }
}

/// The body of PROPPATCH (RFC 4918 §9.2), without the values: the server refuses every change.
public struct PropertyPatch: Hashable, Sendable {
    /// The properties to set or remove, each once.
    public let names: [XMLName]

    public init(_ document: XMLDocument?) throws(RequestError) {
        guard let root = document?.root else { throw .invalid("propertyupdate") }
        guard root.name == .dav("propertyupdate") else { throw .unexpectedRoot(root.name) }
        var names: [XMLName] = []
        for update in root.children where [.dav("set"), .dav("remove")].contains(update.name) {
            for prop in update.children(named: .prop) {
                for name in try PropertySelection.names(in: prop) where !names.contains(name) { names.append(name) }
                guard names.count <= DAVBounds.properties else { throw .tooManyProperties }
            }
        }
        guard !names.isEmpty else { throw .invalid("propertyupdate") }
        self.names = names
    }
}
