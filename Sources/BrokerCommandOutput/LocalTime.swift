import BrokerModel
import Glibc

/// Formats and reads times in the local time zone.
public enum LocalTime {
    /// Formats an interface timestamp (`2026-03-01T12:00:00Z`) as `2026-03-01 13:00`. Other text is returned unchanged.
    public static func text(_ moment: String, withSeconds: Bool = false) -> String {
        guard moment.hasSuffix("Z"), let seconds = Timestamp.seconds(moment) else { return moment }
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return moment }
        let year = String(parts.tm_year + 1_900)
        return "\(year)-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
            + " \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min))"
            + (withSeconds ? ":\(twoDigits(parts.tm_sec))" : "")
    }

    /// Reads a time as ``text(_:withSeconds:)`` formats it, or a date, which stands for its beginning, in the local time
    /// zone. A `T` may separate date and time. A time that ends in `Z` or an offset such as `+01:00` is in that zone.
    ///
    /// - Returns: seconds since 1970; `nil` if the text is no time.
    public static func seconds(_ text: String) -> Int64? {
        let (date, rest) = (text.prefix(10), text.dropFirst(10))
        guard !rest.isEmpty else { return Timestamp.seconds("\(date)T00:00:00Z").flatMap(ofLocalClock) }
        guard rest.first == "T" || rest.first == " " else { return nil }
        let time = rest.dropFirst()
        let clock = time.prefix { $0.isNumber || $0 == ":" }
        let seconds = clock.utf8.count == 5 ? ":00" : ""
        guard let read = Timestamp.seconds("\(date)T\(clock)\(seconds)Z") else { return nil }
        switch time.dropFirst(clock.count) {
        case "": return ofLocalClock(read)
        case "Z": return read
        case let zone:
            guard zone.first == "+" || zone.first == "-", zone.utf8.count == 6,
                let offset = Timestamp.seconds("1970-01-01T\(zone.dropFirst()):00Z")
            else { return nil }
            return zone.first == "+" ? read - offset : read + offset
        }
    }

    /// The name of the local time zone at a time, such as `CET`.
    public static func zone(at seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "" }
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, "%Z", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns when local days begin, and when the last one ends.
    ///
    /// - Parameters:
    ///   - time: a time on the last day, in seconds since 1970.
    ///   - count: the number of days, at least 1.
    /// - Returns: the midnights in seconds since 1970, one more than dates, and the dates, such as `2026-01-31`.
    public static func days(endingOnDayOf time: Int64, count: Int) -> (midnights: [Int64], dates: [String]) {
        var days: (midnights: [Int64], dates: [String]) = ([], [])
        // The noon of a day is on that day in every zone, whatever happens to its clock.
        let noon = Timestamp.seconds("\(text(Timestamp.text(seconds: time)).prefix(10))T12:00:00Z") ?? time
        for place in (1 - count)...1 {
            let date = String(Timestamp.text(seconds: noon + Int64(place) * 86_400).prefix(10))
            days.midnights.append(seconds(date) ?? time)
            if place < 1 { days.dates.append(date) }
        }
        return days
    }

    /// Returns when the local clock shows what a clock in UTC shows at this time.
    private static func ofLocalClock(_ seconds: Int64) -> Int64? {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return nil }
        // Whether it is summer time then, the database of time zones knows.
        parts.tm_isdst = -1
        let local = mktime(&parts)
        return local == -1 ? nil : Int64(local)
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
