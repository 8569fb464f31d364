import BrokerFormatting
import BrokerModel
import Glibc

extension LocalizedNames {
    /// A moment in few columns, in local time: of today the time, such as `09:20`, and else the day.
    ///
    /// - Parameter seconds: seconds since 1970.
    func moment(_ seconds: Int64) -> String {
        guard isToday(seconds) else { return day(seconds) }
        let local = Self.local(seconds)
        return "\(Timestamp.padded(Int(local.tm_hour), 2)):\(Timestamp.padded(Int(local.tm_min), 2))"
    }

    func isToday(_ seconds: Int64) -> Bool {
        let (then, now) = (Self.local(seconds), Self.local(Int64(time(nil))))
        return (then.tm_year, then.tm_yday) == (now.tm_year, now.tm_yday)
    }

    private static func local(_ seconds: Int64) -> tm {
        var (seconds, local) = (time_t(seconds), tm())
        localtime_r(&seconds, &local)
        return local
    }
}
