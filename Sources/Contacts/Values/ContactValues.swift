import BrokerModel
import Foundation

/// All values of one contact object.
struct ContactValues: Hashable, Sendable {
    var identifier: String
    /// All values except those that the properties below store as objects. Those values are empty in this
    /// card.
    var card = Contact()
    var birthday: DateComponents?
    var nonGregorianBirthday: DateComponents?
    var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] = []
    var emailAddresses: [CNLabeledValue<NSString>] = []
    var postalAddresses: [CNLabeledValue<CNPostalAddress>] = []
    var dates: [CNLabeledValue<NSDateComponents>] = []
    var urlAddresses: [CNLabeledValue<NSString>] = []
    var contactRelations: [CNLabeledValue<CNContactRelation>] = []
    var socialProfiles: [CNLabeledValue<CNSocialProfile>] = []
    var instantMessageAddresses: [CNLabeledValue<CNInstantMessageAddress>] = []

    init(identifier: String) {
        self.identifier = identifier
    }

    /// Returns the contact as a `Contact` of BrokerModel, with these keys and without the identifiers of
    /// values.
    func model(_ keys: ContactKeySet = .all) -> Contact {
        var model = card
        model.birthday = DateText.gregorian(birthday)
        model.nonGregorianBirthday = DateText.nonGregorian(nonGregorianBirthday)
        model.phoneNumbers = phoneNumbers.map { LabeledString(label: $0.label, value: $0.value.stringValue) }
        model.emailAddresses = emailAddresses.map { LabeledString(label: $0.label, value: $0.value as String) }
        model.urlAddresses = urlAddresses.map { LabeledString(label: $0.label, value: $0.value as String) }
        model.contactRelations = contactRelations.map { LabeledString(label: $0.label, value: $0.value.name) }
        model.dates = dates.map { LabeledDate(label: $0.label, value: DateText.gregorian($0.value as DateComponents)) }
        model.postalAddresses = postalAddresses.map {
            var address = $0.value.model
            address.label = $0.label
            return address
        }
        model.socialProfiles = socialProfiles.map {
            var profile = $0.value.model
            profile.label = $0.label
            return profile
        }
        model.instantMessageAddresses = instantMessageAddresses.map {
            var address = $0.value.model
            address.label = $0.label
            return address
        }
        return keys == .all ? model : Contact().applying(model, keys: keys)
    }

    /// Converts the dates and labeled values of a contact into objects, and keeps its other values.
    init(identifier: String, _ model: Contact) {
        self.init(identifier: identifier)
        card = model
        birthday = DateText.components(gregorian: model.birthday)
        nonGregorianBirthday = DateText.components(nonGregorian: model.nonGregorianBirthday)
        phoneNumbers = model.phoneNumbers.map { .init(label: $0.label, value: CNPhoneNumber(stringValue: $0.value)) }
        emailAddresses = model.emailAddresses.map { .init(label: $0.label, value: $0.value as NSString) }
        urlAddresses = model.urlAddresses.map { .init(label: $0.label, value: $0.value as NSString) }
        contactRelations = model.contactRelations.map {
            .init(label: $0.label, value: CNContactRelation(name: $0.value))
        }
        dates = model.dates.compactMap { date in
            DateText.components(gregorian: date.value).map { .init(label: date.label, value: $0 as NSDateComponents) }
        }
        postalAddresses = model.postalAddresses.map { .init(label: $0.label, value: CNPostalAddress($0)) }
        socialProfiles = model.socialProfiles.map { .init(label: $0.label, value: CNSocialProfile($0)) }
        instantMessageAddresses = model.instantMessageAddresses.map {
            .init(label: $0.label, value: CNInstantMessageAddress($0))
        }
        (card.birthday, card.nonGregorianBirthday) = ("", "")
        (card.phoneNumbers, card.emailAddresses, card.urlAddresses, card.contactRelations) = ([], [], [], [])
        (card.dates, card.postalAddresses, card.socialProfiles, card.instantMessageAddresses) = ([], [], [], [])
    }
}

extension CNSocialProfile {
    var model: SocialProfile {
        var model = SocialProfile()
        (model.urlString, model.username) = (urlString, username)
        (model.userIdentifier, model.service) = (userIdentifier, service)
        return model
    }

    convenience init(_ model: SocialProfile) {
        self.init(
            urlString: model.urlString, username: model.username, userIdentifier: model.userIdentifier,
            service: model.service)
    }
}

extension CNInstantMessageAddress {
    var model: InstantMessageAddress {
        var model = InstantMessageAddress()
        (model.username, model.service) = (username, service)
        return model
    }

    convenience init(_ model: InstantMessageAddress) {
        self.init(username: model.username, service: model.service)
    }
}
