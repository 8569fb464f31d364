import BrokerJSON

extension StoredContact {
    /// Returns the number of values of a key. Images are stored elsewhere, so ``ContactKey/imageDataAvailable``
    /// shows whether the contact has an image.
    public func count(of key: ContactKey) -> Int {
        switch key {
        case .imageData, .thumbnailImageData: present.contains(.imageDataAvailable) ? 1 : 0
        // Every contact has a type; `person` is not stored.
        case .contactType: 1
        case .phoneNumbers, .emailAddresses, .postalAddresses, .dates, .urlAddresses, .contactRelations,
            .socialProfiles, .instantMessageAddresses, .extraProperties:
            list(key)?.count ?? 0
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate, .modificationDate,
            .imageDataAvailable, .note:
            present.contains(key) ? 1 : 0
        }
    }

    /// The family name; empty if there is none.
    public var familyName: String { list(.familyName)?.string ?? "" }

    private func list(_ key: ContactKey) -> JSONValue? {
        value(of: key).flatMap { try? JSONDocument(parsing: Array($0)).root }
    }
}
