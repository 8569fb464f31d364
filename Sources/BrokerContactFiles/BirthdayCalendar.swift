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
        let padded = Timestamp.padded
        let nextDay = celebrated(date, in: nextYear)
        return Birthday(
            next: "\(padded(nextYear, 4))-\(padded(date.month, 2))-\(padded(nextDay, 2))",
            daysUntil: Timestamp.days(year: nextYear, month: date.month, day: nextDay)
                - Timestamp.days(year: year, month: month, day: day),
            age: date.year.flatMap { $0 <= nextYear ? nextYear - $0 : nil }, isMoved: nextDay != date.day)
    }

    private func celebrated(_ date: CalendarDate, in year: Int) -> Int {
        date.month == 2 && date.day == 29 && !CalendarDate.isLeap(year) ? 28 : date.day
    }
}
