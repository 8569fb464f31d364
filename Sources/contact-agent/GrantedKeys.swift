import BrokerFormatting
import BrokerModel

/// Describes requested keys in words, and turns the person's choice into granted keys.
enum GrantedKeys {
    /// Whether the requested keys include one of the keys in `named`.
    static func asksByName(_ keys: [String], for named: ContactKeySet) -> Bool {
        !ContactKeySet(keys.compactMap(GrantKey.init)).isDisjoint(with: named)
    }

    /// The granted keys: all ordinary keys, and the other keys that the app requested and the person turned
    /// on.
    static func granted(_ given: ContactKeySet, of asked: [String]) -> [String] {
        let named = given.intersection(ContactKeySet(asked.compactMap(GrantKey.init)))
        return ordinary.union(named).grantNames
    }

    /// The requested keys in a few words; `nil` if there are none.
    static func words(for keys: [String], _ names: LocalizedNames) -> String? {
        var rest = ContactKeySet(keys.compactMap(GrantKey.init))
        var words: [Phrase] = []
        if rest.isSuperset(of: ordinary) {
            words.append(.allButNotes)
            rest.subtract(ordinary)
        }
        for key in GrantKey.allCases where rest.isSuperset(of: key.set) {
            let word =
                switch key {
                case .property(let key): word(for: key)
                case .groups: Phrase.keysGroups
                }
            if !words.contains(word) { words.append(word) }
        }
        return words.isEmpty ? nil : names.list(words.map { names.text($0) })
    }

    private static let ordinary = ContactKeySet.grantable.subtracting(.byName)

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
