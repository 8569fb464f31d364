/// Limits repeated messages, so that they neither hide others nor fill the disk. For each key it lets some messages
/// through, and reports the number of the further ones when a window of ``LogLimits/window`` ends.
///
/// It belongs to one event loop, which calls it and runs its timers.
public final class LogLimit<Key: Hashable> {
    private let perKey: Int
    private let keys: Int
    private let perOthers: Int
    private let later: (Duration, @escaping () -> Void) -> Void
    private let report: (Key?, Int) -> Void
    /// The messages in each open window. The key `nil` has those that are beyond ``keys``.
    private var counts: [Key?: Int] = [:]

    /// - Parameters:
    ///   - perKey: the messages of one key in one window.
    ///   - keys: the most keys that are tracked at once. All others share one window, with `perOthers` messages.
    ///   - later: runs a function after a time.
    ///   - report: gets the key, `nil` for the shared window, and how many messages were left out.
    public init(
        perKey: Int, keys: Int, perOthers: Int, later: @escaping (Duration, @escaping () -> Void) -> Void,
        report: @escaping (Key?, Int) -> Void
    ) {
        (self.perKey, self.keys, self.perOthers) = (perKey, keys, perOthers)
        (self.later, self.report) = (later, report)
    }

    /// Runs `log`, or only counts the message.
    public func say(_ key: Key, _ log: () -> Void) {
        let tracked = counts.count - (counts[nil] == nil ? 0 : 1)
        let key: Key? = counts[key] != nil || tracked < keys ? key : nil
        let count = counts[key, default: 0]
        counts[key] = count + 1
        if count == 0 { later(LogLimits.window) { [self] in close(key) } }
        if count < limit(key) { log() }
    }

    private func limit(_ key: Key?) -> Int { key == nil ? perOthers : perKey }

    private func close(_ key: Key?) {
        let left = (counts.removeValue(forKey: key) ?? 0) - limit(key)
        if left > 0 { report(key, left) }
    }
}
