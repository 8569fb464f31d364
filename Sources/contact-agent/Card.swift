import BrokerFormatting
import BrokerJSON
import BrokerModel

/// A contact's card, line by line. All text is safe for a terminal.
struct Card: Hashable, Sendable {
    struct Line: Hashable, Sendable {
        var key: String
        /// Identifies one of several values.
        var value: String?
        var label: String
        var text: String
        /// Whether this value can be picked.
        var canChoose: Bool
    }

    var name: String
    var lines: [Line]
    /// The contact itself; for a save, as it would be afterwards, or as it is before it is deleted.
    var contact = Contact()
    /// What the contact is now, if a save would change it.
    var former: Contact?
    /// What a save would do to the contact's photo.
    var photo: ContactDiff.Photo?
}

extension Card {
    /// - Parameter reply: the parameters of a reply to `Show`.
    /// - Returns: `nil` if they do not match the interface.
    init?(reply: JSONValue, _ names: LocalizedNames = .inEnglish) {
        guard let contact = reply["contact"].flatMap({ try? WireContact($0).contact }) else { return nil }
        self.init(contact, names, selectable: Set(reply["selectable"]?.strings ?? []))
        if let former = reply["former"], !former.isNull {
            guard let former = try? WireContact(former).contact else { return nil }
            self.former = former
        }
        photo = reply["photo"]?.string.flatMap(ContactDiff.Photo.init)
    }

    init(_ contact: Contact, _ names: LocalizedNames = .inEnglish, selectable: Set<String> = []) {
        let plainName = ShownText.line(NameFormatter(names: names).string(from: contact))
        name = names.isolated(plainName)
        self.contact = contact
        lines = []
        func add(_ key: ContactKey, _ value: Int?, _ label: String?, _ parts: [String]) {
            let text = parts.map(ShownText.line).filter { !$0.isEmpty }.joined(separator: ", ")
            guard !text.isEmpty else { return }
            lines.append(
                Line(
                    key: key.rawValue, value: value.map(String.init), label: Self.label(label, of: key, names),
                    text: names.isolated(text),
                    canChoose: selectable.contains(key.rawValue)))
        }
        for value in contact.phoneNumbers { add(.phoneNumbers, value.identifier, value.label, [value.value]) }
        for value in contact.emailAddresses { add(.emailAddresses, value.identifier, value.label, [value.value]) }
        for value in contact.postalAddresses {
            add(.postalAddresses, value.identifier, value.label, Self.parts(of: value, names))
        }
        let organization = [contact.jobTitle, contact.departmentName, contact.organizationName]
        for (key, text) in zip([ContactKey.jobTitle, .departmentName, .organizationName], organization) {
            // Leave out a text that is already shown as the card's name.
            if ShownText.line(text) != plainName { add(key, nil, nil, [text]) }
        }
        add(.nickname, nil, nil, [contact.nickname])
        add(.birthday, nil, nil, [contact.birthday])
        add(.nonGregorianBirthday, nil, nil, [contact.nonGregorianBirthday])
        for value in contact.dates { add(.dates, value.identifier, value.label, [value.value]) }
        for value in contact.urlAddresses { add(.urlAddresses, value.identifier, value.label, [value.value]) }
        for value in contact.contactRelations { add(.contactRelations, value.identifier, value.label, [value.value]) }
        for value in contact.socialProfiles {
            add(.socialProfiles, value.identifier, value.label, Self.parts(of: value, names))
        }
        for value in contact.instantMessageAddresses {
            add(.instantMessageAddresses, value.identifier, value.label, Self.parts(of: value, names))
        }
        add(.note, nil, nil, [contact.note])
        for line in contact.extraProperties { add(.extraProperties, nil, nil, [line]) }
        if contact.imageDataAvailable || !contact.imageData.isEmpty {
            lines.append(
                Line(
                    key: "imageData", value: nil, label: Self.label(nil, of: .imageData, names),
                    text: names.text(.photoThere), canChoose: false))
        }
    }

    static func parts(of address: PostalAddress, _ names: LocalizedNames) -> [String] {
        PostalAddressFormatter(region: nil, language: names.language, style: .complete).lines(of: address)
    }

    static func parts(of profile: SocialProfile, _ names: LocalizedNames) -> [String] {
        [names.service(profile.service), profile.username, profile.urlString]
    }

    static func parts(of address: InstantMessageAddress, _ names: LocalizedNames) -> [String] {
        [names.service(address.service), address.username]
    }

    /// What is shown before a value: its label, or the key's name if it has none.
    static func label(_ label: String?, of key: ContactKey, _ names: LocalizedNames) -> String {
        names.isolated(ShownText.line(label.flatMap { $0.isEmpty ? nil : names.label($0) } ?? names.key(key)))
    }
}
