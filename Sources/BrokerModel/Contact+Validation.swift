import BrokerBounds

extension Contact {
    /// Checks the values that a client writes, key by key.
    ///
    /// - Parameter keys: the keys that the client named.
    /// - Throws: ``ContactError`` for the first invalid key, in the order of the stored form.
    public func validate(writing keys: ContactKeySet, limits: ContactLimits = ContactLimits()) throws(ContactError) {
        for key in keys.keys { try validate(key, limits) }
    }

    private func validate(_ key: ContactKey, _ limits: ContactLimits) throws(ContactError) {
        switch key {
        case .contactType: break
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .note:
            try validate([text(of: key) ?? ""], of: key, limits)
        case .birthday:
            guard birthday.isEmpty || CalendarDate(birthday) != nil else {
                throw .invalidContact(key: key.rawValue, reason: Self.dateReason)
            }
        case .nonGregorianBirthday:
            guard nonGregorianBirthday.isEmpty || NonGregorianDate(nonGregorianBirthday) != nil else {
                throw .invalidContact(
                    key: key.rawValue,
                    reason: "a date must be CALENDAR:YYYY-MM-DD or CALENDAR:--MM-DD, and not Gregorian")
            }
        case .phoneNumbers: try validate(phoneNumbers, of: key, limits)
        case .emailAddresses: try validate(emailAddresses, of: key, limits)
        case .postalAddresses: try validate(postalAddresses, of: key, limits)
        case .dates:
            try validate(dates, of: key, limits)
            guard dates.allSatisfy({ CalendarDate($0.value) != nil }) else {
                throw .invalidContact(key: key.rawValue, reason: Self.dateReason)
            }
        case .urlAddresses: try validate(urlAddresses, of: key, limits)
        case .contactRelations: try validate(contactRelations, of: key, limits)
        case .socialProfiles: try validate(socialProfiles, of: key, limits)
        case .instantMessageAddresses: try validate(instantMessageAddresses, of: key, limits)
        case .extraProperties:
            try validate(extraProperties, of: key, limits)
            // An unfolded content line has no line break (RFC 6350 §3.2). With one, a value could inject
            // further lines.
            guard extraProperties.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(0x0A) }) else {
                throw .invalidContact(key: key.rawValue, reason: "each must be one unfolded content line")
            }
        case .imageData: try validateImage(limits)
        case .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData:
            throw .invalidContact(key: key.rawValue, reason: "only the broker sets it")
        }
    }

    private static let dateReason =
        "a date must be YYYY-MM-DD or --MM-DD, and a day that exists in the Gregorian calendar"

    private func validate<Value: ContactValue>(
        _ values: [Value], of key: ContactKey, _ limits: ContactLimits
    ) throws(ContactError) {
        let fields = Value.fields
        var texts: [String] = []
        for value in values {
            if let label = value.label { texts.append(label) }
            for field in fields { texts.append(field.get(value)) }
        }
        try validate(texts, ofValues: values.count, of: key, limits)
    }

    private func validate(
        _ texts: [String], ofValues count: Int? = nil, of key: ContactKey, _ limits: ContactLimits
    ) throws(ContactError) {
        guard count ?? texts.count <= limits.values else {
            throw .limitExceeded(limit: "values", maximum: limits.values)
        }
        var total = 0
        for text in texts {
            guard text.utf8.count <= limits.value else {
                throw .limitExceeded(limit: "value", maximum: limits.value)
            }
            total += text.utf8.count
            guard !Self.hasControls(text) else {
                throw .invalidContact(
                    key: key.rawValue, reason: "control characters other than line feed and tab are not allowed")
            }
        }
        guard total <= limits.key else { throw .limitExceeded(limit: "key", maximum: limits.key) }
    }

    /// Whether the text contains U+0000 to U+001F, except line feed and tab, or U+007F to U+009F.
    private static func hasControls(_ text: String) -> Bool {
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if byte < 0x20 && byte != 0x0A && byte != 0x09 || byte == 0x7F { return true }
            // C1 controls are C2 80 to C2 9F.
            if previous == 0xC2 && byte < 0xA0 { return true }
            previous = byte
        }
        return false
    }

    private func validateImage(_ limits: ContactLimits) throws(ContactError) {
        guard imageData.utf8.count <= limits.photoBase64 else {
            throw .limitExceeded(limit: "photo", maximum: limits.photo)
        }
        guard let size = Base64.decodedSize(imageData) else {
            throw .invalidContact(
                key: ContactKey.imageData.rawValue, reason: "an image must be padded base64 in one line")
        }
        guard size <= limits.photo else { throw .limitExceeded(limit: "photo", maximum: limits.photo) }
    }
}

/// Base64 (RFC 4648 §4).
package enum Base64 {
    package static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each digit; 255 for other bytes.
    package static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, byte) in digits.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    /// Returns the number of bytes that the text encodes; `nil` if the text is not base64 with padding and no other
    /// characters. Also returns `nil` if the unused bits are not zero (§3.5), so each image has exactly one valid text.
    static func decodedSize(_ text: String) -> Int? {
        let count = text.utf8.count
        guard count.isMultiple(of: 4) else { return nil }
        guard count > 0 else { return 0 }
        var text = text
        return text.withUTF8 { bytes in
            let padding = bytes[count - 1] != UInt8(ascii: "=") ? 0 : bytes[count - 2] != UInt8(ascii: "=") ? 1 : 2
            // All bytes are checked, without a branch, so that the compiler checks many at once: a photo has
            // millions of them.
            var wrong: UInt8 = 0
            for byte in bytes[..<(count - padding)] { wrong |= 1 ^ isDigit(byte) }
            guard wrong == 0 else { return nil }
            let last = values[Int(bytes[count - padding - 1])]
            switch padding {
            case 1: if last & 0b11 != 0 { return nil }
            case 2: if last & 0b1111 != 0 { return nil }
            default: break
            }
            return count / 4 * 3 - padding
        }
    }

    /// Returns 1 for a digit of base64, and 0 for any other byte.
    private static func isDigit(_ byte: UInt8) -> UInt8 {
        let isLetter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 26 ? 1 : 0
        let isNumeral: UInt8 = byte &- UInt8(ascii: "0") < 10 ? 1 : 0
        let isSign: UInt8 = byte == UInt8(ascii: "+") ? 1 : byte == UInt8(ascii: "/") ? 1 : 0
        return isLetter | isNumeral | isSign
    }
}
