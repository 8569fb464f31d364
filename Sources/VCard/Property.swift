/// The properties that contacts have a place for, or that say something about the card, by their names in upper case.
enum Property: String, CaseIterable {
    case begin = "BEGIN", end = "END", version = "VERSION", prodID = "PRODID", rev = "REV", uid = "UID"
    case label = "X-ABLABEL", country = "X-ABADR"
    case formattedName = "FN", name = "N", nickname = "NICKNAME"
    case organization = "ORG", title = "TITLE", note = "NOTE"
    case birthday = "BDAY", otherBirthday = "ALTBDAY", appleOtherBirthday = "X-ALTBDAY"
    case phone = "TEL", email = "EMAIL", address = "ADR", url = "URL"
    case instantMessage = "IMPP"
    case aim = "X-AIM", jabber = "X-JABBER", msn = "X-MSN", yahoo = "X-YAHOO", icq = "X-ICQ"
    case skype = "X-SKYPE", skypeUsername = "X-SKYPE-USERNAME", googleTalk = "X-GOOGLE-TALK"
    case gaduGadu = "X-GADUGADU", qq = "X-QQ"
    case appleSocialProfile = "X-SOCIALPROFILE", socialProfile = "SOCIALPROFILE"
    case related = "RELATED", appleRelated = "X-ABRELATEDNAMES"
    case appleDate = "X-ABDATE", anniversary = "ANNIVERSARY", oldAnniversary = "X-ANNIVERSARY"
    case photo = "PHOTO"
    case phoneticFirstName = "X-PHONETIC-FIRST-NAME", phoneticMiddleName = "X-PHONETIC-MIDDLE-NAME"
    case phoneticLastName = "X-PHONETIC-LAST-NAME", phoneticOrganization = "X-PHONETIC-ORG"
    case maidenName = "X-MAIDENNAME"
    case showAs = "X-ABSHOWAS", kind = "KIND", appleKind = "X-ADDRESSBOOKSERVER-KIND"
    case member = "MEMBER", appleMember = "X-ADDRESSBOOKSERVER-MEMBER"
    /// Any other: it is kept as it stands.
    case other = ""

    /// Which property the bytes name, in any case.
    static func named(_ bytes: ArraySlice<UInt8>) -> Property {
        var hash = seed
        for byte in bytes { hash = mixed(hash, ASCII.upper(byte)) }
        var slot = Int(hash) & (slots.count - 1)
        while let entry = slots[slot] {
            if entry.name.count == bytes.count, zip(entry.name, bytes).allSatisfy({ $0 == ASCII.upper($1) }) {
                return entry.property
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return .other
    }

    private static let seed: UInt32 = 2_166_136_261
    private static func mixed(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 16_777_619 }

    /// An open table, four times as large as it must be: nearly every name is found, or not, in the first place.
    private static let slots: [(name: [UInt8], property: Property)?] = {
        var slots = [(name: [UInt8], property: Property)?](repeating: nil, count: 256)
        for property in allCases where property != .other {
            let name = Array(property.rawValue.utf8)
            var slot = Int(name.reduce(seed, mixed)) & (slots.count - 1)
            while slots[slot] != nil { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = (name, property)
        }
        return slots
    }()
}
