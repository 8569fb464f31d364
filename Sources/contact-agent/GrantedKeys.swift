import BrokerFormatting
import BrokerModel

/// Describes keys in few words.
enum GrantedKeys {
    /// Keys that the person sees as one.
    struct Kind: Hashable {
        var phrase: Phrase
        var set: ContactKeySet
    }

    /// All keys except those that must be granted by name.
    static let ordinary = ContactKeySet.grantable.subtracting(.byName)

    static let kinds: [Kind] = GrantKey.allCases.reduce(into: []) { kinds, key in
        let phrase =
            switch key {
            case .property(let key): phrase(for: key)
            case .groups: Phrase.keysGroups
            }
        if let place = kinds.firstIndex(where: { $0.phrase == phrase }) {
            kinds[place].set.formUnion(key.set)
        } else {
            kinds.append(Kind(phrase: phrase, set: key.set))
        }
    }

    /// The keys in few words; `nil` if there are none.
    static func words(for keys: [String], _ names: LocalizedNames) -> String? {
        var rest = ContactKeySet(keys.compactMap(GrantKey.init))
        guard !rest.isEmpty else { return nil }
        let isWhole = rest.isSuperset(of: ordinary)
        if isWhole { rest.subtract(ordinary) }
        guard !rest.isEmpty else { return names.text(.allButNotes) }
        let words = names.list(kinds.filter { !rest.isDisjoint(with: $0.set) }.map { names.text($0.phrase) })
        return isWhole ? names.text(.wholeCard, [.keys: words]) : words
    }

    private static func phrase(for key: ContactKey) -> Phrase {
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
