import BrokerModel

/// The name by which programs that exchange vCards know a card (RFC 6350 §6.7.6). Contacts keep it as a content line.
public enum ContactUID {
    /// The card's UID as it stands; `nil` where it has none.
    public static func of(_ contact: Contact) -> String? {
        for line in contact.extraProperties {
            guard let value = value(of: "UID", in: line) else { continue }
            let uid = RowReading.cleaned(value)
            if !uid.isEmpty { return uid }
        }
        return nil
    }

    /// The UID in the form in which two are compared: `urn:uuid:` and letter case of a UUID say nothing.
    public static func comparable(_ uid: String) -> String {
        let text = uid.lowercased()
        let bare = text.hasPrefix("urn:uuid:") ? String(text.dropFirst(9)) : text
        return isUUID(bare) ? bare : uid
    }

    /// The UID as groups name their members by it (RFC 6350 §6.6.5): a UUID as a URI.
    public static func uri(_ uid: String) -> String {
        let bare = comparable(uid)
        return isUUID(bare) ? "urn:uuid:" + bare : uid
    }

    /// What stands for the UID of a card without one: the broker's identifier of it, which stays the same, in the form of a
    /// UUID; `nil` where the identifier has another form.
    public static func made(from identifier: String) -> String? {
        let digits = Array(identifier.lowercased())
        guard digits.count == 32, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    /// The groups that CATEGORIES names (RFC 6350 §6.7.1), but for the one in which Google puts everybody.
    public static func categories(of contact: Contact) -> [String] {
        var names: [String] = []
        for line in contact.extraProperties {
            guard let value = value(of: "CATEGORIES", in: line) else { continue }
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
                    if !name.isEmpty, name.lowercased() != "mycontacts", !names.contains(name) { names.append(name) }
                    part = ""
                } else {
                    part.append(character)
                }
            }
        }
        return names
    }

    /// The value of a content line of this name.
    private static func value(of name: String, in line: String) -> String? {
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

    private static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}

/// Names of the files in a vdir: one card each, named for its UID (vdirsyncer.pimutils.org, The Vdir Storage Format).
public enum VdirName {
    public static let ending = ".vcf"

    /// The same for the same UID, and fit for every file system.
    public static func of(uid: String) -> String {
        let isPlain = uid.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_@.+".contains($0)) }
        guard isPlain, (1...200).contains(uid.utf8.count), !uid.hasPrefix(".") else {
            return "uid-\(ContactDigest.hash(of: uid.utf8))\(ending)"
        }
        return uid + ending
    }
}
