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
    case outlookSpouse = "X-MS-SPOUSE"
    case outlookManager = "X-MS-MANAGER"
    case outlookAssistant = "X-MS-ASSISTANT"
    case outlookAnniversary = "X-MS-ANNIVERSARY"
    case outlookMessenger = "X-MS-IMADDRESS"
    case outlookPhone = "X-MS-TEL"
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
    /// A property that the card may have only once, or that another value would get. The name continues with the
    /// property's own: `X-CONTACTBROKER-BDAY`.
    case renamed = "X-CONTACTBROKER-"
    /// Any other property. It is kept unchanged.
    case other = ""

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Returns the property with this name, ignoring case; ``other`` if there is none.
    static func named(_ bytes: ArraySlice<UInt8>) -> Property {
        let name = ASCII.uppercased(String(decoding: bytes, as: UTF8.self))
        if let property = byName[name] { return property }
        if name.hasPrefix(messenger.rawValue) { return .messenger }
        let isRenamed = name.hasPrefix(renamed.rawValue) && renamable.contains(unrenamed(name))
        return isRenamed ? .renamed : .other
    }

    /// Whether a standard defines the property, or this module interprets it.
    static func isStandard(_ line: ContentLine) -> Bool {
        line.property != .other || others.contains(line.nameText)
    }

    /// The properties of RFC 2426, RFC 6350 and RFC 6715 that this module keeps as they are.
    private static let others: Set<String> = [
        "AGENT", "CALADRURI", "CALURI", "CATEGORIES", "CLASS", "CLIENTPIDMAP", "EXPERTISE", "FBURL", "GENDER", "GEO",
        "HOBBY", "INTEREST", "KEY", "LANG", "LOGO", "MAILER", "NAME", "ORG-DIRECTORY", "ROLE", "SORT-STRING", "SOUND",
        "SOURCE", "TZ", "XML",
    ]

    /// The properties that a card of vCard 4.0 has at most once (RFC 6350 §6, cardinality *1), as far as they can be
    /// extra properties.
    static let single: Set<String> = ["ANNIVERSARY", "BDAY", "GENDER", "KIND", "N", "UID"]
    /// The properties that the writer renames where a reader would take them for something else.
    private static let renamable = single.union([DeliveryLabel.name])
    /// The property's name in cards where it is renamed.
    static func renamed(_ name: String) -> String { renamed.rawValue + name }
    /// The name that a renamed property has otherwise.
    static func unrenamed(_ name: String) -> String { String(name.dropFirst(renamed.rawValue.utf8.count)) }

    /// Whether the property is read after the others: it is renamed, or another program's.
    var isLast: Bool { self == .renamed || isOfProgram }

    /// Whether another program stores in it what a standard property or Apple's can express, and often does too.
    var isOfProgram: Bool {
        switch self {
        case .oldAnniversary, .androidCustom, .outlookSpouse, .outlookManager, .outlookAssistant, .outlookAnniversary,
            .outlookMessenger, .outlookPhone, .evolutionSpouse, .evolutionManager, .evolutionAssistant,
            .evolutionAnniversary, .kdeSpouse, .kdeManager, .kdeAssistant, .kdeAnniversary, .messenger:
            true
        default: false
        }
    }

    /// Whether these bytes can be a property's name. Only the names of KDE's messengers have a slash.
    static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        let prefix = messenger.rawValue.utf8.count
        let rest = ASCII.equal(bytes.prefix(prefix), messenger.rawValue) ? bytes.dropFirst(prefix) : bytes
        return !rest.isEmpty && rest.allSatisfy(ContentLine.isNameByte)
    }
}
