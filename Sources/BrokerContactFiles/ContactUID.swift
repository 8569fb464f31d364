import BrokerModel

/// The identifier of a card in programs that exchange vCards (RFC 6350 §6.7.6). A contact stores it as an
/// extra property.
public enum ContactUID {
    /// Returns a card's UID in its original spelling; `nil` if the card has none.
    public static func of(_ contact: Contact) -> String? { contact.extraProperties.lazy.compactMap(uid).first }

    /// Returns the extra properties that contain a card's UID. Other extra properties may describe the
    /// person.
    public static func only(of contact: Contact) -> [String] { contact.extraProperties.filter { uid(in: $0) != nil } }

    private static func uid(in line: String) -> String? {
        ExtraProperty.value(of: "UID", in: line).map(RowReading.cleaned).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the UID in the form for comparison. A UUID is in lower case and without `urn:uuid:`; any other
    /// UID is unchanged.
    public static func comparable(_ uid: String) -> String {
        let text = uid.lowercased()
        let bare = text.hasPrefix("urn:uuid:") ? String(text.dropFirst(9)) : text
        return isUUID(bare) ? bare : uid
    }

    /// Returns the UID in the form that a group uses to list its members (RFC 6350 §6.6.5). A UUID becomes a
    /// URI.
    public static func uri(_ uid: String) -> String {
        let bare = comparable(uid)
        return isUUID(bare) ? "urn:uuid:" + bare : uid
    }

    /// Makes a UID for a card without one, by writing the broker's stable identifier as a UUID. Returns `nil`
    /// if the identifier is not 32 hexadecimal digits.
    public static func made(from identifier: String) -> String? {
        let digits = Array(identifier.lowercased())
        guard digits.count == 32, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    /// Returns the names of the groups in CATEGORIES (RFC 6350 §6.7.1) and in Samsung's X-GROUP-MEMBERSHIP, except Google's
    /// own groups.
    public static func categories(of contact: Contact) -> [String] {
        var names: [String] = []
        for line in contact.extraProperties {
            let values = ["CATEGORIES", "X-GROUP-MEMBERSHIP"].lazy.compactMap { ExtraProperty.value(of: $0, in: line) }
            guard let value = values.first else { continue }
            var part = ""
            var isEscaped = false
            for character in value + "," {
                if isEscaped {
                    part.append(character == "n" || character == "N" ? " " : character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "," {
                    let name = RowReading.cleaned(part)
                    if !name.isEmpty, !GoogleTable.isSystemGroup(name), !names.contains(name) { names.append(name) }
                    part = ""
                } else {
                    part.append(character)
                }
            }
        }
        return names
    }

    static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}

extension Contact {
    /// The contact without UID.
    public var withoutUID: Contact {
        let uids = Set(ContactUID.only(of: self))
        guard !uids.isEmpty else { return self }
        var contact = self
        contact.extraProperties.removeAll(where: uids.contains)
        return contact
    }
}

/// File names in a vdir: one card per file, named after its UID (vdirsyncer.pimutils.org, The Vdir Storage Format).
public enum VdirName {
    public static let ending = ".vcf"

    /// Whether a file with this name has a card, also if another program named it.
    public static func isCard(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(ending) || name.hasSuffix(".vcard")
    }

    /// Returns the file name for a UID. It is always the same for one UID, valid on every file system, and neither hidden
    /// nor an option to a command that is given all names of the folder (`rm *`).
    public static func of(uid: String) -> String {
        let isPlain = uid.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_@.+".contains($0)) }
        guard isPlain, (1...200).contains(uid.utf8.count), !uid.hasPrefix("."), !uid.hasPrefix("-")
        else {
            return "uid-\(ContactDigest.hash(of: uid.utf8))\(ending)"
        }
        return uid + ending
    }

    /// Whether this can be the name of a card whose UID was made from its identifier (``ContactUID/made(from:)``).
    public static func isMade(_ name: String) -> Bool {
        name.hasSuffix(ending) && ContactUID.isUUID(String(name.dropLast(ending.utf8.count)))
    }
}
