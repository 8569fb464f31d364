import BrokerJSON
import BrokerModel

/// A contact as text that a person can edit. ``init(reading:keys:)`` parses the edited text.
///
///     Given name: Ada
///     Phone:
///       mobile: +44 20 7946 0000
///     Address:
///       home:
///         Street: |
///           12 St James's Square
///           London
///
/// If the text is unchanged, reading it gives the same values, byte for byte.
public struct ContactForm: Hashable, Sendable {
    public let contact: Contact
    /// The line of each key in the parsed text, counted from 1.
    public let lines: [ContactKey: Int]

    public struct Problem: Error, Hashable, Sendable {
        /// The line of the text, counted from 1.
        public let line: Int
        /// The reason begins in lower case and has no full stop.
        public let reason: String

        public init(line: Int, reason: String) {
            self.line = line
            self.reason = reason
        }
    }

    init(contact: Contact, lines: [ContactKey: Int]) {
        self.contact = contact
        self.lines = lines
    }

    /// The keys that the form contains. Images and extra properties are not among them.
    public static let keys = ContactKeySet(names.map(\.key))

    static let names: [(name: String, key: ContactKey)] = [
        ("Prefix", .namePrefix), ("Given name", .givenName), ("Middle name", .middleName),
        ("Family name", .familyName), ("Suffix", .nameSuffix), ("Nickname", .nickname),
        ("Born as", .previousFamilyName), ("Given name sounds like", .phoneticGivenName),
        ("Middle name sounds like", .phoneticMiddleName), ("Family name sounds like", .phoneticFamilyName),
        ("Type", .contactType), ("Organization", .organizationName),
        ("Organization sounds like", .phoneticOrganizationName), ("Department", .departmentName),
        ("Title", .jobTitle), ("Phone", .phoneNumbers), ("E-mail", .emailAddresses), ("Address", .postalAddresses),
        ("Web", .urlAddresses), ("Message", .instantMessageAddresses), ("Profile", .socialProfiles),
        ("Related", .contactRelations), ("Birthday", .birthday), ("Other birthday", .nonGregorianBirthday),
        ("Date", .dates), ("Note", .note),
    ]

    static let addressFields: [(name: String, field: String)] = [
        ("Street", "street"), ("Sublocality", "subLocality"), ("City", "city"),
        ("Subregion", "subAdministrativeArea"), ("State", "state"), ("Postal code", "postalCode"),
        ("Country", "country"), ("Country code", "isoCountryCode"),
    ]
    static let messageFields: [(name: String, field: String)] = [("Service", "service"), ("User", "username")]
    static let profileFields: [(name: String, field: String)] = [
        ("Service", "service"), ("User", "username"), ("User number", "userIdentifier"), ("Web", "urlString"),
    ]

    // MARK: Writing

    /// Returns the text to edit.
    ///
    /// - Parameter keys: the keys to include.
    public static func text(of contact: Contact, keys: ContactKeySet, heading: [String] = []) -> String {
        var lines = heading.map { "# " + $0 }
        for (name, key) in names where keys.contains(key) {
            switch key {
            case .contactType: lines.append("\(name): \(contact.contactType.rawValue)")
            case .phoneNumbers: write(name, contact.phoneNumbers, to: &lines)
            case .emailAddresses: write(name, contact.emailAddresses, to: &lines)
            case .urlAddresses: write(name, contact.urlAddresses, to: &lines)
            case .contactRelations: write(name, contact.contactRelations, to: &lines)
            case .dates: write(name, contact.dates, to: &lines)
            case .postalAddresses: write(name, contact.postalAddresses, addressFields, to: &lines)
            case .instantMessageAddresses: write(name, contact.instantMessageAddresses, messageFields, to: &lines)
            case .socialProfiles: write(name, contact.socialProfiles, profileFields, to: &lines)
            default: write(name, contact.text(of: key) ?? "", indent: 0, to: &lines)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func write(_ name: String, _ text: String, indent: Int, to lines: inout [String]) {
        let start = String(repeating: " ", count: indent) + name + ":"
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
        if text.isEmpty {
            lines.append(start)
        } else if parts.count > 1, parts.first?.utf8.first.map({ $0 != UInt8(ascii: " ") }) == true,
            parts.last?.isEmpty == false,
            !text.unicodeScalars.contains(where: isControl)
        {
            let inner = String(repeating: " ", count: indent + 2)
            lines.append(start + " |")
            lines += parts.map { $0.isEmpty ? "" : inner + $0 }
        } else {
            lines.append("\(start) \(isPlain(text) ? text : quoted(text))")
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\n" && scalar != "\t" && scalar.properties.generalCategory == .control
    }

    /// Whether a text can follow its colon unquoted.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else { return false }
        return first != "\"" && first != "|" && !first.properties.isWhitespace && !last.properties.isWhitespace
            && !text.unicodeScalars.contains { $0 == "\n" || isControl($0) }
    }

    static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.value(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns the text for a label before its colon. This is the label's word or, if the word needs quotes
    /// or would be parsed as a different label, the stored form in quotes.
    private static func written(_ label: String?) -> String {
        guard let label else { return "" }
        let word = LabelWord.word(label) ?? ""
        let isPlain =
            LabelWord.stored(word) == label && isPlain(word) && word.utf8.first != UInt8(ascii: "#")
            && !word.unicodeScalars.contains(":")
        return isPlain ? word : quoted(label)
    }

    private static func write<Value: ContactValue>(_ name: String, _ values: [Value], to lines: inout [String]) {
        lines.append(name + ":")
        for value in values {
            write(written(value.label), Value.fields.first?.get(value) ?? "", indent: 2, to: &lines)
        }
    }

    private static func write<Value: ContactValue>(
        _ name: String, _ values: [Value], _ fields: [(name: String, field: String)], to lines: inout [String]
    ) {
        lines.append(name + ":")
        for value in values {
            lines.append("  \(written(value.label)):")
            for (name, field) in fields {
                let text = Value.fields.first { $0.name == field }?.get(value) ?? ""
                write(name, text, indent: 4, to: &lines)
            }
        }
    }
}

extension ContactForm {
    /// The form's names for these keys.
    public static func fields(of keys: ContactKeySet) -> [String] {
        names.filter { keys.contains($0.key) }.map(\.name)
    }
}
