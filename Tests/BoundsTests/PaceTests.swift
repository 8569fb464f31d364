import BrokerBounds
import Testing

@Suite("A pace for each key")
struct PaceTests {
    private struct Payer: Hashable {
        let user: Int
        let app: String
    }

    private static let second: Int64 = 1_000_000
    private let app = Payer(user: 1_000, app: "a")
    private let copy = Payer(user: 1_000, app: "copy")
    /// 200 in a second, and half a second ahead.
    private var pace = Pace<Payer>(LeakyBucket.Size(amount: 100, time: Self.second / 2))

    private mutating func add(_ amount: Int64, to payer: Payer, at seconds: Int64) {
        pace.add(amount, to: payer, now: seconds * Self.second) { $0.user == payer.user }
    }

    private func wait(of payer: Payer, at seconds: Int64) -> Int64 { pace.wait(of: payer, now: seconds * Self.second) }

    @Test("A key may be ahead by the size of the bucket; then it waits for what it adds beyond that")
    mutating func one() {
        #expect(wait(of: app, at: 5) == 0)
        add(100, to: app, at: 5)
        #expect(wait(of: app, at: 5) == 0)
        add(100, to: app, at: 5)
        #expect(wait(of: app, at: 5) == 500_000)
        #expect(wait(of: app, at: 6) == 0)
        // What the key did not use earlier does not count.
        add(200, to: app, at: 60)
        #expect(wait(of: app, at: 60) == 500_000)
    }

    @Test("Apps of one user share the pace, and each may still be ahead")
    mutating func shared() {
        for number in 0..<9 { add(200, to: Payer(user: 1_000, app: "\(number)"), at: 5) }
        add(20, to: app, at: 5)
        #expect(wait(of: app, at: 5) == 500_000)
        add(10, to: copy, at: 5)
        #expect(wait(of: copy, at: 5) == 50_000)
        // The others no longer share, because their buckets are empty.
        add(100, to: copy, at: 60)
        #expect(wait(of: copy, at: 60) == 0)
    }

    @Test("Another user does not share the pace")
    mutating func others() {
        for number in 0..<9 { add(1_000, to: Payer(user: 1_000, app: "\(number)"), at: 5) }
        for user in [1_001, 1_002] {
            let other = Payer(user: user, app: "a")
            add(100, to: other, at: 5)
            #expect(wait(of: other, at: 5) == 0)
        }
    }

    @Test("After as many inspections at once, the pace spreads the others evenly, and it recovers")
    func inspections() {
        var pace = Pace<Int>(LeakyBucket.Size(amount: 200, time: Self.second))
        func wait(after key: Int, at microseconds: Int64) -> Int64 {
            pace.add(1, to: key, now: microseconds)
            return pace.wait(of: key, now: microseconds)
        }
        for _ in 0..<200 { #expect(wait(after: 1, at: 0) == 0) }
        #expect(wait(after: 1, at: 0) == 5_000)
        #expect(wait(after: 1, at: 0) == 10_000)
        #expect(wait(after: 2, at: 0) == 0)
        #expect(wait(after: 1, at: 10_000) == 5_000)
        #expect(wait(after: 1, at: 3 * Self.second) == 0)
    }

    @Test("Frequent small steps of the clock drain as much as a single one, and never more than the rate")
    func rounding() {
        // An amount drains in seven and a bit units of time.
        let size = LeakyBucket.Size(amount: 137, time: 1_000)
        for step in [1, 3, 7, 8, 50] {
            var bucket = LeakyBucket(level: 10_000, at: 0)
            for now in stride(from: 0, through: 70_000, by: step) {
                bucket.drain(size, now: Int64(now))
                #expect(bucket.level >= 10_000 - Int64(now) * 137 / 1_000)
            }
            // Each time that something drains, less than one unit of time is lost by rounding.
            let longest = max(step, 8)
            #expect(bucket.level <= 10_000 - Int64((70_000 - 70_000 / longest) * 137 / 1_000) + 1)
        }
    }

    @Test("The wait is exact: before it, there is no space, and after it there is")
    func exact() {
        let size = LeakyBucket.Size(amount: 1_000_003, time: 3_600_000_000)
        var bucket = LeakyBucket(at: 17)
        bucket.add(1_500_000)
        let wait = bucket.wait(for: 1, size)
        var (early, late) = (bucket, bucket)
        early.drain(size, now: 17 + wait - 1)
        late.drain(size, now: 17 + wait)
        #expect(early.wait(for: 1, size) > 0 && late.wait(for: 1, size) == 0)
    }

    @Test("A clock that is set back drains nothing, and what is taken out makes room again")
    func clock() {
        let size = LeakyBucket.Size(amount: 100, time: 100)
        var bucket = LeakyBucket(level: 100, at: 1_000)
        bucket.drain(size, now: 10)
        #expect(bucket.level == 100 && bucket.wait(for: 1, size) == 1)
        bucket.drain(size, now: 40)
        #expect(bucket.level == 70 && bucket.drainedAt == 40)
        bucket.add(-200)
        #expect(bucket.level == 0)
        // Times and amounts far apart do not overflow.
        bucket.add(.max)
        bucket.drain(LeakyBucket.Size(amount: .max, time: 1), now: .max)
        #expect(bucket.level == 0)
    }
}
