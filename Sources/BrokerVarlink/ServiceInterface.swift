import BrokerJSON

/// Answers calls to `org.varlink.service` (varlink.org, Service), and calls to unknown interfaces and methods.
public struct ServiceInterface: Sendable {
    /// The interfaces' texts, by name.
    private let texts: [String: String]
    /// The methods by qualified name.
    private let methods: [String: Method]
    private let info: [UInt8]

    private struct Method: Sendable {
        /// Whether the comment above the method has systemd's marker for methods that require `more`.
        let requiresMore: Bool
        /// Whether the method belongs to `org.varlink.service`.
        let isOwn: Bool
    }

    /// - Parameter interfaces: the interfaces in addition to `org.varlink.service`, which every service has.
    /// - Throws: ``InterfaceError`` if a description's text does not define the interface with its name, or if
    ///   two descriptions have the same name.
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
            // The texts are part of this program, so no full parser is needed: each method begins a line,
            // right below its comments. Tests/certify.sh parses the texts with a different Varlink implementation.
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

    /// Answers calls to `org.varlink.service`, calls to unknown methods, and calls that lack a required `more`.
    ///
    /// - Returns: `false` for any other call, which the implementation of its interface has to answer.
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

    /// Answers `GetInfo`, which has no parameters, or `GetInterfaceDescription`, which has one.
    private func answerOwn(_ call: Call) {
        let isInfo = call.name == "GetInfo"
        if let members = call.parameters.members {
            for (name, _) in members where isInfo || !name.says("interface") {
                return call.fail(.invalidParameter(name.string(ofAtMost: Self.longestName) ?? ""))
            }
        }
        if isInfo { return call.reply(info) }
        guard let name = call.parameters["interface"]?.string(ofAtMost: Self.longestName) else {
            return call.fail(.invalidParameter("interface"))
        }
        guard let text = texts[name] else { return call.fail(.interfaceNotFound(name)) }
        call.reply { $0.member("description", text) }
    }

    private static let name = "org.varlink.service"
    /// The longest name of an interface or a parameter that an answer repeats, in bytes.
    private static let longestName = 256

    /// The interface that every service has, as varlink.org defines it, plus the errors that systemd added.
    public static let description = InterfaceDescription(
        name: name,
        text: """
            # Information about a Varlink service, offered by every one.
            interface org.varlink.service

            # The vendor, product and interfaces of the service.
            method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)

            # The definition of one interface.
            method GetInterfaceDescription(interface: string) -> (description: string)

            # The service has no such interface.
            error InterfaceNotFound (interface: string)

            # The interface has no such method.
            error MethodNotFound (method: string)

            # The interface defines the method, but the service does not implement it.
            error MethodNotImplemented (method: string)

            # The parameter is missing, unknown or of the wrong type.
            error InvalidParameter (parameter: string)

            # The caller may not call this.
            error PermissionDenied ()

            # The method must be called with 'more'.
            error ExpectedMore ()

            """)
}

extension Call {
    /// The name of the method's interface.
    public var interface: String { String(method[..<(method.lastIndex(of: ".") ?? method.startIndex)]) }
}

/// An interface's name and its text in Varlink's interface definition language.
public struct InterfaceDescription: Hashable, Sendable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// No text defines the interface with this name, or two texts do.
public struct InterfaceError: Error, Hashable, CustomStringConvertible {
    let name: String

    public var description: String { "interface \(name) must have one text, which defines it" }
}
