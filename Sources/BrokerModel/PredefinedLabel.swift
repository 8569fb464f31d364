/// Labels that Apple's programs know by a name of theirs, in the form in which they are stored. Any other text is a label
/// of the person's own.
public enum PredefinedLabel {
    public static let home = "_$!<Home>!$_"
    public static let work = "_$!<Work>!$_"
    public static let school = "_$!<School>!$_"
    public static let other = "_$!<Other>!$_"
    public static let iCloud = "iCloud"
    public static let homePage = "_$!<HomePage>!$_"
    public static let anniversary = "_$!<Anniversary>!$_"
    public static let iPhone = "iPhone"
    /// Ours: what Apple stores is not known. ``name(of:)`` knows it by the name in words, too.
    public static let appleWatch = "_$!<AppleWatch>!$_"
    public static let mobile = "_$!<Mobile>!$_"
    public static let main = "_$!<Main>!$_"
    public static let homeFax = "_$!<HomeFAX>!$_"
    public static let workFax = "_$!<WorkFAX>!$_"
    public static let otherFax = "_$!<OtherFAX>!$_"
    public static let pager = "_$!<Pager>!$_"

    /// All that are not relations.
    public static let general = [
        home, work, school, other, iCloud, homePage, anniversary, iPhone, appleWatch, mobile, main, homeFax, workFax,
        otherFax, pager,
    ]

    /// What people are to each other, as Apple names it after `CNLabelContactRelation`.
    public static let relationNames: [String] = relationList.split(whereSeparator: \.isWhitespace).map(String.init)

    /// The stored form of a relation's name: `_$!<Mother>!$_`.
    public static func relation(_ name: String) -> String { "_$!<\(name)>!$_" }

    /// The name in a stored label: `Home` of `_$!<Home>!$_`, `iPhone` of `iPhone`; `nil` for a label of the person's own.
    /// A name that is in no list here is still one, of a later version.
    public static func name(of stored: String) -> String? {
        switch stored {
        case iCloud, iPhone: return stored
        case "Apple Watch", "APPLE WATCH", "APPLEWATCH": return "AppleWatch"
        default: break
        }
        guard stored.utf8.count > 8, stored.hasPrefix("_$!<"), stored.hasSuffix(">!$_") else { return nil }
        return String(stored.dropFirst(4).dropLast(4))
    }

    /// Social networks by the names that Apple stores (`CNSocialProfileService…`).
    public static let socialServices = [
        "Facebook", "Flickr", "LinkedIn", "MySpace", "SinaWeibo", "TencentWeibo", "Twitter", "Yelp", "GameCenter",
    ]

    /// Messengers by the names that Apple stores (`CNInstantMessageService…`).
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
