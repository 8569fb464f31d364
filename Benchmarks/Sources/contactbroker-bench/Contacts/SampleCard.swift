import BrokerModel
import Glibc

/// Writes contacts to a file of vCards (RFC 6350), like an export from another program.
enum SampleCard {
    private static let types = ["_$!<Home>!$_": "home", "_$!<Work>!$_": "work", "_$!<Mobile>!$_": "cell"]

    /// Writes a file of the contacts with these numbers.
    static func writeFile(_ path: String, _ numbers: Range<Int>) throws {
        guard let file = fopen(path, "w") else { throw Failure(system: "could not write \(path)") }
        for number in numbers {
            let bytes = card(SampleContacts.contact(number))
            guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
                fclose(file)
                throw Failure(system: "could not write \(path)")
            }
        }
        guard fclose(file) == 0 else { throw Failure(system: "could not write \(path)") }
    }

    private static func card(_ contact: Contact) -> [UInt8] {
        var bytes: [UInt8] = []
        append("BEGIN:VCARD", to: &bytes)
        append("VERSION:4.0", to: &bytes)
        append("FN:" + escaped("\(contact.givenName) \(contact.familyName)"), to: &bytes)
        append("N:" + list([contact.familyName, contact.givenName, contact.middleName, "", ""]), to: &bytes)
        if !contact.organizationName.isEmpty {
            append("ORG:" + list([contact.organizationName, contact.departmentName]), to: &bytes)
            append("TITLE:" + escaped(contact.jobTitle), to: &bytes)
        }
        if !contact.birthday.isEmpty { append("BDAY:" + contact.birthday.filter { $0 != "-" }, to: &bytes) }
        for phone in contact.phoneNumbers { append("TEL" + type(phone) + ":" + escaped(phone.value), to: &bytes) }
        for mail in contact.emailAddresses { append("EMAIL" + type(mail) + ":" + escaped(mail.value), to: &bytes) }
        for address in contact.postalAddresses {
            let parts = ["", "", address.street, address.city, "", address.postalCode, address.country]
            append("ADR" + type(address) + ":" + list(parts), to: &bytes)
        }
        if !contact.note.isEmpty { append("NOTE:" + escaped(contact.note), to: &bytes) }
        append("END:VCARD", to: &bytes)
        return bytes
    }

    private static func type(_ value: some ContactValue) -> String {
        value.label.flatMap { types[$0] }.map { ";TYPE=" + $0 } ?? ""
    }

    private static func list(_ parts: [String]) -> String { parts.map(escaped).joined(separator: ";") }

    /// Escapes a text (RFC 6350 §3.4).
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if "\\,;".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }

    /// Appends a content line, folded at 75 bytes (RFC 6350 §3.2) and never within a character.
    private static func append(_ line: String, to bytes: inout [UInt8]) {
        var room = 75
        for scalar in line.unicodeScalars {
            let encoded = Array(String(scalar).utf8)
            if encoded.count > room {
                bytes += [0x0D, 0x0A, 0x20]
                room = 74
            }
            bytes += encoded
            room -= encoded.count
        }
        bytes += [0x0D, 0x0A]
    }
}
