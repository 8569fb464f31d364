import CommandOutput
import ContactsModel
import Formatting
import JSON

/// Contacts as they are printed.
enum ContactCard {
    static func name(_ contact: Contact) -> String { Speech.clean(NameFormatter().string(from: contact)) }

    /// One contact a line, under headings.
    static func table(_ contacts: [WireContact], withIdentifiers: Bool) -> [String] {
        var table = Table(["NAME", "PHONE", "E-MAIL"] + (withIdentifiers ? ["IDENTIFIER"] : []))
        for contact in contacts {
            table.add(
                [
                    name(contact.contact), contact.contact.phoneNumbers.first?.value ?? "",
                    contact.contact.emailAddresses.first?.value ?? "",
                ] + (withIdentifiers ? [contact.identifier ?? ""] : []))
        }
        return table.lines
    }

    /// JSON for scripts, as the broker writes contacts; one a line.
    static func json(_ contacts: [WireContact]) -> String {
        guard !contacts.isEmpty else { return "[]" }
        let lines = contacts.map { contact in
            var writer = JSONWriter()
            contact.write(to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }

    /// Everything that a contact says.
    static func lines(_ wire: WireContact) -> [String] {
        let contact = wire.contact
        var lines = [name(contact)]
        func add(_ name: String, _ value: String) {
            // A note or a street of several lines stays so.
            let parts = value.split(separator: "\n").map { Speech.clean(String($0)) }.filter { !$0.isEmpty }
            for (place, part) in parts.enumerated() {
                lines.append("  " + DisplayText.cell(place == 0 ? name : "", columns: 14) + "  " + part)
            }
        }
        func add(_ name: String, _ values: [LabeledString]) {
            for value in values { add(LabeledArgument.word(value.label) ?? name, value.value) }
        }
        add("nickname", contact.nickname)
        add("born as", contact.previousFamilyName)
        add(
            "sounds like",
            [contact.phoneticGivenName, contact.phoneticMiddleName, contact.phoneticFamilyName].joined(" "))
        add("organization", contact.contactType == .organization ? "" : contact.organizationName)
        add("department", contact.departmentName)
        add("title", contact.jobTitle)
        add("phone", contact.phoneNumbers)
        add("e-mail", contact.emailAddresses)
        for address in contact.postalAddresses {
            let city = [address.postalCode, address.city, address.state].joined(" ")
            add(
                LabeledArgument.word(address.label) ?? "address",
                [address.street, address.subLocality, city, address.subAdministrativeArea, address.country].joined("\n")
            )
        }
        add("web", contact.urlAddresses)
        for profile in contact.socialProfiles {
            add(
                profile.service.isEmpty ? "profile" : profile.service,
                [profile.username, profile.urlString].joined(" "))
        }
        for address in contact.instantMessageAddresses {
            add(address.service.isEmpty ? "message" : address.service, address.username)
        }
        add("birthday", contact.birthday)
        add("birthday", contact.nonGregorianBirthday)
        for date in contact.dates { add(LabeledArgument.word(date.label) ?? "date", date.value) }
        add("related", contact.contactRelations)
        add("picture", contact.imageDataAvailable ? "yes" : "")
        add("note", contact.note)
        add("identifier", wire.identifier ?? "")
        return lines
    }
}

extension [String] {
    /// What is not empty, with this between.
    fileprivate func joined(_ separator: String) -> String { filter { !$0.isEmpty }.joined(separator: separator) }
}
