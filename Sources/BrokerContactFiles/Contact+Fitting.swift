import BrokerBounds
import BrokerModel

extension Contact {
    /// Values that a contact cannot have.
    public struct LeftOut: Hashable, Sendable {
        public let key: ContactKey
        /// The number of values.
        public let count: Int
        /// Why the first of them cannot be saved.
        public let error: ContactError
    }

    /// Returns the contact with all values that can be saved, and what it leaves out.
    ///
    /// A text, a date or a photo is kept or left out whole. A list loses each value that cannot be saved.
    /// If it still has too many values, it loses the last ones.
    public func fitted(limits: ContactLimits = ContactLimits()) -> (contact: Contact, leftOut: [LeftOut]) {
        var fitted = self
        var leftOut: [LeftOut] = []
        for key in present.keys {
            guard let error = fitted.error(of: key, limits) else { continue }
            leftOut.append(LeftOut(key: key, count: fitted.fit(key, limits), error: error))
        }
        return (fitted, leftOut)
    }

    private func error(of key: ContactKey, _ limits: ContactLimits) -> ContactError? {
        do throws(ContactError) {
            try validate(writing: ContactKeySet(key), limits: limits)
            return nil
        } catch {
            return error
        }
    }

    /// - Returns: the number of values that were left out.
    private mutating func fit(_ key: ContactKey, _ limits: ContactLimits) -> Int {
        switch key {
        case .phoneNumbers: return fit(\.phoneNumbers, key, limits)
        case .emailAddresses: return fit(\.emailAddresses, key, limits)
        case .postalAddresses: return fit(\.postalAddresses, key, limits)
        case .dates: return fit(\.dates, key, limits)
        case .urlAddresses: return fit(\.urlAddresses, key, limits)
        case .contactRelations: return fit(\.contactRelations, key, limits)
        case .socialProfiles: return fit(\.socialProfiles, key, limits)
        case .instantMessageAddresses: return fit(\.instantMessageAddresses, key, limits)
        case .extraProperties: return fit(\.extraProperties, key, limits)
        case .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix,
            .nickname, .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName,
            .departmentName, .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate,
            .modificationDate, .imageDataAvailable, .note, .thumbnailImageData, .imageData:
            self = applying(Contact(), keys: ContactKeySet(key))
            return 1
        }
    }

    private mutating func fit<Value>(
        _ path: WritableKeyPath<Contact, [Value]>, _ key: ContactKey, _ limits: ContactLimits
    ) -> Int {
        func isValid(_ values: some Collection<Value>) -> Bool {
            var contact = Contact()
            contact[keyPath: path] = Array(values)
            return contact.error(of: key, limits) == nil
        }
        let all = self[keyPath: path]
        let values = all.filter { isValid([$0]) }
        // A longer list has more values and more bytes, so the longest valid one can be found by halving.
        var (valid, invalid) = (0, values.count + 1)
        while invalid - valid > 1 {
            let middle = (valid + invalid) / 2
            if isValid(values.prefix(middle)) { valid = middle } else { invalid = middle }
        }
        self[keyPath: path] = Array(values.prefix(valid))
        return all.count - valid
    }
}
