/// Reads the text of an interface (varlink.org, Interface Definition).
///
/// It takes what the language allows; whether a text keeps to what every implementation understands is its author's
/// care. Texts may come from a server, so nesting has a bound.
public struct InterfaceParser {
    private var scanner: InterfaceScanner
    private var depth = 0
    private var usedTypes: [String] = []

    private static let maximumDepth = 32

    private init(text: String) {
        scanner = InterfaceScanner(text: text)
    }

    public static func parse(_ text: String) throws(InterfaceError) -> InterfaceDefinition {
        var parser = InterfaceParser(text: text)
        return try parser.interface()
    }

    private mutating func interface() throws(InterfaceError) -> InterfaceDefinition {
        try scanner.expectKeyword("interface")
        let comments = scanner.takeComments()
        let name = try scanner.interfaceName()
        var types: [InterfaceDefinition.TypeAlias] = []
        var methods: [InterfaceDefinition.Method] = []
        var errors: [InterfaceDefinition.ErrorDefinition] = []
        var names: Set<String> = []
        while !scanner.isAtEnd {
            let keyword = try scanner.keyword(["type", "method", "error"])
            let comments = scanner.takeComments()
            let member = try scanner.memberName()
            guard names.insert(member).inserted else { throw .duplicate(member) }
            switch keyword {
            case "type":
                types.append(.init(name: member, comments: comments, type: try compound()))
            case "method":
                let parameters = try fields()
                try scanner.expect("->")
                let reply = try fields()
                methods.append(.init(name: member, comments: comments, parameters: parameters, reply: reply))
            default:
                errors.append(.init(name: member, comments: comments, parameters: try fields()))
            }
        }
        let defined = Set(types.map(\.name))
        if let unknown = usedTypes.first(where: { !defined.contains($0) }) { throw .unknownType(unknown) }
        return InterfaceDefinition(name: name, comments: comments, types: types, methods: methods, errors: errors)
    }

    private mutating func type() throws(InterfaceError) -> TypeExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw .tooDeep(maximum: Self.maximumDepth) }
        if scanner.take("?") {
            if scanner.isNext("?") { throw .expected("one '?'", line: scanner.line) }
            return .optional(try type())
        }
        if scanner.take("[") {
            if scanner.take("]") { return .array(try type()) }
            try scanner.expectKeyword("string")
            try scanner.expect("]")
            return .dictionary(try type())
        }
        if scanner.isNext("(") { return try compound() }
        let name = try scanner.word("a type")
        switch name {
        case "bool": return .bool
        case "int": return .int
        case "float": return .float
        case "string": return .string
        case "object": return .object
        default:
            guard InterfaceScanner.isMemberName(name) else { throw .expected("a type", line: scanner.line) }
            usedTypes.append(name)
            return .named(name)
        }
    }

    /// A structure or an enumeration; which one shows after the first name.
    private mutating func compound() throws(InterfaceError) -> TypeExpression {
        try scanner.expect("(")
        if scanner.take(")") { return .structure([]) }
        var names: [String] = [try scanner.fieldName()]
        let comments = scanner.takeComments()
        if scanner.take(":") {
            return .structure(try fields(after: names[0], comments: comments))
        }
        while scanner.take(",") {
            let name = try scanner.fieldName()
            guard !names.contains(name) else { throw .duplicate(name) }
            names.append(name)
        }
        try scanner.expect(")")
        return .enumeration(names)
    }

    /// What stands in the parentheses of a method or an error: fields, never an enumeration.
    private mutating func fields() throws(InterfaceError) -> [InterfaceDefinition.Field] {
        try scanner.expect("(")
        if scanner.take(")") { return [] }
        let name = try scanner.fieldName()
        let comments = scanner.takeComments()
        try scanner.expect(":")
        return try fields(after: name, comments: comments)
    }

    /// The rest of a structure, from its first field's type on.
    private mutating func fields(
        after first: String, comments: [String]
    ) throws(InterfaceError) -> [InterfaceDefinition.Field] {
        var fields = [InterfaceDefinition.Field(name: first, comments: comments, type: try type())]
        while scanner.take(",") {
            let name = try scanner.fieldName()
            let comments = scanner.takeComments()
            try scanner.expect(":")
            guard !fields.contains(where: { $0.name == name }) else { throw .duplicate(name) }
            fields.append(.init(name: name, comments: comments, type: try type()))
        }
        try scanner.expect(")")
        return fields
    }
}
