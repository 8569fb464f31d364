/// What an interface's text says (varlink.org, Interface Definition): its types, methods and errors, as values.
public struct InterfaceDefinition: Hashable, Sendable {
    /// Fully qualified, for example `io.contactbroker.Contacts`.
    public let name: String
    /// The comment lines directly before `interface`, without `#` and the space after it.
    public let comments: [String]
    public let types: [TypeAlias]
    public let methods: [Method]
    public let errors: [ErrorDefinition]

    public func method(_ name: some StringProtocol) -> Method? { methods.first { $0.name == name } }
    public func type(_ name: some StringProtocol) -> TypeAlias? { types.first { $0.name == name } }
    public func error(_ name: some StringProtocol) -> ErrorDefinition? { errors.first { $0.name == name } }

    public struct TypeAlias: Hashable, Sendable {
        public let name: String
        public let comments: [String]
        public let type: TypeExpression
    }

    public struct Method: Hashable, Sendable {
        public let name: String
        public let comments: [String]
        public let parameters: [Field]
        public let reply: [Field]

        /// Whether the comments say, as systemd's interfaces do, that a call without `more` makes no sense.
        public var requiresMore: Bool { comments.contains("[Requires 'more' flag]") }
        /// Whether the comments say that a call with `more` may have several replies.
        public var supportsMore: Bool { requiresMore || comments.contains("[Supports 'more' flag]") }
    }

    public struct ErrorDefinition: Hashable, Sendable {
        public let name: String
        public let comments: [String]
        public let parameters: [Field]
    }

    public struct Field: Hashable, Sendable {
        public let name: String
        public let comments: [String]
        public let type: TypeExpression
    }
}

/// A type as it is written in an interface.
public indirect enum TypeExpression: Hashable, Sendable {
    case bool
    case int
    case float
    case string
    /// Any JSON value.
    case object
    /// One of the interface's own types.
    case named(String)
    case structure([InterfaceDefinition.Field])
    case enumeration([String])
    case optional(TypeExpression)
    case array(TypeExpression)
    /// Keys are strings.
    case dictionary(TypeExpression)
}

extension TypeExpression: CustomStringConvertible {
    /// As it would be written, on one line and without comments.
    public var description: String {
        switch self {
        case .bool: "bool"
        case .int: "int"
        case .float: "float"
        case .string: "string"
        case .object: "object"
        case .named(let name): name
        case .structure(let fields): "(" + fields.map { "\($0.name): \($0.type)" }.joined(separator: ", ") + ")"
        case .enumeration(let cases): "(" + cases.joined(separator: ", ") + ")"
        case .optional(let type): "?\(type)"
        case .array(let type): "[]\(type)"
        case .dictionary(let type): "[string]\(type)"
        }
    }
}

/// Why a text is no interface definition.
public enum InterfaceError: Error, Hashable, Sendable {
    /// The line, counted from 1, and what should stand there.
    case expected(String, line: Int)
    /// A type, method, error, field or value named twice.
    case duplicate(String)
    /// A type is used that the interface does not define.
    case unknownType(String)
    case tooDeep(maximum: Int)
}

extension InterfaceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .expected(let what, let line): "line \(line): \(what) expected"
        case .duplicate(let name): "'\(name)' is defined twice"
        case .unknownType(let name): "type '\(name)' is not defined"
        case .tooDeep(let maximum): "more than \(maximum) types within one another"
        }
    }
}
