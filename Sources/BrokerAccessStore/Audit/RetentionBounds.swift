import BrokerBounds

/// Retention removes whole sealed segments, the oldest first, and never the newest one.
extension RetentionBounds {
    static let day: Int64 = 86_400_000_000
    /// By age, nothing is removed until the clock has run for this long without a step of more than this, as the records
    /// show. A clock that is wrong for less than a week therefore removes nothing. The records after a longer pause, for
    /// example a holiday, look like such a step.
    static let steadyTime = 7 * day

    /// Returns how many segments, from the oldest on, are to be removed.
    ///
    /// - Parameters:
    ///   - sealed: oldest first.
    ///   - open: the records after them. It is never removed.
    ///   - now: microseconds since 1970.
    public func removable(_ sealed: [AuditSegment], open: AuditSegment?, now: Int64) -> Int {
        // Without an open segment, the last sealed one contains the newest records.
        let candidates = open == nil ? sealed.dropLast() : sealed[...]
        return max(old(candidates, in: sealed, open: open, now: now), tooMuch(candidates, in: sealed, open: open))
    }

    private func tooMuch(_ candidates: ArraySlice<AuditSegment>, in sealed: [AuditSegment], open: AuditSegment?) -> Int
    {
        guard let bytes else { return 0 }
        var left = sealed.reduce(open?.bytes ?? 0) { $0 + $1.bytes }
        var count = 0
        for segment in candidates where left > bytes {
            left -= segment.bytes
            count += 1
        }
        return count
    }

    private func old(
        _ candidates: ArraySlice<AuditSegment>, in sealed: [AuditSegment], open: AuditSegment?, now: Int64
    ) -> Int {
        guard let days, isSteady(sealed + (open.map { [$0] } ?? []), now: now) else { return 0 }
        let limit = now - Int64(days) * Self.day
        var count = 0
        var age = Int64.min
        for (place, segment) in candidates.enumerated() {
            // If the clock was ahead, the next segment shows it. If it was behind, an earlier segment does. If the clock was
            // behind in the next segment itself, that segment shows nothing.
            let next = place + 1 < sealed.count ? sealed[place + 1].begins : open?.begins ?? now
            age = max(age, next < age ? segment.ends : min(segment.ends, next))
            guard age < limit else { break }
            count += 1
        }
        return count
    }

    /// Whether the clock can be trusted: see ``steadyTime``.
    private func isSteady(_ segments: [AuditSegment], now: Int64) -> Bool {
        var steadySince = now
        for segment in segments.reversed() {
            let step = steadySince - segment.ends
            guard step <= Self.steadyTime, step >= -Self.day else { break }
            steadySince = min(steadySince, segment.begins)
        }
        return now - steadySince >= Self.steadyTime
    }
}
