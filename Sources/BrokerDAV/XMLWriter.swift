/// Writes XML 1.0 in UTF-8. What it writes is well-formed for every text, because it escapes or drops characters that
/// would not be.
///
/// The three namespaces of CardDAV have fixed prefixes, which `root` declares. Other names declare their own.
struct XMLWriter {
    private(set) var bytes: [UInt8] = []

    mutating func declaration() { raw("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n") }

    mutating func beginRoot(_ name: XMLName) {
        raw("<\(Self.tag(name)) xmlns:D=\"\(XMLName.webDAV)\" xmlns:C=\"\(XMLName.cardDAV)\"")
        raw(" xmlns:CS=\"\(XMLName.calendarServer)\">")
    }

    mutating func root(_ name: XMLName, _ content: (inout XMLWriter) -> Void) {
        beginRoot(name)
        content(&self)
        end(name)
    }

    mutating func begin(_ name: XMLName) { raw("<\(Self.opening(name))>") }
    mutating func end(_ name: XMLName) { raw("</\(Self.tag(name))>") }
    mutating func empty(_ name: XMLName) { raw("<\(Self.opening(name))/>") }

    mutating func element(_ name: XMLName, _ content: (inout XMLWriter) -> Void) {
        begin(name)
        content(&self)
        end(name)
    }

    mutating func element(_ name: XMLName, _ text: String) { element(name) { $0.text(text) } }

    /// Writes an element with the attributes of `address-data-type` (RFC 6352 §6.2.2).
    mutating func addressDataType(_ version: CardVersion) {
        raw("<\(Self.tag(.card("address-data-type"))) content-type=\"text/vcard\" version=\"\(version.rawValue)\"/>")
    }

    mutating func text(_ text: String) { escape(Array(text.utf8)) }

    /// Writes text that should be UTF-8. What is not becomes U+FFFD.
    mutating func text(_ utf8: [UInt8]) {
        guard (try? UTF8Span(validating: utf8.span)) != nil else { return text(String(decoding: utf8, as: UTF8.self)) }
        escape(utf8)
    }

    /// Returns what was written since the last call.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func escape(_ text: [UInt8]) {
        var start = 0
        for place in text.indices {
            let reference: String
            switch text[place] {
            case UInt8(ascii: "&"): reference = "&amp;"
            case UInt8(ascii: "<"): reference = "&lt;"
            // `]]>` is not allowed in text (XML 1.0 §2.4).
            case UInt8(ascii: ">"): reference = "&gt;"
            case UInt8(ascii: "\""): reference = "&quot;"
            case UInt8(ascii: "'"): reference = "&apos;"
            // A parser turns CR LF into LF (XML 1.0 §2.11), but cards have CR LF.
            case 0x0D: reference = "&#13;"
            case 0x09, 0x0A: continue
            case 0..<0x20: reference = ""
            // U+FFFE and U+FFFF are EF BF BE and EF BF BF. XML 1.0 §2.2 forbids them and most control characters.
            case 0xEF where place + 2 < text.count && text[place + 1] == 0xBF && text[place + 2] >= 0xBE:
                bytes.append(contentsOf: text[start..<place])
                start = place + 3
                continue
            default: continue
            }
            bytes.append(contentsOf: text[start..<place])
            raw(reference)
            start = place + 1
        }
        bytes.append(contentsOf: text[start...])
    }

    private static func tag(_ name: XMLName) -> String {
        switch name.namespace {
        case XMLName.webDAV: "D:\(name.local)"
        case XMLName.cardDAV: "C:\(name.local)"
        case XMLName.calendarServer: "CS:\(name.local)"
        // The prefix `xml` is the only one that may have its namespace (Namespaces in XML 1.0 §3).
        case "http://www.w3.org/XML/1998/namespace": "xml:\(name.local)"
        case "": name.local
        default: "X:\(name.local)"
        }
    }

    /// Returns the content of an opening tag: the name, and the declaration of its namespace if `root` has none.
    private static func opening(_ name: XMLName) -> String {
        let tag = tag(name)
        guard tag.hasPrefix("X:") else { return tag }
        // A parser makes spaces of these characters in an attribute unless they are references (XML 1.0 §3.3.3).
        let namespace = name.namespace.unicodeScalars.map { scalar in
            switch scalar {
            case "&", "<", "\"", "\t", "\n", "\r": "&#\(scalar.value);"
            default: String(scalar)
            }
        }
        return "\(tag) xmlns:X=\"\(namespace.joined())\""
    }
}
