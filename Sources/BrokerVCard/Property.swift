/// The properties that this module interprets, by their names in upper case.
///
/// The case order is the order in which kept parameters are stored among a contact's extra properties.
enum Property: String, CaseIterable {
    case begin = "BEGIN"
    case end = "END"
    case version = "VERSION"
    case prodID = "PRODID"
    case rev = "REV"
    case uid = "UID"
    case label = "X-ABLABEL"
    case country = "X-ABADR"
    case formattedName = "FN"
    case name = "N"
    case nickname = "NICKNAME"
    case organization = "ORG"
    case title = "TITLE"
    case note = "NOTE"
    case birthday = "BDAY"
    case otherBirthday = "ALTBDAY"
    case appleOtherBirthday = "X-ALTBDAY"
    case phone = "TEL"
    case email = "EMAIL"
    case address = "ADR"
    case deliveryLabel = "LABEL"
    case freeDeliveryLabel = "X-CONTACTBROKER-LABEL"
    case url = "URL"
    case instantMessage = "IMPP"
    case aim = "X-AIM"
    case jabber = "X-JABBER"
    case msn = "X-MSN"
    case yahoo = "X-YAHOO"
    case icq = "X-ICQ"
    case skype = "X-SKYPE"
    case skypeUsername = "X-SKYPE-USERNAME"
    case googleTalk = "X-GOOGLE-TALK"
    case gaduGadu = "X-GADUGADU"
    case qq = "X-QQ"
    case appleSocialProfile = "X-SOCIALPROFILE"
    case socialProfile = "SOCIALPROFILE"
    case related = "RELATED"
    case appleRelated = "X-ABRELATEDNAMES"
    case appleDate = "X-ABDATE"
    case anniversary = "ANNIVERSARY"
    case oldAnniversary = "X-ANNIVERSARY"
    case androidCustom = "X-ANDROID-CUSTOM"
    case evolutionSpouse = "X-EVOLUTION-SPOUSE"
    case evolutionManager = "X-EVOLUTION-MANAGER"
    case evolutionAssistant = "X-EVOLUTION-ASSISTANT"
    case evolutionAnniversary = "X-EVOLUTION-ANNIVERSARY"
    case kdeSpouse = "X-KADDRESSBOOK-X-SPOUSESNAME"
    case kdeManager = "X-KADDRESSBOOK-X-MANAGERSNAME"
    case kdeAssistant = "X-KADDRESSBOOK-X-ASSISTANTSNAME"
    case kdeAnniversary = "X-KADDRESSBOOK-X-ANNIVERSARY"
    /// KDE's messengers. The name continues with the messenger: `X-messaging/xmpp-All`.
    case messenger = "X-MESSAGING/"
    case photo = "PHOTO"
    case phoneticFirstName = "X-PHONETIC-FIRST-NAME"
    case phoneticMiddleName = "X-PHONETIC-MIDDLE-NAME"
    case phoneticLastName = "X-PHONETIC-LAST-NAME"
    case phoneticOrganization = "X-PHONETIC-ORG"
    case maidenName = "X-MAIDENNAME"
    case showAs = "X-ABSHOWAS"
    case kind = "KIND"
    case appleKind = "X-ADDRESSBOOKSERVER-KIND"
    case member = "MEMBER"
    case appleMember = "X-ADDRESSBOOKSERVER-MEMBER"
    /// Any other property. It is kept unchanged.
    case other = ""

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Returns the property with this name, ignoring case; ``other`` if there is none.
    static func named(_ bytes: ArraySlice<UInt8>) -> Property {
        let name = ASCII.uppercased(String(decoding: bytes, as: UTF8.self))
        return byName[name] ?? (name.hasPrefix(messenger.rawValue) ? .messenger : .other)
    }

    /// Whether these bytes can be a property's name. Only the names of KDE's messengers have a slash.
    static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        let prefix = messenger.rawValue.utf8.count
        let rest = ASCII.equal(bytes.prefix(prefix), messenger.rawValue) ? bytes.dropFirst(prefix) : bytes
        return !rest.isEmpty && rest.allSatisfy(ContentLine.isNameByte)
    }
}
