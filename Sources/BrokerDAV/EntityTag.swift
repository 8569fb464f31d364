/// The version of a resource (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The text between the quotes.
    public let opaque: String
    public let isWeak: Bool

    /// - Parameter opaque: without quotes, spaces and control characters; `nil` is returned otherwise.
    public init?(_ opaque: String, isWeak: Bool = false) {
        guard opaque.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// The tag as `ETag` and `getetag` contain it.
    public var text: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

    static func isAllowed(_ byte: UInt8) -> Bool { byte > 0x20 && byte != UInt8(ascii: "\"") && byte != 0x7F }
}

/// The value of `If-Match` or `If-None-Match`.
public enum EntityTagList: Hashable, Sendable {
    /// `*`: any version of a resource that exists.
    case any
    case tags([EntityTag])

    /// Reads all fields of one name; `nil` if there are none.
    ///
    /// - Throws: if the value has any other form. It must not be ignored: the request would then overwrite what the
    ///   client wanted to protect.
    public init?(_ fields: [String]) throws(FieldError) {
        guard !fields.isEmpty else { return nil }
        let joined = fields.joined(separator: ",")
        guard joined.utf8.count <= DAVBounds.field else { throw .tooLong }
        let text = FieldValue.trimmed(joined)
        guard text != "*" else {
            self = .any
            return
        }
        var tags: [EntityTag] = []
        var rest = Array(text.utf8)[...]
        var needsComma = false
        while let byte = rest.popFirst() {
            switch byte {
            case 0x20, 0x09: continue
            case UInt8(ascii: ","): needsComma = false
            default:
                // A backslash inside a tag is an ordinary character, so a tag is not a quoted string.
                let isWeak = byte == UInt8(ascii: "W") && rest.popFirst() == UInt8(ascii: "/")
                let opening = isWeak ? rest.popFirst() : byte
                guard !needsComma, opening == UInt8(ascii: "\"") else { throw .malformed }
                let opaque = rest.prefix { $0 != UInt8(ascii: "\"") }
                rest = rest.dropFirst(opaque.count)
                guard rest.popFirst() != nil,
                    let tag = EntityTag(String(decoding: opaque, as: UTF8.self), isWeak: isWeak)
                else { throw .malformed }
                guard tags.count < DAVBounds.fieldItems else { throw .tooLong }
                tags.append(tag)
                needsComma = true
            }
        }
        guard !tags.isEmpty else { throw .malformed }
        self = .tags(tags)
    }
}

/// The conditions of a request on the current version of its resource (RFC 9110 §13.1).
public struct RequestConditions: Hashable, Sendable {
    public let ifMatch: EntityTagList?
    public let ifNoneMatch: EntityTagList?

    /// - Parameters: the values of all fields of that name.
    public init(ifMatch: [String], ifNoneMatch: [String]) throws(FieldError) {
        self.ifMatch = try EntityTagList(ifMatch)
        self.ifNoneMatch = try EntityTagList(ifNoneMatch)
    }

    public enum Outcome: Hashable, Sendable {
        case met
        /// Answer with 412.
        case failed
        /// Answer with 304, or with 412 if the method is not GET or HEAD.
        case notModified
    }

    /// - Parameter current: the resource's tag; `nil` if there is no resource.
    public func evaluate(_ current: EntityTag?) -> Outcome {
        switch ifMatch {
        case nil: break
        case .any: if current == nil { return .failed }
        // Strong comparison (RFC 9110 §13.1.1): two weak tags do not match.
        case .tags(let tags):
            guard let current, !current.isWeak, tags.contains(current) else { return .failed }
        }
        switch ifNoneMatch {
        case nil: return .met
        case .any: return current == nil ? .met : .notModified
        // Weak comparison (RFC 9110 §13.1.2).
        case .tags(let tags): return tags.contains { $0.opaque == current?.opaque } ? .notModified : .met
        }
    }
}
