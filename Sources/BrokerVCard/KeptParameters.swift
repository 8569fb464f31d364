import BrokerModel

/// What a property says beside its value and its label, and contacts have no place for: parameters, and a group with
/// other members.
///
/// It is one of the contact's extra properties: a content line with the property's name and no value, since the value
/// stands elsewhere and is guarded there. Which of the contact's values it belongs to, ``check`` says; where the value
/// has changed, it belongs to none, and is not written any more. [The documentation](Documentation/VCard.md) has the rule.
struct KeptParameters: Hashable {
    static let checkName = "X-CONTACTBROKER-VALUE"
    static let restName = "X-CONTACTBROKER-REST"

    var property: Property
    /// In lower case.
    var group: String?
    /// 1 to 100; the first value of a property needs none.
    var preference: Int?
    var types: [String] = []
    var parameters: [Parameter] = []
    /// The end of a value that has more to it than contacts have: further components, or a time after a date.
    var rest = ""
    /// Tells the values of one contact apart, and whether one has changed, but is too short to find a value from.
    var check = ""

    init(_ property: Property) { self.property = property }

    var isEmpty: Bool { group == nil && preference == nil && types.isEmpty && parameters.isEmpty && rest.isEmpty }

    /// The check of each of a property's values: two bytes of an FNV-1a hash in hexadecimal; and, behind a dot, how many equal
    /// ones come before it.
    static func checks(of values: [[String]]) -> [String] {
        var seen: [String: Int] = [:]
        return values.map(hash).map { hash in
            let before = seen[hash, default: 0]
            seen[hash] = before + 1
            return before == 0 ? hash : "\(hash).\(before)"
        }
    }

    private static func hash(_ texts: [String]) -> String {
        var hash: UInt32 = 2_166_136_261
        for text in texts {
            for byte in text.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
            hash = (hash ^ 0xFF) &* 16_777_619
        }
        let digits = String((hash >> 16 ^ hash) & 0xFFFF, radix: 16)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }

    /// Reads ``text`` back; `nil` for any other line.
    init?(_ line: ContentLine) {
        guard line.isValueEmpty, line.property != .other, let check = line[Self.checkName] else { return nil }
        property = line.property
        group = line.group
        self.check = check
        rest = line[Self.restName] ?? ""
        preference = line["PREF"].flatMap { Int($0) }.flatMap { (1...100).contains($0) ? $0 : nil }
        types = line.types
        let own = ["PREF", "TYPE", Self.checkName, Self.restName]
        parameters = line.parameters.filter { !own.contains($0.name) }
    }

    /// As an extra property.
    var text: String {
        var text = (group.map { $0 + "." } ?? "") + property.rawValue + Parameter(Self.checkName, [check]).text
        if let preference { text += ";PREF=\(preference)" }
        if !types.isEmpty { text += Parameter("TYPE", types).text }
        for parameter in parameters { text += parameter.text }
        if !rest.isEmpty { text += Parameter(Self.restName, [rest]).text }
        return text + ":"
    }
}

extension Contact {
    /// The values of a property, each by all its texts.
    func texts(of property: Property) -> [[String]] {
        switch property {
        case .phone: phoneNumbers.map { [$0.value] }
        case .email: emailAddresses.map { [$0.value] }
        case .url: urlAddresses.map { [$0.value] }
        case .appleRelated: contactRelations.map { [$0.value] }
        case .appleDate: dates.map { [$0.value] }
        case .address: postalAddresses.map { value in PostalAddress.fields.map { $0.get(value) } }
        case .instantMessage: instantMessageAddresses.map { [$0.service, $0.username] }
        case .appleSocialProfile: socialProfiles.map { value in SocialProfile.fields.map { $0.get(value) } }
        case .name, .formattedName: [[familyName, givenName, middleName, namePrefix, nameSuffix, organizationName]]
        case .organization: [[organizationName, departmentName]]
        case .nickname: [[nickname]]
        case .title: [[jobTitle]]
        case .note: [[note]]
        case .birthday: [[birthday]]
        case .otherBirthday: [[nonGregorianBirthday]]
        case .photo: [[imageData]]
        case .phoneticFirstName: [[phoneticGivenName]]
        case .phoneticMiddleName: [[phoneticMiddleName]]
        case .phoneticLastName: [[phoneticFamilyName]]
        case .phoneticOrganization: [[phoneticOrganizationName]]
        case .maidenName: [[previousFamilyName]]
        default: []
        }
    }

    /// A name for a contact that has none written: its parts in the order of the West, or the first thing that names it
    /// (FN is mandatory: RFC 6350 §6.2.1).
    var derivedFormattedName: String {
        let parts = [namePrefix, givenName, middleName, familyName, nameSuffix].filter { !$0.isEmpty }
        if !parts.isEmpty { return parts.joined(separator: " ") }
        if !organizationName.isEmpty { return organizationName }
        if !nickname.isEmpty { return nickname }
        return emailAddresses.first?.value ?? phoneNumbers.first?.value ?? urlAddresses.first?.value
            ?? instantMessageAddresses.first?.username ?? ""
    }

    /// Whether N says anything.
    var hasNameParts: Bool {
        !(familyName.isEmpty && givenName.isEmpty && middleName.isEmpty && namePrefix.isEmpty && nameSuffix.isEmpty)
    }
}
