import ArgumentParser
import BrokerCommandOutput
import BrokerModel

/// A time on the command line: a span relative to now, a date, or a date with a time.
enum Moment {
    /// A span in seconds.
    case span(Int64)
    case time(String)

    /// Parses `30m`, `12h`, `7d`, `2w`, `2026-01-31` or `2026-01-31T12:00:00Z`; returns `nil` for anything
    /// else.
    init?(_ text: String) {
        let units: [Character: Int64] = ["m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        if let unit = text.last.flatMap({ units[$0] }) {
            guard let count = Int64(text.dropLast()), (1...100_000).contains(count) else { return nil }
            self = .span(count * unit)
            return
        }
        let isDate = CalendarDate(String(text.prefix(10)))?.year != nil
        guard isDate, text.utf8.count == 10 || text.utf8.count == 20 && text.hasSuffix("Z") else { return nil }
        self = .time(text)
    }

    /// - Throws: `ValidationError` if there is a value and it is no time.
    static func check(_ value: String?, of option: String) throws {
        guard let value, Moment(value) == nil else { return }
        throw ValidationError("\(option) requires 30m, 12h, 7d, a date or a time, not \(Speech.clean(value))")
    }

    /// Returns `now` minus the span. `now` is in seconds since 1970. A fixed time is returned as typed.
    func before(_ now: Int64) -> String { at(now, -1) }

    /// Returns `now` plus the span. `now` is in seconds since 1970. A fixed time is returned as typed.
    func after(_ now: Int64) -> String { at(now, 1) }

    private func at(_ now: Int64, _ sign: Int64) -> String {
        switch self {
        case .span(let seconds): Timestamp.text(seconds: now + sign * seconds)
        case .time(let text): text
        }
    }
}
