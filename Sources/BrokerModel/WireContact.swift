import BrokerBounds
import BrokerJSON

/// A contact as received or sent, with the keys that it has.
public struct WireContact: Hashable, Sendable {
    /// The record's identifier for this client. Only the broker, which has the client's key, can decode it.
    public var identifier: String?
    /// Names the state in which this client sees the record, if the reply has it.
    public var revision: String?
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
    ///
    /// - Parameter limits: for a contact from a client. Lists and texts that are too long are refused before any of
    ///   them is read. `nil` for a contact that the broker wrote.
    public init(_ json: JSONValue, limits: ContactLimits? = nil) throws(ContactError) {
        guard let members = json.members else { throw .invalidParameter("contact") }
        var contact = Contact()
        var keys = ContactKeySet()
        var (identifier, revision): (String?, String?)
        for (name, value) in members {
            if name.says("identifier") {
                identifier = try Self.text(value, "identifier", limits)
                continue
            }
            if name.says("revision") {
                revision = try Self.text(value, "revision", limits)
                continue
            }
            let name = name.string(ofAtMost: Self.longestName) ?? ""
            guard let key = ContactKey.named(name) else { throw .invalidParameter(name) }
            if value.isNull { continue }
            try Self.read(value, of: key, into: &contact, limits)
            keys.formUnion(ContactKeySet(key))
        }
        self.init(identifier: identifier, contact: contact, keys: keys)
        self.revision = revision
    }

    /// The longest name of a field that an error repeats, in bytes.
    private static let longestName = 64

    static func read(
        _ value: JSONValue, of key: ContactKey, into contact: inout Contact, _ limits: ContactLimits? = nil
    ) throws(ContactError) {
        switch key {
        case .contactType:
            guard let type = value.string(ofAtMost: Self.longestName).flatMap(ContactType.init(rawValue:)) else {
                throw .invalidParameter(key.rawValue)
            }
            contact.contactType = type
        case .imageDataAvailable:
            guard let bool = value.bool else { throw .invalidParameter(key.rawValue) }
            contact.imageDataAvailable = bool
        case .phoneNumbers: contact.phoneNumbers = try values(value, key, limits)
        case .emailAddresses: contact.emailAddresses = try values(value, key, limits)
        case .postalAddresses: contact.postalAddresses = try values(value, key, limits)
        case .dates: contact.dates = try values(value, key, limits)
        case .urlAddresses: contact.urlAddresses = try values(value, key, limits)
        case .contactRelations: contact.contactRelations = try values(value, key, limits)
        case .socialProfiles: contact.socialProfiles = try values(value, key, limits)
        case .instantMessageAddresses: contact.instantMessageAddresses = try values(value, key, limits)
        case .extraProperties:
            for element in try elements(value, key, limits) {
                guard let line = try text(element, key.rawValue, limits) else { throw .invalidParameter(key.rawValue) }
                contact.extraProperties.append(line)
            }
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate, .modificationDate,
            .note, .thumbnailImageData:
            contact.setText(try text(value, key.rawValue, limits) ?? "", of: key)
        case .imageData:
            guard value.kind == .string else { throw .invalidParameter(key.rawValue) }
            guard let base64 = value.string(ofAtMost: limits?.photoBase64 ?? .max) else {
                throw .limitExceeded(limit: "photo", maximum: limits?.photo ?? .max)
            }
            contact.setText(base64, of: key)
        }
    }

    private static func text(
        _ value: JSONValue, _ field: String, _ limits: ContactLimits?
    ) throws(ContactError) -> String? {
        if value.isNull { return nil }
        guard value.kind == .string else { throw .invalidParameter(field) }
        guard let text = value.string(ofAtMost: limits?.value ?? .max) else {
            throw .limitExceeded(limit: "value", maximum: limits?.value ?? .max)
        }
        return text
    }

    private static func elements(
        _ value: JSONValue, _ key: ContactKey, _ limits: ContactLimits?
    ) throws(ContactError) -> JSONValue.Elements {
        guard let elements = value.elements else { throw .invalidParameter(key.rawValue) }
        if let limits, value.count > limits.values { throw .limitExceeded(limit: "values", maximum: limits.values) }
        return elements
    }

    private static func values<Value: ContactValue>(
        _ json: JSONValue, _ key: ContactKey, _ limits: ContactLimits?
    ) throws(ContactError) -> [Value] {
        let elements = try elements(json, key, limits)
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
                    value.identifier = try text(member, "identifier", limits).flatMap(Self.identifier)
                } else if name.says("label") {
                    // An empty label counts as none.
                    value.label = try text(member, "label", limits).flatMap { $0.isEmpty ? nil : $0 }
                } else if let place = fields.firstIndex(where: { name.says($0.name) }) {
                    guard let text = try text(member, fields[place].name, limits) else { continue }
                    fields[place].set(&value, text)
                    found |= 1 << UInt64(place)
                } else {
                    throw .invalidParameter(name.string(ofAtMost: Self.longestName) ?? "")
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
