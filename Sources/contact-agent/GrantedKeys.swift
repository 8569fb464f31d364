import ContactsModel

/// Keys of a contact, as apps ask for them and as people call them.
enum GrantedKeys {
    static func all(besides left: Set<String>) -> [String] {
        ContactKey.allCases.map(\.rawValue).filter { !left.contains($0) }
    }

    /// What an app would like to read, in a few words; `nil` where it named nothing.
    static func words(for keys: [String]) -> String? {
        guard !keys.isEmpty else { return nil }
        var words: [String] = []
        for key in keys.compactMap(ContactKey.init) {
            let word = word(for: key)
            if !words.contains(word) { words.append(word) }
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    private static func word(for key: ContactKey) -> String {
        switch key {
        case .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix,
            .nickname, .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName:
            "names"
        case .organizationName, .departmentName, .jobTitle, .phoneticOrganizationName: "work"
        case .birthday, .nonGregorianBirthday: "birthday"
        case .phoneNumbers: "phone numbers"
        case .emailAddresses: "e-mail"
        case .postalAddresses: "addresses"
        case .dates, .creationDate, .modificationDate: "dates"
        case .urlAddresses: "web pages"
        case .contactRelations: "relations"
        case .socialProfiles: "social profiles"
        case .instantMessageAddresses: "messaging"
        case .note, .extraProperties: "notes"
        case .thumbnailImageData, .imageData, .imageDataAvailable: "photo"
        }
    }
}
