import BrokerModel

/// The days that a report covers. A day begins and ends at midnight UTC, so that a report is the same wherever it is made.
public struct ReportPeriod: Hashable, Sendable {
    private static let secondsPerDay: Int64 = 86_400

    /// The first day, in days since 1970-01-01.
    private let first: Int64
    /// The number of days.
    public let count: Int

    /// - Parameters:
    ///   - time: a time on the last day, in seconds since 1970.
    ///   - count: the number of days, at least 1.
    public init(endingOnDayOf time: Int64, days count: Int) {
        precondition(count > 0, "a period has at least one day")
        self.count = count
        first = Self.day(time) - Int64(count) + 1
    }

    /// Rounds down, also before 1970.
    private static func day(_ time: Int64) -> Int64 {
        time / secondsPerDay - (time % secondsPerDay < 0 ? 1 : 0)
    }

    /// When the first day begins, in seconds since 1970.
    public var begin: Int64 { first * Self.secondsPerDay }

    /// When the last day has ended, in seconds since 1970.
    public var end: Int64 { begin + Int64(count) * Self.secondsPerDay }

    /// The place of a time's day among the days of the period; `nil` if the time is not in the period.
    public func day(of time: Int64) -> Int? {
        (begin..<end).contains(time) ? Int(Self.day(time) - first) : nil
    }

    /// The seconds since the day of a time began.
    static func sinceMidnight(_ time: Int64) -> Int64 { time - day(time) * secondsPerDay }

    /// The date of a day, such as `2026-01-31`.
    public func date(_ day: Int) -> String {
        String(Timestamp.text(seconds: begin + Int64(day) * Self.secondsPerDay).prefix(10))
    }
}
