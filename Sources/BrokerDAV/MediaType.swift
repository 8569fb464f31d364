/// A media type, as in `Content-Type` (RFC 9110 §8.3).
public struct MediaType: Hashable, Sendable {
    /// Type and subtype in lower case, such as `text/vcard`.
    public let name: String
    /// The parameters by their names in lower case. Values have no quotes.
    public let parameters: [String: String]

    public init(_ field: String) throws(FieldError) {
        let parts = try FieldValue.split(field, at: UInt8(ascii: ";"))
        let name = (parts.first ?? "").lowercased()
        let types = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard types.count == 2, types.allSatisfy({ !$0.isEmpty && $0.allSatisfy(FieldValue.isTokenByte) }) else {
            throw .malformed
        }
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let (name, value) = try FieldValue.parameter(part)
            // Of two values, another program could use the other one.
            guard parameters.updateValue(value, forKey: name) == nil else { throw .malformed }
        }
        self.name = name
        self.parameters = parameters
    }

    /// Whether the body is said to be in UTF-8, or nothing is said about it.
    public var isUTF8: Bool { (parameters["charset"] ?? "utf-8").lowercased() == "utf-8" }

    /// Whether the body of a PUT may be a vCard. The older names are from vCard 2.1 and RFC 2426. If not, answer with
    /// 415 or ``Precondition/supportedAddressData``.
    public var isCard: Bool { ["text/vcard", "text/x-vcard", "text/directory"].contains(name) && isUTF8 }

    /// Whether the body of PROPFIND, PROPPATCH or REPORT may be XML (RFC 4918 §8.2).
    public var isXML: Bool { ["application/xml", "text/xml"].contains(name) && isUTF8 }
}

extension CardVersion {
    /// Returns the version that `Accept` prefers (RFC 9110 §12.5.1, RFC 6350 §10.1).
    ///
    /// That is 4.0 if its quality is higher, or as high and only 4.0 is named. Otherwise it is 3.0, also if the client
    /// accepts neither: it can refuse the response itself. Items that cannot be parsed are ignored.
    ///
    /// - Parameter fields: the values of all `Accept` fields.
    public static func preferred(byAccept fields: [String]) -> CardVersion {
        let items = (try? FieldValue.split(fields.joined(separator: ","), at: UInt8(ascii: ","))) ?? []
        let ranges = items.compactMap { try? MediaType($0) }
        let (third, fourth) = (Self.quality(of: .v3, in: ranges), Self.quality(of: .v4, in: ranges))
        if fourth.quality != third.quality { return fourth.quality > third.quality ? .v4 : .v3 }
        return fourth.isNamed && !third.isNamed && fourth.quality > 0 ? .v4 : .v3
    }

    /// The most specific range that includes the version decides.
    private static func quality(
        of version: CardVersion, in ranges: [MediaType]
    ) -> (quality: Double, isNamed: Bool) {
        var best = (precedence: 0, quality: 0.0)
        for range in ranges {
            let precedence: Int
            switch (range.name, range.parameters["version"]) {
            case ("text/vcard", version.rawValue?): precedence = 4
            case ("text/vcard", nil): precedence = 3
            case ("text/*", nil): precedence = 2
            case ("*/*", nil): precedence = 1
            default: continue
            }
            let quality = range.parameters["q"].map { Double($0) ?? 0 } ?? 1
            if precedence > best.precedence { best = (precedence, quality.isFinite ? quality : 0) }
        }
        return (best.quality, best.precedence == 4)
    }
}
