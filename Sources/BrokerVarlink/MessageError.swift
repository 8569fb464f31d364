import BrokerJSON

/// Why a frame is not a valid Varlink call or reply.
public enum MessageError: Error, Hashable, Sendable {
    case json(JSONError)
    case notAnObject
    /// A member is missing, invalid or unknown.
    case malformed(member: String)

    /// The error that answers a frame that is not a valid call. It names the member; if the text is no JSON object at all,
    /// for example because half of a surrogate pair is missing, it names `parameters`, where texts are.
    public var reply: VarlinkError {
        switch self {
        case .json, .notAnObject: .invalidParameter("parameters")
        case .malformed(let member): .invalidParameter(member)
        }
    }
}

extension MessageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .json(let error): error.description
        case .notAnObject: "not a JSON object"
        case .malformed(let member): "'\(member)' is missing, malformed or unknown"
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
