// Predefined labels, in their stored form. Any other text is the person’s own label.

/// Label: home.
public let CNLabelHome = "_$!<Home>!$_"
/// Label: work.
public let CNLabelWork = "_$!<Work>!$_"
/// Label: school.
public let CNLabelSchool = "_$!<School>!$_"
/// Label: other.
public let CNLabelOther = "_$!<Other>!$_"
/// Label of an e-mail address: iCloud.
public let CNLabelEmailiCloud = "iCloud"
/// Label of a web address: home page.
public let CNLabelURLAddressHomePage = "_$!<HomePage>!$_"
/// Label of a date: anniversary.
public let CNLabelDateAnniversary = "_$!<Anniversary>!$_"
/// Label of a phone number: iPhone.
public let CNLabelPhoneNumberiPhone = "iPhone"
/// Label of a phone number: Apple Watch.
public let CNLabelPhoneNumberAppleWatch = "_$!<AppleWatch>!$_"
/// Label of a phone number: mobile.
public let CNLabelPhoneNumberMobile = "_$!<Mobile>!$_"
/// Label of a phone number: main.
public let CNLabelPhoneNumberMain = "_$!<Main>!$_"
/// Label of a phone number: fax at home.
public let CNLabelPhoneNumberHomeFax = "_$!<HomeFAX>!$_"
/// Label of a phone number: fax at work.
public let CNLabelPhoneNumberWorkFax = "_$!<WorkFAX>!$_"
/// Label of a phone number: other fax.
public let CNLabelPhoneNumberOtherFax = "_$!<OtherFAX>!$_"
/// Label of a phone number: pager.
public let CNLabelPhoneNumberPager = "_$!<Pager>!$_"
