import BrokerJSON

/// A parsed and validated call frame (varlink.org, Method Call).
public struct CallFrame: Sendable {
    /// Fully qualified, for example `io.contactbroker.Contacts.FetchContacts`.
    public let method: String
    /// Always an object; empty if the caller sent no parameters or null.
    public let parameters: JSONValue
    public let more: Bool
    public let oneway: Bool
    public let upgrade: Bool

    /// The memory that the parameters use, in bytes.
    public var heldBytes: Int { parameters.documentSize }

    /// The maximum length of a method name, in bytes. The broker's own method names are far shorter.
    static let maximumMethodLength = 512

    /// The size of a long call, in bytes. Long calls are parsed and decoded on other threads than the event loop,
    /// because that takes milliseconds and other connections must not wait.
    public static let long = 128 * 1_024

    /// Parses a frame without its NUL.
    ///
    /// - Throws: ``MessageError`` if the frame is not a valid call. Then ``MessageError/reply`` answers it.
    public init(parsing frame: [UInt8]) throws(MessageError) {
        var method: String?
        var parameters = JSONDocument.emptyObject.root
        var (more, oneway, upgrade) = (false, false, false)
        for (name, value) in try JSONDocument.members(ofMessage: frame) {
            if name.says("method") {
                guard let text = value.string(ofAtMost: Self.maximumMethodLength), Self.isQualified(text) else {
                    throw .malformed(member: "method")
                }
                method = text
            } else if name.says("parameters") {
                parameters = try value.messageParameters()
            } else if name.says("more") {
                more = try value.messageFlag("more")
            } else if name.says("oneway") {
                oneway = try value.messageFlag("oneway")
            } else if name.says("upgrade") {
                upgrade = try value.messageFlag("upgrade")
            } else {
                throw .malformed(member: name.string(ofAtMost: Self.maximumMethodLength) ?? "")
            }
        }
        guard let method else { throw .malformed(member: "method") }
        // `more` requests many replies, `oneway` none.
        guard !(more && oneway) else { throw .malformed(member: "oneway") }
        self.method = method
        self.parameters = parameters
        self.more = more
        self.oneway = oneway
        self.upgrade = upgrade
    }

    /// Whether a method consists of names joined by dots, and each name has only permitted characters
    /// (varlink.org, Interface Definition).
    private static func isQualified(_ method: String) -> Bool {
        var parts = 0
        var partLength = 0
        // The iterator of the UTF-8 view would decide for each byte how the string is stored.
        let name = method.utf8.span
        for place in name.indices {
            switch name[place] {
            case UInt8(ascii: "."):
                guard partLength > 0 else { return false }
                parts += 1
                partLength = 0
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                partLength += 1
            default: return false
            }
        }
        return parts > 0 && partLength > 0
    }

    /// Encodes a call as a frame with its NUL.
    ///
    /// - Parameter parameters: an encoded JSON object.
    public static func encode(
        _ method: String, parameters: [UInt8], more: Bool = false, oneway: Bool = false
    ) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: parameters.count + method.utf8.count + 64)
        writer.object {
            $0.member("method", method)
            $0.name("parameters")
            $0.raw(parameters)
            if more { $0.member("more", true) }
            if oneway { $0.member("oneway", true) }
        }
        return writer.bytes + [0]
    }
}
