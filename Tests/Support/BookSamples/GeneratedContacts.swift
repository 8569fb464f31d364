import BrokerModel

/// Generates contacts with all properties and with the characters that have a meaning in vCard. The same number gives
/// the same contact.
public struct GeneratedContacts {
    private var state: UInt64

    /// Whether to avoid texts that other parsers misread: backslashes before separators, and several line breaks.
    private let isPlain: Bool

    public init(_ number: Int, isPlain: Bool = false) {
        self.isPlain = isPlain
        state = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    private mutating func random(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    private mutating func isSo(_ percent: Int) -> Bool { random(100) < percent }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[random(values.count)] }

    /// A text that is not empty and has no leading or trailing white space.
    private mutating func text(lines: Bool = true) -> String {
        var pieces = [
            "a", "B", "7", "Ærø", "林", "🎻", "\\", ",", ";", ":", "\"", "^", "^n", "=", "=20", "%41", "'", " ", "  ",
            "\t",
            ".", "-", "\\n", "item1.TEL", "END:VCARD", "é\u{301}", "<b>", "&", ", ", "x",
        ]
        if lines { pieces += ["\n", "\n\n"] }
        if isPlain {
            pieces =
                ["a", "B", "7", "Ærø", "林", "🎻", ",", ";", ":", " ", "\"", "'", "-", "\\", "x", "é"]
                + (lines ? ["\n"] : [])
        }
        var text = ""
        for _ in 0...random(isSo(5) ? 120 : 6) { text += pick(pieces) }
        let trimmed = text.drop { " \t\n".contains($0) }.reversed().drop { " \t\n".contains($0) }.reversed()
        return trimmed.isEmpty ? "z" : String(trimmed)
    }

    private mutating func sometimes(_ percent: Int = 40, lines: Bool = true) -> String {
        isSo(percent) ? text(lines: lines) : ""
    }

    private mutating func label() -> String? {
        switch random(4) {
        case 0: nil
        case 1: text()
        default:
            pick([
                "_$!<Home>!$_", "_$!<Work>!$_", "_$!<Other>!$_", "_$!<Mobile>!$_", "_$!<Main>!$_", "_$!<HomeFAX>!$_",
                "_$!<WorkFAX>!$_", "_$!<OtherFAX>!$_", "_$!<Pager>!$_", "iPhone", "_$!<School>!$_", "_$!<HomePage>!$_",
                "_$!<Anniversary>!$_", "_$!<Friend>!$_", "_$!<Spouse>!$_", "_$!<Mother>!$_", "home", "pref", "VOICE",
            ])
        }
    }

    private mutating func some<Value>(_ make: (inout GeneratedContacts) -> Value) -> [Value] {
        guard isSo(50) else { return [] }
        var values: [Value] = []
        for _ in 0..<random(4) { values.append(make(&self)) }
        return values
    }

    private mutating func labelled() -> LabeledString { LabeledString(label: label(), value: text()) }

    public mutating func contact() -> Contact {
        var contact = Contact()
        if isSo(20) { contact.contactType = .organization }
        contact.namePrefix = sometimes(10)
        contact.givenName = sometimes(70)
        contact.middleName = sometimes(20)
        contact.familyName = sometimes(70)
        contact.nameSuffix = sometimes(10)
        contact.previousFamilyName = sometimes(10)
        contact.nickname = isSo(50) ? sometimes() : pick(["", "Zee, Z", "a,b", ", a"])
        contact.phoneticGivenName = sometimes(15)
        contact.phoneticMiddleName = sometimes(10)
        contact.phoneticFamilyName = sometimes(15)
        contact.organizationName = sometimes()
        contact.departmentName = sometimes(20)
        contact.jobTitle = sometimes(20)
        contact.phoneticOrganizationName = sometimes(10)
        contact.birthday = pick(["", "", "1990-01-31", "--02-29", "2000-02-29", "0001-01-01"])
        contact.nonGregorianBirthday = pick([
            "", "", "", "chinese:--08-15", "hebrew:5784-13-02", "coptic:1604-01-01", "japanese:e236-0007-07-20",
            "chinese:e78-0042-06L-26", "chinese:--06L-26", "dangi:e78---06-26",
        ])
        contact.note = sometimes()
        contact.imageData = pick(["", "", "", "/9j/4AAQ", "iVBORw0KGgo=", "R0lGODlhAQABAA==", "UklGRgAAAABXRUJQ"])
        contact.phoneNumbers = some { $0.labelled() }
        contact.emailAddresses = some { $0.labelled() }
        contact.urlAddresses = some { $0.labelled() }
        contact.contactRelations = some { $0.labelled() }
        contact.dates = some {
            LabeledDate(label: $0.label(), value: $0.pick(["2011-06-04", "--06-04", "1999-12-31", "--02-29"]))
        }
        contact.postalAddresses = some { $0.address() }
        contact.socialProfiles = some { $0.profile() }
        var services: Set<String> = []
        contact.instantMessageAddresses = some { $0.messenger() }.filter {
            services.insert($0.service.lowercased()).inserted
        }
        contact.extraProperties = some { "X-\($0.pick(["A", "B", "C"])):\($0.text(lines: false))" }
        // A contact must not be empty.
        if contact.present.isEmpty { contact.givenName = "z" }
        return contact
    }

    private mutating func address() -> PostalAddress {
        var address = PostalAddress()
        address.label = label()
        address.street = sometimes(80)
        address.subLocality = sometimes(20)
        address.city = text()
        address.subAdministrativeArea = sometimes(20)
        address.state = sometimes()
        address.postalCode = sometimes()
        address.country = sometimes()
        address.isoCountryCode = pick(["", "no", "se", "us"])
        return address
    }

    private mutating func profile() -> SocialProfile {
        var profile = SocialProfile()
        profile.label = label()
        profile.service = pick(["", "twitter", "Mastodon", "pref", text(lines: false)])
        profile.username = sometimes(60)
        profile.userIdentifier = sometimes(20)
        profile.urlString = isSo(60) || profile.username.isEmpty ? "https://x.example/" + text() : ""
        return profile
    }

    private mutating func messenger() -> InstantMessageAddress {
        var address = InstantMessageAddress()
        address.label = label()
        address.service = pick([
            "", "AIM", "ICQ", "Jabber", "Skype", "matrix", "Facebook", "QQ", "SIP", text(lines: false),
        ])
        address.username = text()
        return address
    }
}
