import BrokerModel
import Testing

@testable import BrokerNormalization

@Suite("Comparing names of cards that share an address or a number")
struct LinkNameTests {
    let normalizer: Normalizer
    init() throws { normalizer = try #require(Normalizer(locale: "")) }

    /// A card in short form: `prefix|given|middle|family|suffix`, then other keys as `key=value`.
    private static func card(_ text: String) -> Contact {
        var contact = Contact()
        var parts = text.split(separator: ";").map { $0.trimmingPrefix { $0 == " " } }
        if let name = parts.first, !name.contains("=") {
            let names = name.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            switch names.count {
            case 1: contact.givenName = names[0]
            case 2: (contact.givenName, contact.familyName) = (names[0], names[1])
            case 3: (contact.givenName, contact.middleName, contact.familyName) = (names[0], names[1], names[2])
            default:
                (contact.namePrefix, contact.givenName, contact.middleName) = (names[0], names[1], names[2])
                (contact.familyName, contact.nameSuffix) = (names[3], names.count > 4 ? names[4] : "")
            }
            parts.removeFirst()
        }
        for part in parts {
            let (key, value) = (part.prefix { $0 != "=" }, String(part.drop { $0 != "=" }.dropFirst()))
            if key == "type" { contact.contactType = ContactType(rawValue: value) ?? .person }
            if let key = ContactKey(rawValue: String(key)) { contact.setText(value, of: key) }
        }
        return contact
    }

    private enum Verdict: String { case same, likely, different }

    private func verdict(_ one: String, _ other: String) -> Verdict {
        guard let left = LinkName(Self.card(one), normalizer), let right = LinkName(Self.card(other), normalizer) else {
            return .different
        }
        return left.equals(right) ? .same : left.agrees(with: right) ? .likely : .different
    }

    @Test(
        "Equal names match however they are written",
        arguments: [
            ("Ada|Lovelace", "ADA|lovelace"), ("Zoë|Müller", "Zoe|Muller"), ("Ada Lovelace", "Ada|Lovelace"),
            ("Ada|King|Lovelace", "Ada King|Lovelace"), ("Anna-Maria|Weiß", "Anna Maria|Weiss"),
            ("Mum", "nickname=Mum"), ("nickname=Bob", "nickname=bob"), ("王小明", "王|小明"), ("Иван|Петров", "иван|петров"),
            ("O'Brien", "O’Brien"), ("Dr.|John||Smith", "|John||Smith|PhD"),
            ("type=organization;organizationName=ACME GmbH", "organizationName=Acme GmbH"),
            // A person's organisation does not count as their name.
            ("Ada|Lovelace;organizationName=Acme", "Ada|Lovelace;organizationName=Other"),
            ("John|Smith;birthday=1980-02-01", "John|Smith;birthday=--02-01"),
            ("John|Smith;birthday=1980-02-01", "John|Smith"),
        ])
    func equal(one: String, other: String) {
        #expect(verdict(one, other) == .same)
        #expect(verdict(other, one) == .same)
    }

    @Test(
        "An initial, a nickname, a former name or a missing middle name is a likely match",
        arguments: [
            ("J.|Smith", "John|Smith"), ("J. R.|Tolkien", "John Ronald|Tolkien"), ("John|Q.|Smith", "John|Smith"),
            ("John|Q.|Smith", "John|Quincy|Smith"), ("Robert|Smith;nickname=Bob", "Bob|Smith"),
            ("Robert|Smith;nickname=Bob", "|Smith;nickname=Bob"), ("Anna|Weiß;previousFamilyName=Huber", "Anna|Huber"),
            ("И.|Петров", "Иван|Петров"), ("Mr.|J.||Smith|", "|John||Smith|"),
        ])
    func likely(one: String, other: String) {
        #expect(verdict(one, other) == .likely)
        #expect(verdict(other, one) == .likely)
    }

    @Test(
        "Different people who share a number do not match",
        arguments: [
            ("John|Smith", "Jane|Smith"), ("John|Smith", "|Smith"), ("John", "John|Smith"), ("J.|Smith", "|Smith"),
            ("J.|Smith", "Kate|Smith"), ("Mr.|A.||Smith|", "Mrs.|Anna||Smith|"), ("John|Smith", "John|Jones"),
            ("Hans|Huber", "Hans Peter|Huber"), ("Hans|A.|Huber", "Hans|B.|Huber"),
            ("|John||Smith|Sr.", "|John||Smith|Jr."),
            ("John|Smith", "|John||Smith|III"), ("John|Smith;birthday=1950-02-01", "John|Smith;birthday=1980-02-01"),
            ("John|Smith;birthday=--02-01", "John|Smith;birthday=1980-03-01"),
            ("Robert|Smith;nickname=Bob", "Richard|Smith;nickname=Bob"), ("明|王", "明华|王"), ("John|Smith", "Smith|John"),
            // A card without a name can belong to anybody.
            ("", "John|Smith"), ("", ""), ("", "organizationName=Acme"), ("jobTitle=Cook", "jobTitle=Cook"),
            // All employees' cards can have the organisation's number.
            ("organizationName=Acme", "Ada|Lovelace;organizationName=Acme"),
            ("type=organization;organizationName=Acme", "Acme"), ("type=organization", "type=organization"),
            ("organizationName=Acme", "organizationName=Acme Repairs"), ("organizationName=A", "organizationName=Acme"),
        ])
    func different(one: String, other: String) {
        #expect(verdict(one, other) == .different)
        #expect(verdict(other, one) == .different)
    }

    @Test("A name that is too long does not match")
    func bound() {
        let long = String(repeating: "x", count: 513)
        #expect(verdict(long, long) == .different)
        #expect(verdict(String(long.dropLast()), String(long.dropLast())) == .same)
    }

    @Test("An address for a function identifies no person")
    func roles() {
        for address in ["info@example.org", "no-reply@example.org", "sales+uk@example.org", "büro@example.de"] {
            #expect(EmailMatchKey.isOfRole(address))
        }
        for address in ["ada@example.org", "infomaniac@example.org", "", "ada.info@example.org"] {
            #expect(!EmailMatchKey.isOfRole(address))
        }
    }
}
