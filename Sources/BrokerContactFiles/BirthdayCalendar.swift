import BrokerModel

/// Calculates the next occurrence of a birthday.
public struct BirthdayCalendar: Hashable, Sendable {
    public let year: Int
    public let month: Int
    public let day: Int

    /// - Parameter today: `YYYY-MM-DD`.
    public init?(today: String) {
        guard let date = CalendarDate(today), let year = date.year else { return nil }
        (self.year, month, day) = (year, date.month, date.day)
    }

    public struct Birthday: Hashable, Sendable {
        /// `YYYY-MM-DD`: today or later, within a year.
        public let next: String
        public let daysUntil: Int
        /// The age that the contact reaches on that day; `nil` if the year of birth is unknown or is after
        /// the year of ``next``.
        public let age: Int?
        /// Whether the birthday is 29 February but ``next`` is the 28th.
        public let isMoved: Bool
    }

    /// Returns the next occurrence of a birthday; `nil` if the text is not a date.
    ///
    /// A birthday on 29 February falls on the 28th in years without that day.
    public func next(_ birthday: String) -> Birthday? {
        guard let date = CalendarDate(birthday) else { return nil }
        let isOver = (date.month, celebrated(date, in: year)) < (month, day)
        let nextYear = isOver ? year + 1 : year
        let nextDay = celebrated(date, in: nextYear)
        return Birthday(
            next: "\(Self.digits(nextYear, 4))-\(Self.digits(date.month, 2))-\(Self.digits(nextDay, 2))",
            daysUntil: Self.days(nextYear, date.month, nextDay) - Self.days(year, month, day),
            age: date.year.flatMap { $0 <= nextYear ? nextYear - $0 : nil }, isMoved: nextDay != date.day)
    }

    private func celebrated(_ date: CalendarDate, in year: Int) -> Int {
        date.month == 2 && date.day == 29 && !Self.isLeap(year) ? 28 : date.day
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// Returns the number of days since 1 January of the year 1.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let before = year - 1
        let months = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        let leap = month > 2 && isLeap(year) ? 1 : 0
        return before * 365 + before / 4 - before / 100 + before / 400 + months[month - 1] + leap + day - 1
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
