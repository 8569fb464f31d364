import BrokerJSON

/// An error reply: its qualified name and its parameters.
public struct VarlinkError: Error, Hashable, Sendable {
    /// Fully qualified, for example `org.varlink.service.MethodNotFound`.
    public let name: String
    /// An encoded JSON object.
    public let parameters: [UInt8]

    public init(_ name: String, _ write: (inout JSONWriter) -> Void = { _ in }) {
        self.name = name
        var writer = JSONWriter(reservingCapacity: 64)
        writer.object(write)
        parameters = writer.bytes
    }

    // The errors of org.varlink.service.

    public static func interfaceNotFound(_ interface: String) -> VarlinkError {
        VarlinkError("org.varlink.service.InterfaceNotFound") { $0.member("interface", interface) }
    }

    public static func methodNotFound(_ method: String) -> VarlinkError {
        VarlinkError("org.varlink.service.MethodNotFound") { $0.member("method", method) }
    }

    /// - Parameter parameter: the field's name without a path; for a nested field, the outermost name.
    public static func invalidParameter(_ parameter: String) -> VarlinkError {
        VarlinkError("org.varlink.service.InvalidParameter") { $0.member("parameter", parameter) }
    }

    public static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")
    public static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}
