import BrokerJSON

/// Why a frame is not a valid Varlink call or reply.
public enum MessageError: Error, Hashable, Sendable {
    case json(JSONError)
    case notAnObject
    /// A member is missing or invalid.
    case malformed(member: String)
    /// The frame has a member that this kind of message does not have.
    case unknownMember
}

extension MessageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .json(let error): error.description
        case .notAnObject: "not a JSON object"
        case .malformed(let member): "'\(member)' is missing or malformed"
        case .unknownMember: "unknown member"
        }
    }
}

// Calls and replies share these functions (varlink.org, Method Call). A null member counts as missing.
extension JSONDocument {
    static func members(ofMessage frame: [UInt8]) throws(MessageError) -> JSONValue.Members {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: frame)
        } catch {
            throw .json(error)
        }
        guard let members = document.root.members else { throw .notAnObject }
        return members
    }
}

extension JSONValue {
    func messageParameters() throws(MessageError) -> JSONValue {
        if isNull { return JSONDocument.emptyObject.root }
        guard kind == .object else { throw .malformed(member: "parameters") }
        return self
    }

    func messageFlag(_ name: String) throws(MessageError) -> Bool {
        if isNull { return false }
        guard let bool else { throw .malformed(member: name) }
        return bool
    }
}
