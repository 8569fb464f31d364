/// Apple's predefined labels, in stored form. Any other text is a custom label.
public enum PredefinedLabel {
    public static let home = "_$!<Home>!$_"
    public static let work = "_$!<Work>!$_"
    public static let school = "_$!<School>!$_"
    public static let other = "_$!<Other>!$_"
    public static let iCloud = "iCloud"
    public static let homePage = "_$!<HomePage>!$_"
    public static let anniversary = "_$!<Anniversary>!$_"
    public static let iPhone = "iPhone"
    /// A label of this project, because Apple's stored form is unknown. ``name(of:)`` also recognises the
    /// plain name, such as `Apple Watch`.
    public static let appleWatch = "_$!<AppleWatch>!$_"
    public static let mobile = "_$!<Mobile>!$_"
    public static let main = "_$!<Main>!$_"
    public static let homeFax = "_$!<HomeFAX>!$_"
    public static let workFax = "_$!<WorkFAX>!$_"
    public static let otherFax = "_$!<OtherFAX>!$_"
    public static let pager = "_$!<Pager>!$_"

    /// All labels that are not relations.
    public static let general = [
        home, work, school, other, iCloud, homePage, anniversary, iPhone, appleWatch, mobile, main, homeFax, workFax,
        otherFax, pager,
    ]

    /// Relations, named after Apple's `CNLabelContactRelation` constants.
    public static let relationNames: [String] = relationList.split(whereSeparator: \.isWhitespace).map(String.init)

    /// The stored form of a relation's name: `_$!<Mother>!$_`.
    public static func relation(_ name: String) -> String { "_$!<\(name)>!$_" }

    /// The name in a stored label: `Home` for `_$!<Home>!$_`, `iPhone` for `iPhone`; `nil` for a custom
    /// label. An unlisted name in stored form also counts, because a later version may define it.
    public static func name(of stored: String) -> String? {
        switch stored {
        case iCloud, iPhone: return stored
        case "Apple Watch", "APPLE WATCH", "APPLEWATCH": return "AppleWatch"
        default: break
        }
        guard stored.utf8.count > 8, stored.hasPrefix("_$!<"), stored.hasSuffix(">!$_") else { return nil }
        return String(stored.dropFirst(4).dropLast(4))
    }

    /// Social networks, by the names that Apple stores (`CNSocialProfileService…`).
    public static let socialServices = [
        "Facebook", "Flickr", "LinkedIn", "MySpace", "SinaWeibo", "TencentWeibo", "Twitter", "Yelp", "GameCenter",
    ]

    /// Messengers, by the names that Apple stores (`CNInstantMessageService…`).
    public static let messageServices = [
        "AIM", "Facebook", "GaduGadu", "GoogleTalk", "ICQ", "Jabber", "MSN", "QQ", "Skype", "Yahoo",
    ]
}

private let relationList = """
    Assistant Aunt AuntFathersBrothersWife AuntFathersElderBrothersWife AuntFathersElderSister
    AuntFathersSister AuntFathersYoungerBrothersWife AuntFathersYoungerSister AuntMothersBrothersWife
    AuntMothersElderSister AuntMothersSister AuntMothersYoungerSister AuntParentsElderSister
    AuntParentsSister AuntParentsYoungerSister Boyfriend Brother BrotherInLaw
    BrotherInLawElderSistersHusband BrotherInLawHusbandsBrother BrotherInLawHusbandsSistersHusband
    BrotherInLawSistersHusband BrotherInLawSpousesBrother BrotherInLawWifesBrother
    BrotherInLawWifesSistersHusband BrotherInLawYoungerSistersHusband Child ChildInLaw CoBrotherInLaw
    CoFatherInLaw CoMotherInLaw CoParentInLaw CoSiblingInLaw CoSisterInLaw Colleague Cousin
    CousinFathersBrothersDaughter CousinFathersBrothersSon CousinFathersSistersDaughter
    CousinFathersSistersSon CousinGrandparentsSiblingsChild CousinGrandparentsSiblingsDaughter
    CousinGrandparentsSiblingsSon CousinMothersBrothersDaughter CousinMothersBrothersSon
    CousinMothersSistersDaughter CousinMothersSistersSon CousinOrSiblingsChild CousinParentsSiblingsChild
    CousinParentsSiblingsDaughter CousinParentsSiblingsSon Daughter DaughterInLaw DaughterInLawOrSisterInLaw
    DaughterInLawOrStepdaughter ElderBrother ElderBrotherInLaw ElderCousin
    ElderCousinFathersBrothersDaughter ElderCousinFathersBrothersSon ElderCousinFathersSistersDaughter
    ElderCousinFathersSistersSon ElderCousinMothersBrothersDaughter ElderCousinMothersBrothersSon
    ElderCousinMothersSiblingsDaughterOrFathersSistersDaughter
    ElderCousinMothersSiblingsSonOrFathersSistersSon ElderCousinMothersSistersDaughter
    ElderCousinMothersSistersSon ElderCousinParentsSiblingsDaughter ElderCousinParentsSiblingsSon
    ElderSibling ElderSiblingInLaw ElderSister ElderSisterInLaw EldestBrother EldestSister Father
    FatherInLaw FatherInLawHusbandsFather FatherInLawOrStepfather FatherInLawWifesFather FemaleCousin
    FemaleFriend FemalePartner Friend Girlfriend GirlfriendOrBoyfriend Grandaunt Grandchild
    GrandchildOrSiblingsChild Granddaughter GranddaughterDaughtersDaughter GranddaughterOrNiece
    GranddaughterSonsDaughter Grandfather GrandfatherFathersFather GrandfatherMothersFather Grandmother
    GrandmotherFathersMother GrandmotherMothersMother Grandnephew GrandnephewBrothersGrandson
    GrandnephewSistersGrandson Grandniece GrandnieceBrothersGranddaughter GrandnieceSistersGranddaughter
    Grandparent Grandson GrandsonDaughtersSon GrandsonOrNephew GrandsonSonsSon Granduncle GreatGrandchild
    GreatGrandchildOrSiblingsGrandchild GreatGranddaughter GreatGrandfather GreatGrandmother
    GreatGrandparent GreatGrandson Husband MaleCousin MaleFriend MalePartner Manager Mother MotherInLaw
    MotherInLawHusbandsMother MotherInLawOrStepmother MotherInLawWifesMother Nephew NephewBrothersSon
    NephewBrothersSonOrHusbandsSiblingsSon NephewOrCousin NephewSistersSon
    NephewSistersSonOrWifesSiblingsSon Niece NieceBrothersDaughter
    NieceBrothersDaughterOrHusbandsSiblingsDaughter NieceOrCousin NieceSistersDaughter
    NieceSistersDaughterOrWifesSiblingsDaughter Parent ParentInLaw ParentsElderSibling ParentsSibling
    ParentsSiblingFathersElderSibling ParentsSiblingFathersSibling ParentsSiblingFathersYoungerSibling
    ParentsSiblingMothersElderSibling ParentsSiblingMothersSibling ParentsSiblingMothersYoungerSibling
    ParentsYoungerSibling Partner Sibling SiblingInLaw SiblingsChild Sister SisterInLaw
    SisterInLawBrothersWife SisterInLawElderBrothersWife SisterInLawHusbandsBrothersWife
    SisterInLawHusbandsSister SisterInLawSpousesSister SisterInLawWifesBrothersWife SisterInLawWifesSister
    SisterInLawYoungerBrothersWife Son SonInLaw SonInLawOrBrotherInLaw SonInLawOrStepson Spouse Stepbrother
    Stepchild Stepdaughter Stepfather Stepmother Stepparent Stepsister Stepson Teacher Uncle
    UncleFathersBrother UncleFathersElderBrother UncleFathersElderSistersHusband UncleFathersSistersHusband
    UncleFathersYoungerBrother UncleFathersYoungerSistersHusband UncleMothersBrother
    UncleMothersElderBrother UncleMothersSistersHusband UncleMothersYoungerBrother UncleParentsBrother
    UncleParentsElderBrother UncleParentsYoungerBrother Wife YoungerBrother YoungerBrotherInLaw
    YoungerCousin YoungerCousinFathersBrothersDaughter YoungerCousinFathersBrothersSon
    YoungerCousinFathersSistersDaughter YoungerCousinFathersSistersSon YoungerCousinMothersBrothersDaughter
    YoungerCousinMothersBrothersSon YoungerCousinMothersSiblingsDaughterOrFathersSistersDaughter
    YoungerCousinMothersSiblingsSonOrFathersSistersSon YoungerCousinMothersSistersDaughter
    YoungerCousinMothersSistersSon YoungerCousinParentsSiblingsDaughter YoungerCousinParentsSiblingsSon
    YoungerSibling YoungerSiblingInLaw YoungerSister YoungerSisterInLaw YoungestBrother YoungestSister
    """
