/// The days that a report covers. A day begins and ends when its reader's clock shows midnight, because the times in the
/// report are those of this clock, too.
public struct ReportPeriod: Hashable, Sendable {
    /// When each day begins, and when the last one ends, in seconds since 1970.
    private let midnights: [Int64]
    private let dates: [String]

    /// - Parameters:
    ///   - midnights: when each day begins, and when the last one ends, in seconds since 1970, ascending.
    ///   - dates: the date of each day, such as `2026-01-31`; at least one, and one fewer than `midnights`.
    public init(midnights: [Int64], dates: [String]) {
        precondition(!dates.isEmpty && midnights.count == dates.count + 1, "a period has at least one day")
        (self.midnights, self.dates) = (midnights, dates)
    }

    /// The number of days.
    public var count: Int { dates.count }

    /// When the first day begins, in seconds since 1970.
    public var begin: Int64 { midnights[0] }

    /// When the last day has ended, in seconds since 1970.
    public var end: Int64 { midnights[count] }

    /// The place of a time's day among the days of the period; `nil` if the time is not in the period.
    public func day(of time: Int64) -> Int? {
        (begin..<end).contains(time) ? midnights.lastIndex { $0 <= time } : nil
    }

    /// The seconds since the day of a time began; `nil` if the time is not in the period.
    func sinceMidnight(_ time: Int64) -> Int64? { day(of: time).map { time - midnights[$0] } }

    /// The date of a day, such as `2026-01-31`.
    public func date(_ day: Int) -> String { dates[day] }
}
