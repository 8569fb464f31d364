import BrokerJSON

/// A parsed reply frame (varlink.org, Method Call).
public struct ReplyFrame: Sendable {
    /// An object with the parameters of the reply or of the error; empty if there are none.
    public let parameters: JSONValue
    /// Whether another reply to the same call follows.
    public let continues: Bool
    /// The qualified name of the error; `nil` if the reply is not an error.
    public let error: String?

    /// Parses a frame without its NUL.
    ///
    /// - Throws: ``MessageError`` if the frame is not a valid reply.
    public init(parsing frame: [UInt8]) throws(MessageError) {
        var parameters = JSONDocument.emptyObject.root
        var continues = false
        var error: String?
        for (name, value) in try JSONDocument.members(ofMessage: frame) {
            if name.says("parameters") {
                parameters = try value.messageParameters()
            } else if name.says("continues") {
                continues = try value.messageFlag("continues")
            } else if name.says("error") {
                guard !value.isNull else { continue }
                guard let text = value.string, !text.isEmpty else { throw .malformed(member: "error") }
                error = text
            } else {
                throw .malformed(member: name.string ?? "")
            }
        }
        // An error is always the last reply of a call.
        guard !(continues && error != nil) else { throw .malformed(member: "continues") }
        self.parameters = parameters
        self.continues = continues
        self.error = error
    }

    /// Appends the frame of a reply, with its NUL.
    ///
    /// - Parameter parameters: an encoded JSON object.
    public static func append(parameters: [UInt8], continues: Bool, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: opening)
        bytes.append(contentsOf: parameters)
        bytes.append(contentsOf: continues ? continuesClosing : closing)
    }

    /// Appends the frame of an error, with its NUL.
    public static func append(_ error: VarlinkError, to bytes: inout [UInt8]) {
        var writer = JSONWriter(reservingCapacity: error.parameters.count + error.name.utf8.count + 32)
        writer.object {
            $0.member("error", error.name)
            $0.name("parameters")
            $0.raw(error.parameters)
        }
        bytes.append(contentsOf: writer.bytes)
        bytes.append(0)
    }

    /// The maximum number of bytes that a reply's frame has in addition to its parameters.
    public static let overhead = opening.count + continuesClosing.count

    private static let opening = Array(#"{"parameters":"#.utf8)
    private static let closing = Array("}\0".utf8)
    private static let continuesClosing = Array(#","continues":true}"#.utf8) + [0]
}
