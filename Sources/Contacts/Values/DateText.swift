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
        ("dangi", .dangi), ("vietnamese", .vietnamese), ("bangla", .bangla), ("gujarati", .gujarati),
        ("kannada", .kannada), ("malayalam", .malayalam), ("marathi", .marathi), ("odia", .odia), ("tamil", .tamil),
        ("telugu", .telugu), ("vikram", .vikram), ("coptic", .coptic), ("ethiopic", .ethiopicAmeteMihret),
        ("ethioaa", .ethiopicAmeteAlem),
        ("islamicc", .islamicCivil), ("ethiopic-amete-alem", .ethiopicAmeteAlem),
    ]

    static func components(gregorian text: String) -> DateComponents? {
        guard let date = CalendarDate(text) else { return nil }
        return DateComponents(calendar: gregorianCalendar, year: date.year, month: date.month, day: date.day)
    }

    static func components(nonGregorian text: String) -> DateComponents? {
        guard let other = NonGregorianDate(text) else { return nil }
        // A date in a calendar that is not in the table yields no components.
        guard let identifier = calendars.first(where: { $0.name == other.calendar })?.identifier else { return nil }
        var components = DateComponents(
            calendar: Calendar(identifier: identifier), era: other.era, year: other.date.year, month: other.date.month,
            day: other.date.day)
        if other.isLeapMonth { components.isLeapMonth = true }
        return components
    }

    /// Returns the date string; empty for `nil`. A date of another calendar is converted. If that is not possible, the
    /// result is a date string of that calendar. This does not check a Gregorian date. The broker checks all dates, and
    /// returns an error that says why the date is not valid.
    static func gregorian(_ components: DateComponents?) -> String {
        guard let components else { return "" }
        return converted(components).map(date) ?? nonGregorian(components)
    }

    /// Returns the date string; empty for `nil`. A calendar that is not in the table above is written as
    /// `gregorian`.
    static func nonGregorian(_ components: DateComponents?) -> String {
        guard let components else { return "" }
        let identifier = components.calendar?.identifier
        let name = calendars.first { $0.identifier == identifier }?.name ?? "gregorian"
        let era = components.era.flatMap { $0 == NSDateComponentUndefined ? nil : "e\($0)-" } ?? ""
        let date = date(components)
        return name + ":" + era + (components.isLeapMonth == true ? date.dropLast(3) + "L" + date.suffix(3) : date)
    }

    /// Converts a date to the Gregorian calendar.
    ///
    /// - Returns: `nil` if the date does not exist in its calendar, is before the year 1, or has no year that its month
    ///   depends on.
    private static func converted(_ components: DateComponents) -> DateComponents? {
        let era = components.era.flatMap { $0 == NSDateComponentUndefined ? nil : $0 }
        let year = components.year.flatMap { $0 == NSDateComponentUndefined ? nil : $0 }
        let identifier = components.calendar?.identifier ?? .gregorian
        switch identifier {
        case .gregorian, .iso8601: return era == nil || era == 1 ? components : nil
        // These have the Gregorian months.
        case .buddhist, .japanese, .republicOfChina: if year == nil { return components }
        default: break
        }
        guard let year else { return nil }
        var (calendar, target) = (Calendar(identifier: identifier), gregorianCalendar)
        (calendar.timeZone, target.timeZone) = (.gmt, .gmt)
        var plain = DateComponents(era: era, year: year, month: components.month, day: components.day, hour: 12)
        plain.isLeapMonth = components.isLeapMonth
        guard let date = calendar.date(from: plain) else { return nil }
        let again = calendar.dateComponents([.era, .year, .month, .day], from: date)
        let converted = target.dateComponents([.era, .year, .month, .day], from: date)
        guard again.year == year, again.month == plain.month, again.day == plain.day, era == nil || again.era == era,
            again.isLeapMonth ?? false == plain.isLeapMonth ?? false, converted.era == 1
        else { return nil }
        return converted
    }

    private static func date(_ components: DateComponents) -> String {
        let year = components.year.flatMap { $0 == NSDateComponentUndefined ? nil : $0 }
        let day = "\(Timestamp.padded(components.month ?? 0, 2))-\(Timestamp.padded(components.day ?? 0, 2))"
        return year.map { Timestamp.padded($0, 4) + "-" + day } ?? "--" + day
    }
}
