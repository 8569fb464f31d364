import BrokerJSON

/// A contact as received or sent, with the keys that it has.
public struct WireContact: Hashable, Sendable {
    /// The record's identifier for this client. Only the broker, which has the client's key, can decode it.
    public var identifier: String?
    public var contact: Contact
    /// The keys that were present. `null` counts as absent; `""` and `[]` count as present and empty.
    public var keys: ContactKeySet

    public init(identifier: String? = nil, contact: Contact, keys: ContactKeySet) {
        self.identifier = identifier
        self.contact = contact
        self.keys = keys
    }

    /// Reads the interface's `Contact`. Unknown fields and wrong types are errors.
    /// ``Contact/validate(writing:limits:)`` checks the values.
    public init(_ json: JSONValue) throws(ContactError) {
        guard let members = json.members else { throw .invalidParameter("contact") }
        var contact = Contact()
        var keys = ContactKeySet()
        var identifier: String?
        for (name, value) in members {
            if name.says("identifier") {
                identifier = try Self.text(value, "identifier")
                continue
            }
            guard let text = name.string, let key = ContactKey.named(text) else {
                throw .invalidParameter(name.string ?? "")
            }
            if value.isNull { continue }
            try Self.read(value, of: key, into: &contact)
            keys.formUnion(ContactKeySet(key))
        }
        self.init(identifier: identifier, contact: contact, keys: keys)
    }

    static func read(_ value: JSONValue, of key: ContactKey, into contact: inout Contact) throws(ContactError) {
        switch key {
        case .contactType:
            guard let type = value.string.flatMap(ContactType.init(rawValue:)) else {
                throw .invalidParameter(key.rawValue)
            }
            contact.contactType = type
        case .imageDataAvailable:
            guard let bool = value.bool else { throw .invalidParameter(key.rawValue) }
            contact.imageDataAvailable = bool
        case .phoneNumbers: contact.phoneNumbers = try values(value, key)
        case .emailAddresses: contact.emailAddresses = try values(value, key)
        case .postalAddresses: contact.postalAddresses = try values(value, key)
        case .dates: contact.dates = try values(value, key)
        case .urlAddresses: contact.urlAddresses = try values(value, key)
        case .contactRelations: contact.contactRelations = try values(value, key)
        case .socialProfiles: contact.socialProfiles = try values(value, key)
        case .instantMessageAddresses: contact.instantMessageAddresses = try values(value, key)
        case .extraProperties:
            guard let elements = value.elements else { throw .invalidParameter(key.rawValue) }
            for element in elements {
                guard let line = element.string else { throw .invalidParameter(key.rawValue) }
                contact.extraProperties.append(line)
            }
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate, .modificationDate,
            .note, .thumbnailImageData, .imageData:
            guard let text = value.string else { throw .invalidParameter(key.rawValue) }
            contact.setText(text, of: key)
        }
    }

    private static func text(_ value: JSONValue, _ field: String) throws(ContactError) -> String? {
        if value.isNull { return nil }
        guard let text = value.string else { throw .invalidParameter(field) }
        return text
    }

    private static func values<Value: ContactValue>(
        _ json: JSONValue, _ key: ContactKey
    ) throws(ContactError) -> [Value] {
        guard let elements = json.elements else { throw .invalidParameter(key.rawValue) }
        let fields = Value.fields
        var result: [Value] = []
        result.reserveCapacity(json.count)
        for element in elements {
            guard let members = element.members else { throw .invalidParameter(key.rawValue) }
            var value = Value()
            // The fields found so far, one bit for each.
            var found: UInt64 = 0
            for (name, member) in members {
                if name.says("identifier") {
                    value.identifier = try text(member, "identifier").flatMap(Self.identifier)
                } else if name.says("label") {
                    // An empty label counts as none.
                    value.label = try text(member, "label").flatMap { $0.isEmpty ? nil : $0 }
                } else if let place = fields.firstIndex(where: { name.says($0.name) }) {
                    guard let text = try text(member, fields[place].name) else { continue }
                    fields[place].set(&value, text)
                    found |= 1 << UInt64(place)
                } else {
                    throw .invalidParameter(name.string ?? "")
                }
            }
            for (place, field) in fields.enumerated() where field.isRequired && found & 1 << UInt64(place) == 0 {
                throw .invalidParameter(field.name)
            }
            result.append(value)
        }
        return result
    }

    /// Returns the number in a value's identifier: 7 for `7` and for `CARD/7`. Returns `nil` if there is no
    /// such number; the identifier then names no value.
    static func identifier(_ text: String) -> Int? {
        let digits = text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard (1...18).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }
}

extension WireContact {
    /// Writes the interface's `Contact` with every key of ``keys``, empty or not.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("identifier", identifier)
        for key in keys.keys {
            writer.name(key.rawValue)
            contact.writeValue(of: key, to: &writer)
        }
        writer.endObject()
    }
}

extension Contact {
    /// Writes the value of one key as JSON.
    func writeValue(of key: ContactKey, to writer: inout JSONWriter) {
        switch key {
        case .contactType: writer.value(contactType.rawValue)
        case .imageDataAvailable: writer.value(imageDataAvailable)
        case .phoneNumbers: write(phoneNumbers, to: &writer)
        case .emailAddresses: write(emailAddresses, to: &writer)
        case .postalAddresses: write(postalAddresses, to: &writer)
        case .dates: write(dates, to: &writer)
        case .urlAddresses: write(urlAddresses, to: &writer)
        case .contactRelations: write(contactRelations, to: &writer)
        case .socialProfiles: write(socialProfiles, to: &writer)
        case .instantMessageAddresses: write(instantMessageAddresses, to: &writer)
        case .extraProperties: writer.array(extraProperties) { $0.value($1) }
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate, .modificationDate,
            .note, .thumbnailImageData, .imageData:
            writer.value(text(of: key) ?? "")
        }
    }

    private func write<Value: ContactValue>(_ values: [Value], to writer: inout JSONWriter) {
        let fields = Value.fields
        writer.array(values) { writer, value in
            writer.beginObject()
            writer.member("identifier", value.identifier.map(String.init))
            writer.member("label", value.label)
            for field in fields {
                let text = field.get(value)
                if field.isRequired || !text.isEmpty { writer.member(field.name, text) }
            }
            writer.endObject()
        }
    }
}
