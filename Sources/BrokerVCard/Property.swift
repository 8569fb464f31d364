/// The properties that contacts have a place for, or that say something about the card, by their names in upper case.
enum Property: UInt8, CaseIterable {
    case begin, end, version, prodID, rev, uid
    case label, country
    case formattedName, name, nickname
    case organization, title, note
    case birthday, otherBirthday, appleOtherBirthday
    case phone, email, address, url
    case instantMessage
    case aim, jabber, msn, yahoo, icq
    case skype, skypeUsername, googleTalk
    case gaduGadu, qq
    case appleSocialProfile, socialProfile
    case related, appleRelated
    case appleDate, anniversary, oldAnniversary
    case photo
    case phoneticFirstName, phoneticMiddleName
    case phoneticLastName, phoneticOrganization
    case maidenName
    case showAs, kind, appleKind
    case member, appleMember
    /// Any other: it is kept as it stands.
    case other

    /// As it is written.
    var name: String { Self.names[Int(rawValue)] }

    private static let names = [
        "BEGIN",
        "END",
        "VERSION",
        "PRODID",
        "REV",
        "UID",
        "X-ABLABEL",
        "X-ABADR",
        "FN",
        "N",
        "NICKNAME",
        "ORG",
        "TITLE",
        "NOTE",
        "BDAY",
        "ALTBDAY",
        "X-ALTBDAY",
        "TEL",
        "EMAIL",
        "ADR",
        "URL",
        "IMPP",
        "X-AIM",
        "X-JABBER",
        "X-MSN",
        "X-YAHOO",
        "X-ICQ",
        "X-SKYPE",
        "X-SKYPE-USERNAME",
        "X-GOOGLE-TALK",
        "X-GADUGADU",
        "X-QQ",
        "X-SOCIALPROFILE",
        "SOCIALPROFILE",
        "RELATED",
        "X-ABRELATEDNAMES",
        "X-ABDATE",
        "ANNIVERSARY",
        "X-ANNIVERSARY",
        "PHOTO",
        "X-PHONETIC-FIRST-NAME",
        "X-PHONETIC-MIDDLE-NAME",
        "X-PHONETIC-LAST-NAME",
        "X-PHONETIC-ORG",
        "X-MAIDENNAME",
        "X-ABSHOWAS",
        "KIND",
        "X-ADDRESSBOOKSERVER-KIND",
        "MEMBER",
        "X-ADDRESSBOOKSERVER-MEMBER",
        "",
    ]

    /// Which property the bytes name, in any case.
    static func named(_ bytes: ArraySlice<UInt8>) -> Property {
        var hash = seed
        for byte in bytes { hash = mixed(hash, ASCII.upper(byte)) }
        var slot = Int(hash) & 255
        while table.properties[slot] != .other {
            if table.hashes[slot] == hash, ASCII.equal(bytes, names[Int(table.properties[slot].rawValue)]) {
                return table.properties[slot]
            }
            slot = (slot + 1) & 255
        }
        return .other
    }

    private static let seed: UInt32 = 2_166_136_261
    private static func mixed(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 16_777_619 }

    /// An open table, four times as large as it must be: nearly every name is found, or not, in the first place.
    private static let table: (hashes: [UInt32], properties: [Property]) = {
        var hashes = [UInt32](repeating: 0, count: 256)
        var properties = [Property](repeating: .other, count: 256)
        for property in allCases where property != .other {
            let hash = property.name.utf8.reduce(seed, mixed)
            var slot = Int(hash) & 255
            while properties[slot] != .other { slot = (slot + 1) & 255 }
            hashes[slot] = hash
            properties[slot] = property
        }
        return (hashes, properties)
    }()
}
