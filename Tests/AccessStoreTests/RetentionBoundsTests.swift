import BrokerBounds
import Testing

@testable import BrokerAccessStore

@Suite("Which segments of the audit retention removes")
struct RetentionBoundsTests {
    private static let day: Int64 = 86_400_000_000
    /// 2026-01-01 00:00.
    private static let new: Int64 = 1_767_225_600_000_000

    /// A segment of ten hours on each day, of 1,000 bytes.
    private func segments(_ days: [Int]) -> [AuditSegment] {
        days.enumerated().map { place, day in
            let begins = Self.new + Int64(day) * Self.day
            return AuditSegment(
                last: AuditPosition(sequence: Int64(place + 1) * 10, hash: []), begins: begins,
                ends: begins + Self.day / 24 * 10, bytes: 1_000)
        }
    }

    /// How many segments are removed at noon of the last day, whose segment is open.
    private func removed(_ bounds: RetentionBounds, _ days: [Int], now: Int? = nil) -> Int {
        let all = segments(days)
        let noon = Self.new + Int64(now ?? days.last ?? 0) * Self.day + Self.day / 2
        return bounds.removable(Array(all.dropLast()), open: all.last, now: noon)
    }

    @Test("Without a bound nothing is removed")
    func unbounded() { #expect(removed(RetentionBounds(), Array(0...2_000)) == 0) }

    @Test("By age, a segment is removed once all of it is older than the bound")
    func age() {
        let bounds = RetentionBounds(days: 30)
        // At noon of day 30, the segment of day 0 ended 30 days and two hours ago.
        #expect(removed(bounds, Array(0...29)) == 0)
        #expect(removed(bounds, Array(0...30)) == 1)
        #expect(removed(bounds, Array(0...100)) == 71)
        // The segment of day 70 ends at 10:00.
        let all = segments(Array(0...100))
        let now = Self.new + 100 * Self.day + Self.day / 24 * 10
        #expect(bounds.removable(Array(all.dropLast()), open: all.last, now: now) == 70)
    }

    @Test("By size, the oldest segments are removed until the others fit")
    func size() {
        #expect(removed(RetentionBounds(bytes: 10_000), Array(0..<10)) == 0)
        #expect(removed(RetentionBounds(bytes: 9_999), Array(0..<10)) == 1)
        #expect(removed(RetentionBounds(bytes: 3_500), Array(0..<10)) == 7)
        // The newest segment stays, however small the bound is.
        #expect(removed(RetentionBounds(bytes: 1), Array(0..<10)) == 9)
    }

    @Test("With both bounds, the stricter one decides")
    func both() {
        let days = Array(0...100)
        #expect(removed(RetentionBounds(days: 30, bytes: 50_000), days) == 71)
        #expect(removed(RetentionBounds(days: 30, bytes: 10_000), days) == 91)
    }

    @Test("The segment with the newest record stays, even if it is sealed")
    func newest() {
        let all = segments(Array(0...9))
        #expect(RetentionBounds(bytes: 1).removable(all, open: nil, now: Self.new) == 9)
        #expect(RetentionBounds(bytes: 1).removable([], open: nil, now: Self.new) == 0)
    }

    @Test("A clock that was set ahead removes nothing by age until it has run for a week")
    func clockAhead() {
        let bounds = RetentionBounds(days: 30)
        let usual = Array(0..<20)
        // Ten years ahead: at once, for six days, and for a week.
        #expect(removed(bounds, usual, now: 3_650) == 0)
        #expect(removed(bounds, usual + Array(3_650...3_656)) == 0)
        #expect(removed(bounds, usual + Array(3_650...3_657)) == 20)
        // Eight days ahead are too many, seven are not.
        let old = Array(-60...0)
        #expect(removed(bounds, old + [9]) == 0)
        #expect(removed(bounds, old + [7]) > 0)
        // The bound by size needs no clock.
        #expect(removed(RetentionBounds(bytes: 5_000), usual, now: 3_650) == 15)
    }

    @Test("A clock that was set ahead and back keeps later records no longer, and removes no record earlier")
    func clockAheadAndBack() {
        let bounds = RetentionBounds(days: 30)
        // The segment of the wrong day is as old as its neighbours.
        let days = Array(0...9) + [3_650] + Array(10...60)
        #expect(removed(bounds, days) == 32)
        // Right after the clock is set back, it is not trusted.
        #expect(removed(bounds, Array(0...60) + [3_650, 61]) == 0)
        #expect(removed(bounds, Array(0...60) + [3_650], now: 61) == 0)
    }

    @Test("A clock that was set back removes nothing early, also after it is right again")
    func clockBack() {
        let bounds = RetentionBounds(days: 30)
        #expect(removed(bounds, Array(0...60), now: -9_000) == 0)
        #expect(removed(bounds, Array(0...60) + [-9_000]) == 0)
        #expect(removed(bounds, Array(0...60) + Array(-9_000 ... -8_990)) == 0)
        // The segments from the year 2001 are as old as those before them: day 60, then the clock is right again.
        let days = Array(0...60) + Array(-9_000 ... -8_990) + Array(61...91)
        #expect(removed(bounds, days) == 61 + 11 + 1)
        #expect(removed(bounds, Array(0...60) + Array(-9_000 ... -8_990) + Array(61...89)) == 60)
    }

    @Test("A machine that was off for a month keeps its records for a week longer")
    func pause() {
        let bounds = RetentionBounds(days: 30)
        #expect(removed(bounds, Array(0...10) + [45]) == 0)
        #expect(removed(bounds, Array(0...10) + Array(45...51)) == 0)
        #expect(removed(bounds, Array(0...10) + Array(45...52)) == 11)
    }

    @Test("A segment is the records of one day, or of a part of a long day")
    func segments() {
        var segments = AuditSegments()
        func add(_ sequence: Int64, hours: Int64, bytes: Int64 = 100) {
            segments.add(
                AuditPosition(sequence: sequence, hash: []), time: Self.new + hours * Self.day / 24, bytes: bytes)
        }
        add(1, hours: 1)
        add(2, hours: 23)
        add(3, hours: 25)
        // A count from before midnight belongs to the new day.
        add(4, hours: 23)
        add(5, hours: 26)
        #expect(segments.sealed.map(\.last.sequence) == [2])
        #expect(segments.open?.last.sequence == 5 && segments.open?.bytes == 300)
        #expect(segments.open?.begins == Self.new + 23 * Self.day / 24)
        // The clock is set back and ahead.
        add(6, hours: -200)
        add(7, hours: 27)
        add(8, hours: 27, bytes: AuditSegment.mostBytes)
        add(9, hours: 27)
        #expect(segments.sealed.map(\.last.sequence) == [2, 5, 6, 8])
        #expect(segments.open?.last.sequence == 9)
    }
}
