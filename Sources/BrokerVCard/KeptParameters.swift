import BrokerFormatting
import BrokerModel

/// The parts of a property for which a contact has no field: parameters, group, and the remainder of the
/// value.
///
/// They are stored as an extra property: a content line with the property's name and no value, because the
/// value is stored and access-checked elsewhere. ``check`` identifies the contact's value to which they
/// belong. If that value has changed, these parts are not written. [The
/// documentation](Documentation/VCard.md) explains the rule.
struct KeptParameters: Hashable {
    static let checkName = "X-CONTACTBROKER-VALUE"
    static let restName = "X-CONTACTBROKER-REST"

    var property: Property
    /// The group's name in lower case.
    var group: String?
    /// The preference, from 1 to 100. The first value of a property needs none.
    var preference: Int?
    var types: [String] = []
    var parameters: [Parameter] = []
    /// The part of a value for which contacts have no field: further components, or a time after a date.
    var rest = ""
    /// How to divide a value that contacts store as one text.
    var breaks = ListBreaks()
    /// Distinguishes the values of one contact and detects a changed value. It is too short to recover the
    /// value.
    var check = ""

    init(_ property: Property) { self.property = property }

    var isEmpty: Bool {
        group == nil && preference == nil && types.isEmpty && parameters.isEmpty && rest.isEmpty && breaks.isEmpty
    }

    /// The names of our own parameters, which a foreign property cannot have.
    static let ownNames = [checkName, restName, ListBreaks.name]

    /// Returns the check of each value: a 16-bit folded FNV-1a hash in hexadecimal. A repeated hash gets a
    /// suffix: a dot and the number of its earlier occurrences.
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

    /// Parses ``text``; `nil` for any other line.
    init?(_ line: ContentLine) {
        guard line.isValueEmpty, line.property != .other, let check = line[Self.checkName] else { return nil }
        property = line.property
        group = line.group
        self.check = check
        rest = line[Self.restName] ?? ""
        preference = line["PREF"].flatMap { Int($0) }.flatMap { (1...100).contains($0) ? $0 : nil }
        types = line.types
        breaks = ListBreaks(line.parameters.first { $0.name == ListBreaks.name }?.values ?? [])
        let own = ["PREF", "TYPE"] + Self.ownNames
        parameters = line.parameters.filter { !own.contains($0.name) }
    }

    /// The content line to store as an extra property.
    var text: String {
        var text = (group.map { $0 + "." } ?? "") + property.rawValue + Parameter(Self.checkName, [check]).text
        if let preference { text += ";PREF=\(preference)" }
        if !types.isEmpty { text += Parameter("TYPE", types).text }
        for parameter in parameters { text += parameter.text }
        if let parameter = breaks.parameter { text += parameter.text }
        if !rest.isEmpty { text += Parameter(Self.restName, [rest]).text }
        return text + ":"
    }
}

extension Contact {
    /// The values of a property, each as the list of its texts.
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
        case .formattedName where hasNameParts && contactType == .person:
            [[familyName, givenName, middleName, namePrefix, nameSuffix]]
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

    /// A formatted name (FN is mandatory: RFC 6350 §6.2.1): the name that the person sees, in the order of its script, or
    /// else the first value that identifies the contact.
    var derivedFormattedName: String {
        if let name = ContactNameFormatter().string(from: self), hasNameParts || contactType == .organization {
            return name
        }
        if !organizationName.isEmpty { return organizationName }
        if !nickname.isEmpty { return nickname }
        return emailAddresses.first?.value ?? phoneNumbers.first?.value ?? urlAddresses.first?.value
            ?? instantMessageAddresses.first?.username ?? ""
    }

    /// Whether a formatted name has the words of the derived one.
    func isNamedLike(_ name: String) -> Bool {
        func words(_ text: String) -> [Substring] { text.lowercased().split { !$0.isLetter && !$0.isNumber } }
        let derived = derivedFormattedName
        return name == derived || !words(name).isEmpty && words(name) == words(derived)
    }

    /// Whether any component of N is set.
    var hasNameParts: Bool {
        !(familyName.isEmpty && givenName.isEmpty && middleName.isEmpty && namePrefix.isEmpty && nameSuffix.isEmpty)
    }
}
