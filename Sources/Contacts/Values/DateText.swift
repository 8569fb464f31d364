import BrokerModel
import Foundation

/// Converts between date components and the interface's date strings.
enum DateText {
    private static let gregorianCalendar = Calendar(identifier: .gregorian)

    /// BCP 47 names of calendars (CLDR, common/bcp47/calendar.xml). If a calendar has several names, the
    /// first one is written.
    private static let calendars: [(name: String, identifier: Calendar.Identifier)] = [
        ("chinese", .chinese), ("hebrew", .hebrew), ("islamic", .islamic), ("islamic-civil", .islamicCivil),
        ("islamic-tbla", .islamicTabular), ("islamic-umalqura", .islamicUmmAlQura), ("persian", .persian),
        ("indian", .indian), ("japanese", .japanese), ("roc", .republicOfChina), ("buddhist", .buddhist),
        ("coptic", .coptic), ("ethiopic", .ethiopicAmeteMihret), ("ethioaa", .ethiopicAmeteAlem),
        ("islamicc", .islamicCivil), ("ethiopic-amete-alem", .ethiopicAmeteAlem),
    ]

    static func components(gregorian text: String) -> DateComponents? {
        guard let date = CalendarDate(text) else { return nil }
        return DateComponents(calendar: gregorianCalendar, year: date.year, month: date.month, day: date.day)
    }

    static func components(nonGregorian text: String) -> DateComponents? {
        guard CalendarDate.isNonGregorian(text), let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon]
        // A date in a calendar that is not in the table yields no components.
        guard let identifier = calendars.first(where: { $0.name == name })?.identifier else { return nil }
        let numbers = text[text.index(after: colon)...].split(separator: "-").compactMap { Int($0) }
        guard numbers.count == 2 || numbers.count == 3 else { return nil }
        return DateComponents(
            calendar: Calendar(identifier: identifier), year: numbers.count == 3 ? numbers[0] : nil,
            month: numbers[numbers.count - 2], day: numbers[numbers.count - 1])
    }

    /// Returns the date string; empty for `nil`. This does not check the date, because the broker checks it
    /// and returns an error that says why the date is not valid.
    static func gregorian(_ components: DateComponents?) -> String {
        guard let components else { return "" }
        return date(components)
    }

    /// Returns the date string; empty for `nil`. A calendar that is not in the table above is written as
    /// `gregorian`.
    static func nonGregorian(_ components: DateComponents?) -> String {
        guard let components else { return "" }
        let identifier = components.calendar?.identifier
        let name = calendars.first { $0.identifier == identifier }?.name ?? "gregorian"
        return name + ":" + date(components)
    }

    private static func date(_ components: DateComponents) -> String {
        let year = components.year.flatMap { $0 == NSDateComponentUndefined ? nil : $0 }
        let day = "\(Timestamp.padded(components.month ?? 0, 2))-\(Timestamp.padded(components.day ?? 0, 2))"
        return year.map { Timestamp.padded($0, 4) + "-" + day } ?? "--" + day
    }
}
