import BrokerJSON
import BrokerModel
import Foundation

// Converts between objects and the Varlink type `Contact`.
extension ContactValues {
    /// Decodes a contact that the broker sent. This ignores unknown fields and fields of a wrong type,
    /// because a reply must not make the program trap.
    init(wire json: JSONValue) {
        self.init(identifier: "")
        guard let members = json.members else { return }
        for (name, value) in members where !value.isNull {
            guard let name = name.string else { continue }
            if name == "identifier" {
                identifier = value.string ?? ""
            } else if let key = ContactKey(rawValue: name) {
                read(value, of: key)
            }
        }
    }

    private mutating func read(_ json: JSONValue, of key: ContactKey) {
        switch key {
        case .contactType: card.contactType = json.says("organization") ? .organization : .person
        case .imageDataAvailable: card.imageDataAvailable = json.bool ?? false
        case .birthday: birthday = DateText.components(gregorian: json.string ?? "")
        case .nonGregorianBirthday: nonGregorianBirthday = DateText.components(nonGregorian: json.string ?? "")
        case .phoneNumbers: phoneNumbers = Self.list(json) { CNPhoneNumber(stringValue: Self.text($0)) }
        case .emailAddresses: emailAddresses = Self.list(json) { Self.text($0) as NSString }
        case .urlAddresses: urlAddresses = Self.list(json) { Self.text($0) as NSString }
        case .contactRelations: contactRelations = Self.list(json) { CNContactRelation(name: Self.text($0)) }
        case .dates: dates = Self.list(json) { DateText.components(gregorian: Self.text($0)) as NSDateComponents? }
        case .postalAddresses: postalAddresses = Self.list(json) { CNPostalAddress(Self.fields($0)) }
        case .socialProfiles: socialProfiles = Self.list(json) { CNSocialProfile(Self.fields($0)) }
        case .instantMessageAddresses:
            instantMessageAddresses = Self.list(json) { CNInstantMessageAddress(Self.fields($0)) }
        case .extraProperties: card.extraProperties = json.elements?.compactMap(\.string) ?? []
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .creationDate, .modificationDate, .note, .thumbnailImageData,
            .imageData:
            card.setText(json.string ?? "", of: key)
        }
    }

    private static func text(_ json: JSONValue) -> String { json["value"]?.string ?? "" }

    private static func fields<Value: ContactValue>(_ json: JSONValue) -> Value {
        var value = Value()
        for field in Value.fields {
            guard let text = json[field.name]?.string else { continue }
            field.set(&value, text)
        }
        return value
    }

    private static func list<Value>(_ json: JSONValue, _ read: (JSONValue) -> Value?) -> [CNLabeledValue<Value>] {
        guard let elements = json.elements else { return [] }
        var list: [CNLabeledValue<Value>] = []
        list.reserveCapacity(json.count)
        for element in elements {
            guard let value = read(element) else { continue }
            let label = element["label"]?.string
            list.append(
                CNLabeledValue(
                    identifier: element["identifier"]?.string ?? RandomIdentifier.make(),
                    label: label?.isEmpty ?? true ? nil : label, value: value))
        }
        return list
    }

    // MARK: Writing

    /// Writes the Varlink type `Contact` with these keys, including keys without a value.
    func write(_ keys: ContactKeySet, isNamed: Bool = true, to writer: inout JSONWriter) {
        writer.beginObject()
        if isNamed { writer.member("identifier", identifier) }
        keys.forEach { key in
            writer.name(key.rawValue)
            write(key, to: &writer)
        }
        writer.endObject()
    }

    private func write(_ key: ContactKey, to writer: inout JSONWriter) {
        switch key {
        case .contactType: writer.value(card.contactType.rawValue)
        case .imageDataAvailable: writer.value(card.imageDataAvailable)
        case .birthday: writer.value(DateText.gregorian(birthday))
        case .nonGregorianBirthday: writer.value(DateText.nonGregorian(nonGregorianBirthday))
        case .phoneNumbers: Self.write(phoneNumbers, to: &writer) { $0.member("value", $1.stringValue) }
        case .emailAddresses: Self.write(emailAddresses, to: &writer) { $0.member("value", $1 as String) }
        case .urlAddresses: Self.write(urlAddresses, to: &writer) { $0.member("value", $1 as String) }
        case .contactRelations: Self.write(contactRelations, to: &writer) { $0.member("value", $1.name) }
        case .dates:
            Self.write(dates, to: &writer) { $0.member("value", DateText.gregorian($1 as DateComponents)) }
        case .postalAddresses: Self.write(postalAddresses, to: &writer) { Self.write($1.model, to: &$0) }
        case .socialProfiles: Self.write(socialProfiles, to: &writer) { Self.write($1.model, to: &$0) }
        case .instantMessageAddresses:
            Self.write(instantMessageAddresses, to: &writer) { Self.write($1.model, to: &$0) }
        case .extraProperties: writer.array(card.extraProperties) { $0.value($1) }
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .creationDate, .modificationDate, .note, .thumbnailImageData,
            .imageData:
            writer.value(card.text(of: key) ?? "")
        }
    }

    private static func write<Value: ContactValue>(_ value: Value, to writer: inout JSONWriter) {
        for field in Value.fields {
            let text = field.get(value)
            if field.isRequired || !text.isEmpty { writer.member(field.name, text) }
        }
    }

    private static func write<Value>(
        _ values: [CNLabeledValue<Value>], to writer: inout JSONWriter, _ write: (inout JSONWriter, Value) -> Void
    ) {
        writer.array(values) { writer, labeled in
            writer.beginObject()
            if isBrokers(labeled.identifier) { writer.member("identifier", labeled.identifier) }
            writer.member("label", labeled.label)
            write(&writer, labeled.value)
            writer.endObject()
        }
    }

    /// Whether the broker assigned this identifier to a value. Such an identifier ends with a number; in a
    /// unified contact, the linked contact's identifier and a slash precede the number. Identifiers that this
    /// library made mean nothing to the broker.
    private static func isBrokers(_ identifier: String) -> Bool {
        let number = identifier.utf8.split(separator: UInt8(ascii: "/")).last ?? identifier.utf8[...]
        return !number.isEmpty && number.count <= 18 && number.allSatisfy { (0x30...0x39).contains($0) }
    }
}
