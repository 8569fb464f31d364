import BrokerJSON

/// vCard content lines (RFC 6350 §3.3), as ``Contact/extraProperties`` has them.
public enum ExtraProperty {
    /// Returns the value of a content line; `nil` if its property has a different name, or if the line has no
    /// colon.
    public static func value(of name: String, in line: String) -> String? {
        let head = line.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        let property = head.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last ?? head
        guard String(decoding: property, as: UTF8.self).uppercased() == name else { return nil }
        var isQuoted = false
        for index in line.utf8.indices {
            switch line.utf8[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ":") where !isQuoted: return String(line[line.utf8.index(after: index)...])
            default: break
            }
        }
        return nil
    }
}

extension StoredContact {
    /// The card's UIDs (RFC 6350 §6.7.6): a contact with the lines of the extra properties that are UIDs, and nothing
    /// else; `nil` if there are none.
    public var uids: StoredContact? {
        guard let json = value(of: .extraProperties),
            let lines = try? JSONDocument(parsing: Array(json)).root.elements?.compactMap(\.string)
                .filter({ ExtraProperty.value(of: "UID", in: $0) != nil }), !lines.isEmpty
        else { return nil }
        var writer = JSONWriter()
        writer.array(lines) { $0.value($1) }
        return StoredContact(values: [(.extraProperties, writer.bytes)])
    }
}

extension ContactKeySet {
    /// Of the extra properties, only the UIDs. This is no property, and no grant names it: it goes with all ordinary keys.
    /// A read has it instead of ``ContactKey/extraProperties``, so that the other extra properties are not read.
    public static let uids = ContactKeySet(rawValue: 1 << 61)
}
