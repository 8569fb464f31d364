import ArgumentParser
import BrokerCommandOutput
import BrokerModel

/// A time on the command line: a span relative to now, or a time as ``LocalTime`` reads it.
enum Moment {
    /// A span in seconds.
    case span(Int64)
    /// Seconds since 1970.
    case time(Int64)

    /// Parses `30m`, `12h`, `7d`, `2w`, or what ``LocalTime/seconds(_:)`` reads; returns `nil` for anything else.
    init?(_ text: String) {
        let units: [Character: Int64] = ["m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        if let unit = text.last.flatMap({ units[$0] }) {
            guard let count = Int64(text.dropLast()), (1...100_000).contains(count) else { return nil }
            self = .span(count * unit)
            return
        }
        guard let seconds = LocalTime.seconds(text) else { return nil }
        self = .time(seconds)
    }

    /// - Throws: `ValidationError` if there is a value and it is no time.
    static func check(_ value: String?, of option: String) throws {
        guard let value, Moment(value) == nil else { return }
        throw ValidationError(
            "\(option) requires 30m, 12h, 7d, a date, or a time such as '2026-01-31 12:00', not \(Speech.clean(value))")
    }

    /// Returns `now` minus the span, or the fixed time, as the interface writes it. `now` is in seconds since 1970.
    func before(_ now: Int64) -> String { at(now, -1) }

    /// Returns `now` plus the span, or the fixed time, as the interface writes it. `now` is in seconds since 1970.
    func after(_ now: Int64) -> String { at(now, 1) }

    private func at(_ now: Int64, _ sign: Int64) -> String {
        switch self {
        case .span(let seconds): Timestamp.text(seconds: now + sign * seconds)
        case .time(let seconds): Timestamp.text(seconds: seconds)
        }
    }
}
