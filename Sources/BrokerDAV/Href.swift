/// Why a text is not the path of a resource of this server.
public enum HrefError: Error, Hashable, Sendable {
    /// Longer than ``DAVBounds/href``.
    case tooLong
    /// A relative reference, a reference to a host without a scheme (`//host/`), or another scheme than `http`.
    case notAnAbsolutePath
    case otherHost
    case queryOrFragment
    case emptySegment
    /// `.` or `..`, encoded or not.
    case dotSegment
    /// `%` without two hexadecimal digits.
    case invalidEscape
    /// A control character or a slash inside a segment, encoded or not.
    case forbiddenCharacter
    case invalidUTF8
}

/// The path of a resource, in one canonical spelling.
///
/// Clients spell the same path in different ways: `%3B`, `%3b` or `;`. Two hrefs are equal if their decoded segments
/// have the same bytes, and both or neither end with a slash.
public struct Href: Hashable, Sendable, CustomStringConvertible {
    /// The canonical spelling: an absolute path in which everything but unreserved characters is percent-encoded (RFC
    /// 3986 §2.3). It is ASCII, so equal texts have equal bytes.
    public let text: String

    public var description: String { text }

    /// Whether the path ends with a slash, as the paths of collections do (RFC 4918 §5.2).
    public var isCollection: Bool { text.utf8.last == UInt8(ascii: "/") }

    /// The decoded segments.
    public let segments: [String]

    public init(_ segments: [String], isCollection: Bool) throws(HrefError) {
        var bytes: [UInt8] = []
        for segment in segments {
            try Self.check(segment)
            bytes.append(UInt8(ascii: "/"))
            for byte in segment.utf8 { Self.encode(byte, to: &bytes) }
        }
        if isCollection || segments.isEmpty { bytes.append(UInt8(ascii: "/")) }
        guard bytes.count <= DAVBounds.href else { throw .tooLong }
        self.segments = segments
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a request target or an href of a request body (RFC 4918 §8.3): an absolute path, or an `http` URI.
    ///
    /// - Parameter authority: the host and port that this server has for the client, as in `Host`. An absolute URI must
    ///   name it. `nil` refuses absolute URIs.
    public init(parsing reference: String, authority: String?) throws(HrefError) {
        var path = Array(reference.utf8)[...]
        guard path.count <= DAVBounds.href else { throw .tooLong }
        guard !path.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw .queryOrFragment
        }
        let slash = UInt8(ascii: "/")
        if path.first != slash {
            let scheme = "http://"
            guard Self.equal(path.prefix(scheme.utf8.count), scheme) else { throw .notAnAbsolutePath }
            path = path.dropFirst(scheme.utf8.count)
            let host = path.prefix { $0 != slash }
            guard let authority, Self.equal(host, authority) else { throw .otherHost }
            path = path.dropFirst(host.count)
        } else if path.dropFirst().first == slash {
            throw .notAnAbsolutePath
        }
        var pieces = path.split(separator: slash, omittingEmptySubsequences: false).dropFirst()
        let isCollection = pieces.last?.isEmpty ?? true
        if isCollection { pieces = pieces.dropLast() }
        var segments: [String] = []
        for piece in pieces { segments.append(try Self.decoded(piece)) }
        try self.init(segments, isCollection: isCollection)
    }

    private static func decoded(_ segment: ArraySlice<UInt8>) throws(HrefError) -> String {
        var bytes: [UInt8] = []
        var rest = segment
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
            else { throw .invalidEscape }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
        return text
    }

    private static func check(_ segment: String) throws(HrefError) {
        guard !segment.isEmpty else { throw .emptySegment }
        guard segment != ".", segment != ".." else { throw .dotSegment }
        guard !segment.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }) else {
            throw .forbiddenCharacter
        }
    }

    private static func encode(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        default:
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Schemes and hosts ignore the case of ASCII letters (RFC 3986 §6.2.2.1).
    private static func equal(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
        return bytes.count == text.utf8.count && zip(bytes, text.utf8).allSatisfy { lower($0) == lower($1) }
    }
}
