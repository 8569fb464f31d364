/// Writes the body of a 207 response (RFC 4918 §13), one resource at a time.
///
/// Take the bytes with ``takeBytes()`` while writing, so that the size of a book does not decide how much memory its
/// response needs. ``begin()`` comes first, ``end(syncToken:)`` last.
public struct MultistatusWriter: Sendable {
    /// Whether properties that a resource does not have are left out, as `Prefer: return=minimal` asks (RFC 8144 §2.1).
    public let omitsMissing: Bool
    private var xml = XMLWriter()

    public init(omittingMissing: Bool = false) { omitsMissing = omittingMissing }

    /// The status of one resource in a multistatus.
    public enum Status: String, Hashable, Sendable {
        case forbidden = "403 Forbidden"
        /// Also for a resource that is gone (RFC 6578 §3.5).
        case notFound = "404 Not Found"
        /// For the collection itself if a limit cut the response (RFC 6578 §3.6, RFC 6352 §8.6.2).
        case insufficientStorage = "507 Insufficient Storage"
    }

    /// The number of bytes that were not taken yet.
    public var byteCount: Int { xml.bytes.count }

    /// Returns the bytes that were written since the last call.
    public mutating func takeBytes() -> [UInt8] { xml.take() }

    public mutating func begin() {
        xml.declaration()
        xml.beginRoot(.multistatus)
    }

    /// Writes a resource's properties.
    ///
    /// The properties that it has come first: Thunderbird ignores a resource whose first status is not exactly
    /// `HTTP/1.1 200 OK`. The others follow with 404.
    ///
    /// - Parameters:
    ///   - href: the canonical spelling. In a multiget, the client's own spelling, which the client compares with its
    ///     request.
    ///   - unasked: the properties that `allprop` returns and `propname` names, without `address-data`.
    ///   - value: returns a property's value; `nil` if the resource does not have the property. Called once for each
    ///     property in the selection.
    public mutating func response(
        _ href: String, _ selection: PropertySelection, unasked: [XMLName],
        value: (XMLName) -> PropertyValue?
    ) {
        xml.begin(.response)
        xml.element(.href, href)
        var missing: [XMLName] = []
        var hasFound = false
        let names: [XMLName]
        switch selection {
        case .all(let more): names = unasked + more.filter { !unasked.contains($0) }
        case .names: names = unasked
        case .named(let asked): names = asked
        }
        for name in names {
            guard let value = value(name) else {
                missing.append(name)
                continue
            }
            if !hasFound { beginPropStat() }
            hasFound = true
            if selection == .names { xml.empty(name) } else { xml.property(name, value) }
        }
        let writesMissing = !omitsMissing && selection != .names && !missing.isEmpty
        // A response must have a status (RFC 4918 §14.24), even if nothing is found and nothing may be missing.
        if !hasFound, !writesMissing { beginPropStat() }
        if hasFound || !writesMissing { endPropStat("200 OK") }
        if writesMissing {
            beginPropStat()
            for name in missing { xml.empty(name) }
            endPropStat(Status.notFound.rawValue)
        }
        xml.end(.response)
    }

    /// Writes a status for a whole resource, and why.
    public mutating func response(_ href: String, _ status: Status, because precondition: Precondition? = nil) {
        xml.element(.response) { xml in
            xml.element(.href, href)
            xml.element(.status, "HTTP/1.1 \(status.rawValue)")
            if let precondition { xml.element(.error) { $0.precondition(precondition) } }
        }
    }

    /// Writes the response to PROPPATCH: no property is changed (RFC 4918 §9.2.1).
    public mutating func response(_ href: String, refusing patch: PropertyPatch) {
        xml.begin(.response)
        xml.element(.href, href)
        beginPropStat()
        for name in patch.names { xml.empty(name) }
        endPropStat(Status.forbidden.rawValue, because: .unprotectedProperty)
        xml.end(.response)
    }

    /// - Parameter syncToken: of the response to `sync-collection` (RFC 6578 §3.2).
    public mutating func end(syncToken: String? = nil) {
        if let syncToken { xml.element(.syncToken, syncToken) }
        xml.end(.multistatus)
    }

    private mutating func beginPropStat() {
        xml.begin(.propStat)
        xml.begin(.prop)
    }

    private mutating func endPropStat(_ status: String, because precondition: Precondition? = nil) {
        xml.end(.prop)
        xml.element(.status, "HTTP/1.1 \(status)")
        if let precondition { xml.element(.error) { $0.precondition(precondition) } }
        xml.end(.propStat)
    }
}
