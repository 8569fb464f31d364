import ContactsModel
import Formatting

/// Keys of a contact, as apps ask for them and as people call them.
enum GrantedKeys {
    static func all(besides left: Set<String>) -> [String] {
        ContactKey.allCases.map(\.rawValue).filter { !left.contains($0) }
    }

    /// What an app would like to read, in a few words; `nil` where it named nothing.
    static func words(for keys: [String], _ names: LocalizedNames) -> String? {
        guard !keys.isEmpty else { return nil }
        var words: [Phrase] = []
        for key in keys.compactMap(ContactKey.init) {
            let word = word(for: key)
            if !words.contains(word) { words.append(word) }
        }
        return words.isEmpty ? nil : names.list(words.map { names.text($0) })
    }

    private static func word(for key: ContactKey) -> Phrase {
        switch key {
        case .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix,
            .nickname, .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName:
            .keysNames
        case .organizationName, .departmentName, .jobTitle, .phoneticOrganizationName: .keysWork
        case .birthday, .nonGregorianBirthday: .keysBirthday
        case .phoneNumbers: .keysPhones
        case .emailAddresses: .keysEmail
        case .postalAddresses: .keysAddresses
        case .dates, .creationDate, .modificationDate: .keysDates
        case .urlAddresses: .keysWebPages
        case .contactRelations: .keysRelations
        case .socialProfiles: .keysProfiles
        case .instantMessageAddresses: .keysMessaging
        case .note, .extraProperties: .keysNotes
        case .thumbnailImageData, .imageData, .imageDataAvailable: .keysPhoto
        }
    }
}
