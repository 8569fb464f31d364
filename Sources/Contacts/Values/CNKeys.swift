import BrokerModel

// Keys of a contact's properties, for lists of keys to fetch. Each key is the property’s name, as on Apple’s
// systems.

/// Key of the identifier, which is always fetched.
public let CNContactIdentifierKey = "identifier"
/// Key of the type: person or organization.
public let CNContactTypeKey = "contactType"
/// Key of the name prefix, for example Dr.
public let CNContactNamePrefixKey = "namePrefix"
/// Key of the given name.
public let CNContactGivenNameKey = "givenName"
/// Key of the middle name.
public let CNContactMiddleNameKey = "middleName"
/// Key of the family name.
public let CNContactFamilyNameKey = "familyName"
/// Key of the previous family name, for example before a marriage.
public let CNContactPreviousFamilyNameKey = "previousFamilyName"
/// Key of the name suffix, for example Jr.
public let CNContactNameSuffixKey = "nameSuffix"
/// Key of the nickname.
public let CNContactNicknameKey = "nickname"
/// Key of the pronunciation of the given name.
public let CNContactPhoneticGivenNameKey = "phoneticGivenName"
/// Key of the pronunciation of the middle name.
public let CNContactPhoneticMiddleNameKey = "phoneticMiddleName"
/// Key of the pronunciation of the family name.
public let CNContactPhoneticFamilyNameKey = "phoneticFamilyName"
/// Key of the pronunciation of the organization’s name.
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
/// Key of the note, which must be granted by name.
public let CNContactNoteKey = "note"
/// Key of the photo.
public let CNContactImageDataKey = "imageData"
/// Key of the photo’s thumbnail.
public let CNContactThumbnailImageDataKey = "thumbnailImageData"
/// Key of the flag that says whether the contact has a photo.
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
/// Key of social network accounts.
public let CNContactSocialProfilesKey = "socialProfiles"
/// Key of messenger accounts.
public let CNContactInstantMessageAddressesKey = "instantMessageAddresses"

/// Key of the contact’s creation time. An extension of this library.
public let CNContactCreationDateKey = "creationDate"
/// Key of the time of the last change that the app may see. An extension of this library.
public let CNContactModificationDateKey = "modificationDate"
/// Key of vCard properties that have no key of their own. It must be granted by name. An extension of this
/// library.
public let CNContactExtraPropertiesKey = "extraProperties"
/// Key of the groups that other apps created. With this key, an app with limited access sees the groups that
/// contain its contacts. Pass it to `requestAccess(for:keysToOffer:)`; it cannot be fetched. An extension of
/// this library.
public let CNGroupsOfOthersKey = GrantKey.groups.rawValue

// Fields of a postal address.

/// Key of the street and house number.
public let CNPostalAddressStreetKey = "street"
/// Key of a part of the town.
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
/// Key of the two-letter country code (ISO 3166-1).
public let CNPostalAddressISOCountryCodeKey = "isoCountryCode"

// Fields of a social profile.

/// Key of the profile’s web address.
public let CNSocialProfileURLStringKey = "urlString"
/// Key of the user name at the service.
public let CNSocialProfileUsernameKey = "username"
/// Key of the identifier that the service assigned to the user.
public let CNSocialProfileUserIdentifierKey = "userIdentifier"
/// Key of the service.
public let CNSocialProfileServiceKey = "service"

// Fields of an instant message address.

/// Key of the user name at the service.
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

// Attributes of formatted text.

/// Attribute of a part of a formatted name. Its value is the key of the property that the part comes from.
public let CNContactPropertyAttribute = "contactProperty"
/// Attribute of a part of a formatted address. Its value is the key of the field that the part comes from.
public let CNPostalAddressPropertyAttribute = "postalAddressProperty"
/// Attribute of a part of a formatted address. Its value is the name of the part's field in the person's
/// language.
public let CNPostalAddressLocalizedPropertyNameAttribute = "postalAddressLocalizedPropertyName"

/// The first word of the message that is printed when a program traps because it read a property that was not
/// fetched. The message also contains the key.
public let CNContactPropertyNotFetchedExceptionName = "CNPropertyNotFetchedException"
