import BrokerCommandOutput
import BrokerFormatting
import BrokerModel
import Contacts

/// Formats contacts for printing.
enum ContactCard {
    private static let names = PersonLocale.names
    private static let nameFormatter: NameFormatter = {
        var ordered = names
        let order = CNContactsUserDefaults.shared().displayNameOrder
        ordered.nameOrder = order == .familyNameFirst ? .familyNameFirst : .givenNameFirst
        return NameFormatter(names: ordered)
    }()

    static func name(_ contact: Contact) -> String { Speech.clean(nameFormatter.string(from: contact)) }

    /// A table with one contact per line, under headings.
    static func table(_ contacts: [WireContact], withIdentifiers: Bool) -> [String] {
        var table = Table(
            [names.text(.columnName), names.text(.columnPhone), names.text(.columnEmail)]
                + (withIdentifiers ? [names.text(.columnIdentifier)] : []))
        for contact in contacts {
            table.add(
                [
                    name(contact.contact), contact.contact.phoneNumbers.first?.value ?? "",
                    contact.contact.emailAddresses.first?.value ?? "",
                ] + (withIdentifiers ? [contact.identifier ?? ""] : []))
        }
        return table.lines
    }

    /// All printable values of a contact.
    static func lines(_ wire: WireContact) -> [String] {
        let contact = wire.contact
        var lines = [name(contact)]
        func add(_ name: String, _ value: String) {
            // Notes and streets keep their line breaks.
            let parts = value.split(separator: "\n").map { Speech.clean(String($0)) }.filter { !$0.isEmpty }
            for (place, part) in parts.enumerated() {
                lines.append("  " + DisplayText.cell(place == 0 ? name : "", columns: 14) + "  " + part)
            }
        }
        func add(_ key: ContactKey, _ value: String) { add(names.key(key), value) }
        func add(_ key: ContactKey, _ values: [LabeledString], as shown: (String) -> String = { $0 }) {
            for value in values { add(label(value.label, key), shown(value.value)) }
        }
        add(.nickname, contact.nickname)
        add(names.text(.bornAs), contact.previousFamilyName)
        add(names.text(.soundsLike), ContactNameFormatter(style: .phonetic).string(from: contact) ?? "")
        add(.organizationName, contact.contactType == .organization ? "" : contact.organizationName)
        add(.departmentName, contact.departmentName)
        add(.jobTitle, contact.jobTitle)
        add(.phoneNumbers, contact.phoneNumbers, as: PhoneNumberFormatter(region: PersonLocale.phoneRegion).string)
        add(.emailAddresses, contact.emailAddresses)
        let addresses = PostalAddressFormatter(
            region: PersonLocale.addressRegion, language: names.language, style: .complete)
        for address in contact.postalAddresses {
            add(label(address.label, .postalAddresses), addresses.lines(of: address).joined(separator: "\n"))
        }
        add(.urlAddresses, contact.urlAddresses)
        for profile in contact.socialProfiles {
            add(
                profile.service.isEmpty ? names.key(.socialProfiles) : names.service(profile.service),
                [profile.username, profile.urlString].filter { !$0.isEmpty }.joined(separator: " "))
        }
        for address in contact.instantMessageAddresses {
            add(
                address.service.isEmpty ? names.key(.instantMessageAddresses) : names.service(address.service),
                address.username)
        }
        add(.birthday, contact.birthday)
        add(.birthday, contact.nonGregorianBirthday)
        for date in contact.dates { add(label(date.label, .dates), date.value) }
        add(.contactRelations, contact.contactRelations)
        add(.imageData, contact.imageDataAvailable ? names.text(.yes) : "")
        add(.note, contact.note)
        add(names.text(.identifier), wire.identifier ?? "")
        return lines
    }

    /// The heading of a value: its label, or the name of its key.
    private static func label(_ label: String?, _ key: ContactKey) -> String {
        label.flatMap { $0.isEmpty ? nil : names.label($0) } ?? names.key(key)
    }
}
