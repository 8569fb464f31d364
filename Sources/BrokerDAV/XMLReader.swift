import CBrokerExpat
import Glibc

/// Parses one XML document from pieces of any size, with expat.
///
/// Each byte is scanned a bounded number of times. expat scans an incomplete tag or comment again with every piece
/// (CVE-2023-52425 in versions before 2.6), so the reader collects pieces to ``DAVBounds/piece`` bytes and refuses
/// what is incomplete after ``DAVBounds/token`` bytes. Long namespaces are refused where they are declared, because
/// expat reports, and hashes, the whole namespace with every name in it.
///
/// The reader stops at a document type declaration, so no entities exist except the five of XML, and expat's limit on
/// their amplification is not needed. It relies on expat for well-formedness, valid UTF-8, unique attributes, and a
/// random salt for its hash tables.
///
/// Not `Sendable`: one connection's event loop owns a reader.
public final class XMLReader {
    /// Separates a namespace from a local name in what expat reports. No namespace contains it: XML 1.0 §2.2 forbids
    /// form feed, even as a character reference.
    static let separator: UInt8 = 0x0C

    private let parser: OpaquePointer
    private let limits: XMLLimits
    private var builder: XMLDocumentBuilder
    private var failure: XMLError?
    private var received = 0
    /// Bytes that expat did not get yet.
    private var waiting: [UInt8] = []
    /// Bytes that expat got.
    private var parsed = 0

    public init(limits: XMLLimits = XMLLimits()) {
        // Naming the encoding keeps expat from the one that the document declares.
        guard let parser = XML_ParserCreateNS("UTF-8", XML_Char(Self.separator)) else {
            preconditionFailure("no memory for an XML parser")
        }
        self.parser = parser
        self.limits = limits
        builder = XMLDocumentBuilder(limits: limits)
        setHandlers()
    }

    deinit { XML_ParserFree(parser) }

    /// Parses a whole document; `nil` if there are no bytes.
    public static func document(
        _ bytes: [UInt8], limits: XMLLimits = XMLLimits()
    ) throws(XMLError) -> XMLDocument? {
        let reader = XMLReader(limits: limits)
        try reader.append(bytes.span.bytes)
        return try reader.finish()
    }

    /// The reader parses once it has ``DAVBounds/piece`` bytes, so an error can come later than the bytes that cause
    /// it.
    ///
    /// - Throws: an error about these or earlier bytes. The document is then refused; later calls throw the same error.
    public func append(_ bytes: RawSpan) throws(XMLError) {
        if let failure { throw failure }
        guard bytes.byteCount <= limits.bytes - received else { throw refuse(.bodyTooLarge) }
        received += bytes.byteCount
        var rest = bytes
        while !rest.isEmpty {
            let count = min(rest.byteCount, DAVBounds.piece - waiting.count)
            // Sound: the pointer does not leave the closure.
            unsafe rest.extracting(first: count).withUnsafeBytes { unsafe waiting.append(contentsOf: $0) }
            rest = rest.extracting(droppingFirst: count)
            if waiting.count == DAVBounds.piece { try parse(isFinal: false) }
        }
    }

    /// Ends the document. The reader is of no further use.
    ///
    /// - Returns: `nil` if the body is empty, which PROPFIND allows (RFC 4918 §9.1).
    public func finish() throws(XMLError) -> XMLDocument? {
        if let failure { throw failure }
        guard received > 0 else { return nil }
        try parse(isFinal: true)
        return builder.document()
    }

    private func parse(isFinal: Bool) throws(XMLError) {
        // expat detects UTF-16 by the first two bytes even if told otherwise. UTF-8 has none of these bytes there.
        if parsed == 0, waiting.prefix(2).contains(where: { $0 == 0 || $0 >= 0xFE }) {
            throw refuse(.unsupportedEncoding)
        }
        // Sound: expat does not keep the pointer after it returns, and the handlers do not use `waiting`.
        let status = waiting.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                XML_Parse(parser, text.baseAddress, Int32(text.count), isFinal ? 1 : 0)
            }
        }
        if let failure { throw failure }
        let position = Int(XML_GetCurrentByteIndex(parser))
        guard status == XML_STATUS_OK else { throw refuse(.malformed(offset: max(0, position))) }
        parsed += waiting.count
        waiting.removeAll(keepingCapacity: true)
        // A negative position means that expat has no incomplete token.
        guard isFinal || position < 0 || parsed - position <= DAVBounds.token else { throw refuse(.tokenTooLong) }
    }

    /// Records the first error. Every later call throws it.
    private func refuse(_ error: XMLError) -> XMLError {
        let first = failure ?? error
        failure = first
        return first
    }

    // MARK: Handlers

    private func setHandlers() {
        // Sound: expat passes the pointer only to handlers, and calls them only inside `XML_Parse`, which only a method
        // of this object calls. So the object is alive whenever a handler uses it, and expat needs no reference to it.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { reader, name, attributes in XMLReader.of(reader)?.begin(name, attributes) },
            { reader, _ in XMLReader.of(reader)?.end() })
        XML_SetCharacterDataHandler(parser) { reader, text, count in
            XMLReader.of(reader)?.characters(text, count)
        }
        XML_SetXmlDeclHandler(parser) { reader, _, encoding, _ in XMLReader.of(reader)?.declare(encoding) }
        XML_SetStartDoctypeDeclHandler(parser) { reader, _, _, _, _ in XMLReader.of(reader)?.stop(.doctype) }
        XML_SetStartNamespaceDeclHandler(parser) { reader, _, namespace in
            if XMLReader.bytes(namespace).count > DAVBounds.name { XMLReader.of(reader)?.stop(.nameTooLong) }
        }
    }

    /// Returns the reader of a handler; `nil` after an error, since expat may call handlers after it was stopped.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> XMLReader? {
        // Sound: the pointer is the object that `setHandlers` passed, which is alive (see there).
        guard let reader = pointer.map({ Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }) else {
            return nil
        }
        return reader.failure == nil ? reader : nil
    }

    /// Returns the bytes of a string of expat's. A name is cut one byte after its limit, so that a long one costs no
    /// more than its refusal.
    private static func bytes(
        _ text: UnsafePointer<XML_Char>?, atMost maximum: Int = DAVBounds.name + 1
    ) -> UnsafeRawBufferPointer {
        // Sound: expat's strings end with a NUL and are valid while the handler runs. Callers do not keep the result.
        UnsafeRawBufferPointer(start: text, count: text.map { strnlen($0, maximum) } ?? 0)
    }

    private func begin(
        _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        attempt { (builder) throws(XMLError) in
            try builder.begin(Self.bytes(name))
            guard var pair = attributes else { return }
            // Sound: the array consists of pairs of name and value, and one null pointer at its end.
            while pair[0] != nil {
                try builder.attribute(Self.bytes(pair[0]), Self.bytes(pair[1], atMost: .max))
                pair += 2
            }
        }
    }

    private func end() { builder.end() }

    private func characters(_ text: UnsafePointer<XML_Char>?, _ count: Int32) {
        // Sound: the text has `count` bytes and is valid while the handler runs. The builder copies it.
        let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(count))
        attempt { (builder) throws(XMLError) in try builder.characters(bytes) }
    }

    private func declare(_ encoding: UnsafePointer<XML_Char>?) {
        let name = String(decoding: Self.bytes(encoding), as: UTF8.self).lowercased()
        // US-ASCII is a part of UTF-8.
        if encoding != nil, name != "utf-8", name != "us-ascii" { stop(.unsupportedEncoding) }
    }

    private func attempt(_ body: (inout XMLDocumentBuilder) throws(XMLError) -> Void) {
        do throws(XMLError) {
            try body(&builder)
        } catch {
            stop(error)
        }
    }

    /// Makes `XML_Parse` return. `parse` then throws the error.
    private func stop(_ error: XMLError) {
        _ = refuse(error)
        XML_StopParser(parser, 0)
    }
}
