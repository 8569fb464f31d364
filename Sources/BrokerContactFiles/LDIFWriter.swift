import BrokerModel
import BrokerVCard

/// Writes contacts as entries in LDIF (RFC 2849), with the attributes that Thunderbird writes and ``LDIFReader``
/// reads.
///
/// Thunderbird has fewer fields than a contact. An attribute with several values has all of them, of which Thunderbird
/// takes one. Every entry has a UUID, so entries of two contacts that differ only in what LDIF has no attribute for are
/// read as two.
public struct LDIFWriter: Sendable {
    /// An entry in UTF-8 that ends with an empty line.
    public struct Entry: Hashable, Sendable {
        /// The distinguished name (RFC 4514), by which groups list the entry.
        public let name: String
        public let bytes: [UInt8]
        /// The keys with values that the entry does not have.
        public let leftOut: ContactKeySet
    }

    public init() {}

    /// - Parameters:
    ///   - uuid: the entry's UUID, if the contact's UID is none.
    ///   - taken: the names of other entries, as ``LDIFName/comparable(_:)`` returns them. The new name is none of them.
    public func entry(_ contact: Contact, uuid: String, besides taken: Set<String> = []) -> Entry {
        var output = LDIFOutput()
        var rest = contact
        let shown = Self.shownName(of: contact)
        let name = Self.name(shown, contact.emailAddresses.first?.value, uuid, besides: taken)
        output.line("dn", name)
        for each in ["top", "person", "organizationalPerson", "inetOrgPerson", "mozillaAbPersonAlpha"] {
            output.line("objectclass", each)
        }
        output.line("cn", shown)
        // The middle name is part of `cn`.
        rest.middleName = ""
        rest.contactType = .person
        for (attribute, key) in Self.texts {
            output.line(attribute, contact.text(of: key) ?? "")
            rest.setText("", of: key)
        }
        for (place, email) in contact.emailAddresses.enumerated() {
            output.line(place == 0 ? "mail" : "mozillaSecondEmail", email.value)
        }
        for phone in contact.phoneNumbers { output.line(Self.attribute(ofPhone: phone.label), phone.value) }
        for url in contact.urlAddresses {
            output.line(url.label == PredefinedLabel.work ? "mozillaWorkUrl" : "mozillaHomeUrl", url.value)
        }
        (rest.emailAddresses, rest.phoneNumbers, rest.urlAddresses) = ([], [], [])
        for account in contact.instantMessageAddresses where account.service == "AIM" {
            output.line("nsAIMid", account.username)
        }
        rest.instantMessageAddresses.removeAll { $0.service == "AIM" }
        rest.postalAddresses = write(contact.postalAddresses, to: &output)
        if let birthday = CalendarDate(contact.birthday) {
            output.line("birthyear", birthday.year == nil ? "" : String(contact.birthday.prefix(4)))
            output.line("birthmonth", String(birthday.month))
            output.line("birthday", String(birthday.day))
            rest.birthday = ""
        }
        if PhotoValue.isJPEG(contact.imageData.utf8) {
            output.encodedLine("jpegPhoto", contact.imageData)
            rest.imageData = ""
        }
        if let uid = ContactUID.of(contact).map(ContactUID.comparable), ContactUID.isUUID(uid) {
            output.line("entryUUID", uid)
            rest.extraProperties.removeAll(where: ContactUID.only(of: contact).contains)
        } else {
            output.line("entryUUID", uuid)
        }
        output.end()
        return Entry(name: name, bytes: output.bytes, leftOut: rest.present.subtracting(.ofBroker))
    }

    /// Returns the distinguished name of a group.
    ///
    /// - Parameters:
    ///   - uuid: makes the name of the group another than those of all other entries.
    ///   - taken: as in ``entry(_:uuid:besides:)``.
    public func groupName(_ group: String, uuid: String, besides taken: Set<String>) -> String {
        Self.name(group, nil, uuid, besides: taken)
    }

    /// Returns a group as an entry, which lists its members by their names.
    ///
    /// - Parameter name: from ``groupName(_:uuid:besides:)``.
    public func group(named group: String, _ name: String, members: [String]) -> Entry {
        var output = LDIFOutput()
        output.line("dn", name)
        for each in ["top", "groupOfNames"] { output.line("objectclass", each) }
        output.line("cn", group)
        for member in members { output.line("member", member) }
        output.end()
        return Entry(name: name, bytes: output.bytes, leftOut: [])
    }

    private static let texts: [(attribute: String, key: ContactKey)] = [
        ("personalTitle", .namePrefix), ("givenName", .givenName), ("sn", .familyName),
        ("generationQualifier", .nameSuffix), ("mozillaNickname", .nickname), ("title", .jobTitle),
        ("ou", .departmentName), ("o", .organizationName), ("description", .note),
    ]

    private static func attribute(ofPhone label: String?) -> String {
        switch label {
        case PredefinedLabel.home: "homePhone"
        case PredefinedLabel.mobile, PredefinedLabel.iPhone: "mobile"
        case PredefinedLabel.homeFax, PredefinedLabel.workFax, PredefinedLabel.otherFax: "facsimiletelephonenumber"
        case PredefinedLabel.pager: "pager"
        default: "telephoneNumber"
        }
    }

    /// Writes one home address and one other address.
    ///
    /// - Returns: the addresses for which there is no place.
    private func write(_ addresses: [PostalAddress], to output: inout LDIFOutput) -> [PostalAddress] {
        let places = [
            [
                "mozillaHomeStreet", "mozillaHomeStreet2", "mozillaHomeLocalityName", "mozillaHomeState",
                "mozillaHomePostalCode", "mozillaHomeCountryName",
            ], ["street", "mozillaWorkStreet2", "l", "st", "postalCode", "c"],
        ]
        var free = places
        var rest: [PostalAddress] = []
        for address in addresses {
            let attributes = address.label == PredefinedLabel.home ? places[0] : places[1]
            guard let place = free.firstIndex(of: attributes) else {
                rest.append(address)
                continue
            }
            free.remove(at: place)
            var lines = address.street.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            // A reader trims both parts.
            if lines.contains(where: { $0.isEmpty || $0.trimmed != $0 }) { lines = [address.street[...]] }
            let country = address.country.isEmpty ? address.isoCountryCode.uppercased() : address.country
            let city = [address.subLocality, address.city].filter { !$0.isEmpty }.joined(separator: ", ")
            let state = [address.subAdministrativeArea, address.state].filter { !$0.isEmpty }.joined(separator: ", ")
            let street = (lines + ["", ""]).map(String.init)
            let texts = [street[0], street[1], city, state, address.postalCode, country]
            for (attribute, text) in zip(attributes, texts) { output.line(attribute, text) }
        }
        return rest
    }

    /// The name in Western order; without one, that of the organisation or the first address.
    private static func shownName(of contact: Contact) -> String {
        let names = [
            contact.namePrefix, contact.givenName, contact.middleName, contact.familyName, contact.nameSuffix,
        ].filter { !$0.isEmpty }.joined(separator: " ")
        let others = [contact.organizationName, contact.nickname, contact.emailAddresses.first?.value ?? ""]
        return names.isEmpty ? others.first { !$0.isEmpty } ?? "" : names
    }

    /// The distinguished name that Thunderbird writes, with the escapes of RFC 4514 §2.4, and with the UUID if another entry
    /// has that name.
    private static func name(_ shown: String, _ email: String?, _ uuid: String, besides taken: Set<String>) -> String {
        let parts = [("cn", shown), ("mail", email ?? "")].filter { !$0.1.isEmpty }
        var escaped = parts.map { attribute, value in
            let text = value.map { "\\,+\"<>;=#".contains($0) ? "\\\($0)" : $0.isNewline ? " " : String($0) }.joined()
            return "\(attribute)=\(text)"
        }
        if escaped.isEmpty { escaped = ["cn=?"] }
        if taken.contains(LDIFName.comparable(escaped.joined(separator: ","))) { escaped[0] += "+entryUUID=\(uuid)" }
        return escaped.joined(separator: ",")
    }
}

/// The lines of an LDIF entry.
private struct LDIFOutput {
    private(set) var bytes: [UInt8] = []

    /// Writes a value; nothing if it is empty.
    mutating func line(_ attribute: String, _ value: String) {
        guard let first = value.utf8.first, let last = value.utf8.last else { return }
        let isSafe =
            value.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && last != 0x20
            && ![0x20, UInt8(ascii: ":"), UInt8(ascii: "<")].contains(first)
        guard isSafe else { return encodedLine(attribute, Base64Text.encode(Array(value.utf8))) }
        fold(Array("\(attribute): \(value)".utf8))
    }

    /// - Parameter value: in base64.
    mutating func encodedLine(_ attribute: String, _ value: String) { fold(Array("\(attribute):: \(value)".utf8)) }

    mutating func end() { bytes.append(0x0A) }

    /// Writes a line of at most 76 characters and, after a space each, its continuations (RFC 2849, note 10).
    private mutating func fold(_ line: [UInt8]) {
        var rest = line[...]
        bytes += rest.prefix(76)
        rest = rest.dropFirst(76)
        while !rest.isEmpty {
            bytes += [0x0A, 0x20]
            bytes += rest.prefix(75)
            rest = rest.dropFirst(75)
        }
        bytes.append(0x0A)
    }
}
