import BrokerJSON

/// Answers `org.varlink.service` (varlink.org, Service), and calls to what a service does not have.
public struct ServiceInterface: Sendable {
    /// The interfaces' texts, by their names.
    private let texts: [String: String]
    /// By their qualified names: what every call looks up first.
    private let methods: [String: Method]
    private let info: [UInt8]

    private struct Method: Sendable {
        /// Whether the comments above it say, as systemd's interfaces do, that a call without `more` makes no sense.
        let requiresMore: Bool
        /// Of `org.varlink.service`.
        let isOwn: Bool
    }

    /// - Parameter interfaces: besides `org.varlink.service`, which every service has.
    /// - Throws: where an interface's text defines another interface than it should, or two have one name.
    public init(
        vendor: String, product: String, version: String, url: String, interfaces: [InterfaceDescription]
    ) throws(InterfaceError) {
        var texts: [String: String] = [:]
        var methods: [String: Method] = [:]
        for interface in [Self.description] + interfaces {
            let lines = interface.text.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.contains("interface \(interface.name)"),
                texts.updateValue(interface.text, forKey: interface.name) == nil
            else { throw InterfaceError(name: interface.name) }
            // The text is ours, and an implementation of Varlink that is not reads it in Tests/certify.sh: each method
            // begins a line, right below the comments that are about it.
            var requiresMore = false
            for line in lines {
                if line.hasPrefix("method ") {
                    let name = line.dropFirst("method ".count).prefix { $0 != "(" }
                    methods["\(interface.name).\(name)"] = Method(
                        requiresMore: requiresMore, isOwn: interface.name == Self.name)
                }
                requiresMore = line.hasPrefix("#") && (requiresMore || line == "# [Requires 'more' flag]")
            }
        }
        self.texts = texts
        self.methods = methods
        var writer = JSONWriter()
        writer.object {
            $0.member("vendor", vendor)
            $0.member("product", product)
            $0.member("version", version)
            $0.member("url", url)
            $0.member("interfaces", [Self.name] + interfaces.map(\.name))
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
            call.fail(texts[interface] == nil ? .interfaceNotFound(interface) : .methodNotFound(call.method))
            return true
        }
        if method.requiresMore, !call.more {
            call.fail(.expectedMore)
            return true
        }
        guard method.isOwn else { return false }
        answerOwn(call)
        return true
    }

    /// Answers `GetInfo`, which has no parameter, or `GetInterfaceDescription`, which has one.
    private func answerOwn(_ call: Call) {
        let isInfo = call.name == "GetInfo"
        if let members = call.parameters.members {
            for (name, _) in members where isInfo || !name.says("interface") {
                return call.fail(.invalidParameter(name.string ?? ""))
            }
        }
        if isInfo { return call.reply(info) }
        guard let name = call.parameters["interface"]?.string else { return call.fail(.invalidParameter("interface")) }
        guard let text = texts[name] else { return call.fail(.interfaceNotFound(name)) }
        call.reply { $0.member("description", text) }
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

/// One interface: its name and its text in Varlink's interface definition language, as it is served.
public struct InterfaceDescription: Hashable, Sendable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// A text is not of the interface of this name, or another text is.
public struct InterfaceError: Error, Hashable, CustomStringConvertible {
    let name: String

    public var description: String { "interface \(name) must have one text, which defines it" }
}
