import BrokerJSON

/// Answers `org.varlink.service` (varlink.org, Service), and calls to what a service does not have.
public struct ServiceInterface: Sendable {
    private let service: Service
    private let definitions: [String: InterfaceDefinition]
    /// By their qualified names: what every call looks up first.
    private let methods: [String: Method]
    private let info: [UInt8]

    private struct Method: Sendable {
        let definition: InterfaceDefinition.Method
        /// Worked out once from the definition's comments.
        let requiresMore: Bool
        /// Of `org.varlink.service`.
        let isOwn: Bool
    }

    /// - Throws: where an interface's text is no interface definition, or defines another interface than it should.
    public init(_ service: Service) throws(InterfaceError) {
        self.service = service
        var definitions: [String: InterfaceDefinition] = [:]
        for interface in service.interfaces + [Self.description] {
            let definition = try InterfaceParser.parse(interface.text)
            guard definition.name == interface.name else { throw .expected(interface.name, line: 1) }
            guard definitions.updateValue(definition, forKey: interface.name) == nil else {
                throw .duplicate(interface.name)
            }
        }
        self.definitions = definitions
        methods = Dictionary(
            definitions.values.flatMap { definition in
                definition.methods.map {
                    let isOwn = definition.name == Self.name
                    return (
                        "\(definition.name).\($0.name)",
                        Method(definition: $0, requiresMore: $0.requiresMore, isOwn: isOwn)
                    )
                }
            }, uniquingKeysWith: { first, _ in first })
        var writer = JSONWriter()
        writer.object {
            $0.member("vendor", service.vendor)
            $0.member("product", service.product)
            $0.member("version", service.version)
            $0.member("url", service.url)
            $0.member("interfaces", [Self.name] + service.interfaces.map(\.name))
        }
        info = writer.bytes
    }

    /// Answers the call unless it is one for the service's own interfaces, which it then may be given to.
    ///
    /// - Returns: `false` where the method exists and nobody has answered: its interface defines it, and it was called
    ///   with `more` if it needs that.
    public func answer(_ call: Call) -> Bool {
        guard let method = methods[call.method] else {
            let interface = call.interface
            call.fail(definitions[interface] == nil ? .interfaceNotFound(interface) : .methodNotFound(call.method))
            return true
        }
        if method.requiresMore, !call.more {
            call.fail(.expectedMore)
            return true
        }
        guard method.isOwn else { return false }
        answerOwn(call, method.definition)
        return true
    }

    private func answerOwn(_ call: Call, _ method: InterfaceDefinition.Method) {
        if let members = call.parameters.members {
            for (name, _) in members where !method.parameters.contains(where: { name.says($0.name) }) {
                return call.fail(.invalidParameter(name.string ?? ""))
            }
        }
        if method.name == "GetInfo" { return call.reply(info) }
        guard let name = call.parameters["interface"]?.string else { return call.fail(.invalidParameter("interface")) }
        guard let found = ([Self.description] + service.interfaces).first(where: { $0.name == name }) else {
            return call.fail(.interfaceNotFound(name))
        }
        call.reply { $0.member("description", found.text) }
    }

    private static let name = "org.varlink.service"

    /// The interface that every service has, as varlink.org defines it, with the errors that systemd added since.
    public static let description = InterfaceDescription(
        name: name,
        text: """
            # What every Varlink service tells about itself.
            interface org.varlink.service

            # Who made the service, and which interfaces it has.
            method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

            # The text of one interface.
            method GetInterfaceDescription(interface: string) -> (description: string)

            # The service has no such interface.
            error InterfaceNotFound (interface: string)

            # The interface has no such method.
            error MethodNotFound (method: string)

            # The interface has the method, the service does not.
            error MethodNotImplemented (method: string)

            # The parameter is missing, unknown or of another type.
            error InvalidParameter (parameter: string)

            # The caller may not call this.
            error PermissionDenied ()

            # The method must be called with 'more'.
            error ExpectedMore ()

            """)
}

extension Call {
    /// The method's interface, without its own name.
    public var interface: String { String(method[..<(method.lastIndex(of: ".") ?? method.startIndex)]) }
}
