import BrokerModel

// Names of what a contact has, for lists of keys to fetch. Each is the property’s name, as on Apple’s systems.

/// Key of the identifier; it is always fetched.
public let CNContactIdentifierKey = "identifier"
/// Key of person or organization.
public let CNContactTypeKey = "contactType"
/// Key of what stands before a name: Dr.
public let CNContactNamePrefixKey = "namePrefix"
/// Key of the given name.
public let CNContactGivenNameKey = "givenName"
/// Key of the middle name.
public let CNContactMiddleNameKey = "middleName"
/// Key of the family name.
public let CNContactFamilyNameKey = "familyName"
/// Key of the family name before, as by marriage.
public let CNContactPreviousFamilyNameKey = "previousFamilyName"
/// Key of what stands after a name: Jr.
public let CNContactNameSuffixKey = "nameSuffix"
/// Key of the nickname.
public let CNContactNicknameKey = "nickname"
/// Key of how the given name is said.
public let CNContactPhoneticGivenNameKey = "phoneticGivenName"
/// Key of how the middle name is said.
public let CNContactPhoneticMiddleNameKey = "phoneticMiddleName"
/// Key of how the family name is said.
public let CNContactPhoneticFamilyNameKey = "phoneticFamilyName"
/// Key of how the organization’s name is said.
public let CNContactPhoneticOrganizationNameKey = "phoneticOrganizationName"
/// Key of the organization.
public let CNContactOrganizationNameKey = "organizationName"
/// Key of the department.
public let CNContactDepartmentNameKey = "departmentName"
/// Key of the job title.
public let CNContactJobTitleKey = "jobTitle"
/// Key of the birthday in the Gregorian calendar.
public let CNContactBirthdayKey = "birthday"
/// Key of the birthday in another calendar.
public let CNContactNonGregorianBirthdayKey = "nonGregorianBirthday"
/// Key of the note; it must be granted by name.
public let CNContactNoteKey = "note"
/// Key of the picture.
public let CNContactImageDataKey = "imageData"
/// Key of the small picture.
public let CNContactThumbnailImageDataKey = "thumbnailImageData"
/// Key of whether there is a picture.
public let CNContactImageDataAvailableKey = "imageDataAvailable"
/// Key of phone numbers.
public let CNContactPhoneNumbersKey = "phoneNumbers"
/// Key of e-mail addresses.
public let CNContactEmailAddressesKey = "emailAddresses"
/// Key of postal addresses.
public let CNContactPostalAddressesKey = "postalAddresses"
/// Key of dates other than the birthday.
public let CNContactDatesKey = "dates"
/// Key of web addresses.
public let CNContactUrlAddressesKey = "urlAddresses"
/// Key of related people.
public let CNContactRelationsKey = "contactRelations"
/// Key of accounts at social networks.
public let CNContactSocialProfilesKey = "socialProfiles"
/// Key of accounts at messengers.
public let CNContactInstantMessageAddressesKey = "instantMessageAddresses"

/// Key of the time when a contact was made. An extension of this library.
public let CNContactCreationDateKey = "creationDate"
/// Key of the time when a contact was last changed, as far as the app may see. An extension of this library.
public let CNContactModificationDateKey = "modificationDate"
/// Key of vCard properties that have no key of their own; it must be granted by name. An extension of this library.
public let CNContactExtraPropertiesKey = "extraProperties"
/// Groups that other apps made, to be offered in `requestAccess(for:keysToOffer:)`: who sees some contacts only sees with it in which
/// groups these are. Nothing that can be fetched of a contact. An extension of this library.
public let CNGroupsOfOthersKey = GrantKey.groups.rawValue

// Fields of a postal address.

/// Key of the street and house number.
public let CNPostalAddressStreetKey = "street"
/// Key of the part of a town.
public let CNPostalAddressSubLocalityKey = "subLocality"
/// Key of the town.
public let CNPostalAddressCityKey = "city"
/// Key of the county or district.
public let CNPostalAddressSubAdministrativeAreaKey = "subAdministrativeArea"
/// Key of the state or province.
public let CNPostalAddressStateKey = "state"
/// Key of the postal code.
public let CNPostalAddressPostalCodeKey = "postalCode"
/// Key of the country’s name.
public let CNPostalAddressCountryKey = "country"
/// Key of the country’s two letters (ISO 3166-1).
public let CNPostalAddressISOCountryCodeKey = "isoCountryCode"

// Fields of a social profile.

/// Key of the profile’s web address.
public let CNSocialProfileURLStringKey = "urlString"
/// Key of the user’s name.
public let CNSocialProfileUsernameKey = "username"
/// Key of the service’s own identifier of the user.
public let CNSocialProfileUserIdentifierKey = "userIdentifier"
/// Key of the service.
public let CNSocialProfileServiceKey = "service"

// Fields of an instant message address.

/// Key of the user’s name.
public let CNInstantMessageAddressUsernameKey = "username"
/// Key of the service.
public let CNInstantMessageAddressServiceKey = "service"

// Fields of a group and of a container.

/// Key of a group’s identifier.
public let CNGroupIdentifierKey = "identifier"
/// Key of a group’s name.
public let CNGroupNameKey = "name"
/// Key of a container’s identifier.
public let CNContainerIdentifierKey = "identifier"
/// Key of a container’s name.
public let CNContainerNameKey = "name"
/// Key of a container’s type.
public let CNContainerTypeKey = "type"

// Services.

/// The social network Facebook.
public let CNSocialProfileServiceFacebook = "Facebook"
/// The social network Flickr.
public let CNSocialProfileServiceFlickr = "Flickr"
/// The social network GameCenter.
public let CNSocialProfileServiceGameCenter = "GameCenter"
/// The social network LinkedIn.
public let CNSocialProfileServiceLinkedIn = "LinkedIn"
/// The social network MySpace.
public let CNSocialProfileServiceMySpace = "MySpace"
/// The social network SinaWeibo.
public let CNSocialProfileServiceSinaWeibo = "SinaWeibo"
/// The social network TencentWeibo.
public let CNSocialProfileServiceTencentWeibo = "TencentWeibo"
/// The social network Twitter.
public let CNSocialProfileServiceTwitter = "Twitter"
/// The social network Yelp.
public let CNSocialProfileServiceYelp = "Yelp"
/// The messenger AIM.
public let CNInstantMessageServiceAIM = "AIM"
/// The messenger Facebook.
public let CNInstantMessageServiceFacebook = "Facebook"
/// The messenger GaduGadu.
public let CNInstantMessageServiceGaduGadu = "GaduGadu"
/// The messenger GoogleTalk.
public let CNInstantMessageServiceGoogleTalk = "GoogleTalk"
/// The messenger ICQ.
public let CNInstantMessageServiceICQ = "ICQ"
/// The messenger Jabber.
public let CNInstantMessageServiceJabber = "Jabber"
/// The messenger MSN.
public let CNInstantMessageServiceMSN = "MSN"
/// The messenger QQ.
public let CNInstantMessageServiceQQ = "QQ"
/// The messenger Skype.
public let CNInstantMessageServiceSkype = "Skype"
/// The messenger Yahoo.
public let CNInstantMessageServiceYahoo = "Yahoo"

// What parts of formatted text say of themselves.

/// Attribute of a part of a formatted name: the key it comes from.
public let CNContactPropertyAttribute = "contactProperty"
/// Attribute of a part of a formatted address: the key it comes from.
public let CNPostalAddressPropertyAttribute = "postalAddressProperty"
/// Attribute of a part of a formatted address: that key’s name in the person’s language.
public let CNPostalAddressLocalizedPropertyNameAttribute = "postalAddressLocalizedPropertyName"

/// What a program stops with that looks at a property which was not fetched: the message begins with it, and names the key.
public let CNContactPropertyNotFetchedExceptionName = "CNPropertyNotFetchedException"
