/// Why a body is not accepted as XML.
public enum XMLError: Error, Hashable, Sendable {
    /// The body is not well-formed, or a namespace prefix is not declared. The offset is in bytes.
    case malformed(offset: Int)
    /// The body contains a document type declaration. Only such a declaration can define entities.
    case doctype
    /// The body is not in UTF-8.
    case unsupportedEncoding
    /// The body is larger than ``XMLLimits/bytes``.
    case bodyTooLarge
    case tooManyElements
    /// More elements are open at once than ``DAVBounds/depth``.
    case tooDeep
    /// An element has more than ``DAVBounds/attributes``, or the document more than ``DAVBounds/attributesInDocument``.
    case tooManyAttributes
    case tooManyNames
    case nameTooLong
    /// An element has more text than ``XMLLimits/text``.
    case textTooLong
    /// A tag, a comment or a processing instruction is longer than ``DAVBounds/token``.
    case tokenTooLong

    /// The HTTP status that says so to the client.
    public var status: Int {
        switch self {
        case .malformed, .doctype: 400
        case .unsupportedEncoding: 415
        case .bodyTooLarge, .tooManyElements, .tooDeep, .tooManyAttributes, .tooManyNames, .nameTooLong, .textTooLong,
            .tokenTooLong:
            413
        }
    }
}

/// The limits of one document that depend on where it comes from.
public struct XMLLimits: Hashable, Sendable {
    /// The size of the document, in bytes. Below 4 GiB, because ``XMLDocument`` has offsets of 32 bits.
    public let bytes: Int
    /// The text of one element, in bytes.
    public let text: Int

    public init(bytes: Int = DAVBounds.body, text: Int = DAVBounds.text) {
        self.bytes = min(bytes, Int(UInt32.max))
        self.text = text
    }
}
