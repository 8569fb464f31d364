import BrokerBounds
import Testing

@Suite("Sliding windows and doubling waits")
struct SlidingWindowTests {
    @Test("A sliding window counts what happened within the period, and says when it has space again")
    func window() {
        var window = SlidingWindow()
        let take = { (now: Int64) in window.take(2, within: .seconds(1), now: now) }
        #expect(take(0) == nil)
        #expect(take(400_000) == nil)
        #expect(take(700_000) == .milliseconds(300))
        #expect(take(999_999) == .microseconds(1))
        #expect(take(1_000_000) == nil)
        #expect(take(1_000_000) == .milliseconds(400))
    }

    @Test(
        "A wait doubles up to its bound",
        arguments: [(-1, 0), (0, 0), (1, 5), (2, 10), (3, 20), (7, 320), (8, 600), (1_000_000, 600)])
    func doubling(count: Int, seconds: Int) {
        #expect(DoublingWait.after(count, first: .seconds(5), longest: .seconds(600)) == .seconds(seconds))
    }
}
