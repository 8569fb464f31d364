import Contacts
import Foundation
import Testing

@Suite("Dates of other calendars")
struct CalendarTests {
    /// The calendars of Foundation that ICU computes; it computes the others as Gregorian ones.
    private static let computed: [Calendar.Identifier] = [
        .gregorian, .iso8601, .buddhist, .chinese, .dangi, .coptic, .ethiopicAmeteMihret, .ethiopicAmeteAlem, .hebrew,
        .indian, .islamic, .islamicCivil, .islamicTabular, .islamicUmmAlQura, .japanese, .persian, .republicOfChina,
    ]
    private static let others: [Calendar.Identifier] = [
        .vietnamese, .bangla, .gujarati, .kannada, .malayalam, .marathi, .odia, .tamil, .telugu, .vikram,
    ]

    /// The first is in a Chinese leap month, and the last in the era before the present Japanese one.
    private static let days = ["2025-07-30", "1989-12-10", "2024-02-29", "1912-03-01"]

    private static func components(of day: String, in identifier: Calendar.Identifier) throws -> DateComponents {
        var calendar = Calendar(identifier: identifier)
        calendar.timeZone = .gmt
        let date = try #require(ISO8601DateFormatter().date(from: day + "T12:00:00Z"))
        var components = calendar.dateComponents([.era, .year, .month, .day], from: date)
        components.calendar = Calendar(identifier: identifier)
        return components
    }

    private static func lines(of contact: CNContact) throws -> [String] {
        String(decoding: try CNContactVCardSerialization.data(with: [contact], version: .v4), as: UTF8.self)
            .components(separatedBy: "\r\n")
    }

    private static func dated(_ components: DateComponents) -> CNMutableContact {
        let contact = CNMutableContact()
        contact.birthday = components
        contact.dates = [CNLabeledValue(label: CNLabelDateAnniversary, value: components as NSDateComponents)]
        return contact
    }

    @Test("A birthday and a date are saved as the same day of the Gregorian calendar", arguments: computed, days)
    func converted(identifier: Calendar.Identifier, day: String) throws {
        let lines = try Self.lines(of: Self.dated(Self.components(of: day, in: identifier)))
        let basic = day.replacing("-", with: "")
        #expect(lines.contains("BDAY:\(basic)") && lines.contains("ANNIVERSARY:\(basic)"))
    }

    @Test("Without a year, a date is converted only if the calendar has the Gregorian months", arguments: computed)
    func withoutYear(identifier: Calendar.Identifier) throws {
        let contact = Self.dated(DateComponents(calendar: Calendar(identifier: identifier), month: 8, day: 15))
        if [.gregorian, .iso8601, .buddhist, .japanese, .republicOfChina].contains(identifier) {
            #expect(try Self.lines(of: contact).contains("BDAY:--0815"))
        } else {
            let error = #expect(throws: CNError.self) { try Self.lines(of: contact) }
            #expect(error?.keyPaths == ["birthday"])
        }
    }

    @Test("A day that does not exist, or is before the year 1, is refused")
    func refused() {
        for wrong in [
            DateComponents(calendar: Calendar(identifier: .buddhist), year: 2568, month: 2, day: 30),
            DateComponents(calendar: Calendar(identifier: .hebrew), year: 5785, month: 14, day: 1),
            DateComponents(calendar: Calendar(identifier: .gregorian), era: 0, year: 44, month: 3, day: 15),
            DateComponents(calendar: Calendar(identifier: .buddhist), year: 500, month: 3, day: 15),
            DateComponents(calendar: Calendar(identifier: .tamil), year: 500, month: 3, day: 15),
        ] {
            #expect(throws: CNError.self) { try Self.lines(of: Self.dated(wrong)) }
        }
    }

    @Test("A birthday in another calendar comes back whole", arguments: computed.dropFirst(2) + others, days)
    func whole(identifier: Calendar.Identifier, day: String) throws {
        let given =
            Self.others.contains(identifier)
            ? DateComponents(calendar: Calendar(identifier: identifier), era: 1, year: 2025, month: 7, day: 30)
            : try Self.components(of: day, in: identifier)
        let contact = CNMutableContact()
        contact.nonGregorianBirthday = given
        let archive = try NSKeyedArchiver.archivedData(withRootObject: contact, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: CNMutableContact.self, from: archive)
        #expect(decoded?.nonGregorianBirthday == given)
        for version in [CNContactVCardSerialization.Version.v3, .v4] {
            let card = try CNContactVCardSerialization.data(with: [contact], version: version)
            #expect(try CNContactVCardSerialization.contacts(with: card).map(\.nonGregorianBirthday) == [given])
        }
    }
}
