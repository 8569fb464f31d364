extension Contact {
    /// Merges a card into this contact without replacing anything. Empty texts are filled, missing values are appended,
    /// and the note is extended.
    ///
    /// - Returns: this contact with the additions, and the keys that changed. Existing values keep their identifiers;
    ///   appended values have none yet.
    public func completed(by card: Contact) -> (contact: Contact, keys: ContactKeySet) {
        var completed = self
        var keys = ContactKeySet()
        for key in ContactKey.allCases where completed.complete(key, by: card) { keys.formUnion(ContactKeySet([key])) }
        return (completed, keys)
    }

    /// - Returns: whether the key changed.
    private mutating func complete(_ key: ContactKey, by card: Contact) -> Bool {
        switch key {
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday:
            guard let new = card.text(of: key), !new.isEmpty, text(of: key) == "" else { return false }
            setText(new, of: key)
            return true
        case .note:
            guard !card.note.isEmpty, !note.contains(card.note) else { return false }
            note += note.isEmpty ? card.note : "\n" + card.note
            return true
        case .imageData:
            guard !card.imageData.isEmpty, imageData.isEmpty, !imageDataAvailable else { return false }
            imageData = card.imageData
            return true
        case .phoneNumbers: return Self.append(card.phoneNumbers, to: &phoneNumbers)
        case .emailAddresses: return Self.append(card.emailAddresses, to: &emailAddresses)
        case .postalAddresses: return Self.append(card.postalAddresses, to: &postalAddresses)
        case .dates: return Self.append(card.dates, to: &dates)
        case .urlAddresses: return Self.append(card.urlAddresses, to: &urlAddresses)
        case .contactRelations: return Self.append(card.contactRelations, to: &contactRelations)
        case .socialProfiles: return Self.append(card.socialProfiles, to: &socialProfiles)
        case .instantMessageAddresses: return Self.append(card.instantMessageAddresses, to: &instantMessageAddresses)
        case .extraProperties:
            // A card has one UID (RFC 6350 §6.7.6).
            let hasUID = extraProperties.contains(where: Self.isUID)
            let new = card.extraProperties.filter { !extraProperties.contains($0) && !(hasUID && Self.isUID($0)) }
            extraProperties += new
            return !new.isEmpty
        // A card does not change the contact type; the broker sets the other keys.
        case .contactType, .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData: return false
        }
    }

    private static func isUID(_ line: String) -> Bool {
        let name = line.prefix { $0 != ":" && $0 != ";" }.uppercased()
        return name == "UID" || name.hasSuffix(".UID")
    }

    /// Appends the values that are not yet present. Two values are equal if their fields are equal; labels do
    /// not count.
    private static func append<Value: ContactValue>(_ new: [Value], to values: inout [Value]) -> Bool {
        let fields = Value.fields
        func says(_ value: Value) -> [String] { fields.map { $0.get(value) } }
        var said = Set(values.map(says))
        let before = values.count
        for var value in new where said.insert(says(value)).inserted {
            value.identifier = nil
            values.append(value)
        }
        return values.count > before
    }
}
