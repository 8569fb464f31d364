import BrokerBounds
import Testing

@Suite("Limits on messages")
struct LogLimitTests {
    /// Messages that were let through, and counts that were reported.
    private final class Lines {
        var lines: [String] = []
        var timers: [() -> Void] = []

        func limit(perKey: Int, keys: Int, perOthers: Int) -> LogLimit<String> {
            LogLimit(perKey: perKey, keys: keys, perOthers: perOthers) { delay, body in
                #expect(delay == LogLimits.window)
                self.timers.append(body)
            } report: {
                self.lines.append("\($1) of \($0 ?? "others")")
            }
        }

        func endWindows() {
            let ended = timers
            timers = []
            for timer in ended { timer() }
        }
    }

    @Test("Each message is logged once, repeats are counted, and so are messages beyond the number of keys")
    func once() {
        let journal = Lines()
        let limit = journal.limit(perKey: 1, keys: 64, perOthers: 0)
        for number in 0..<1_000 { limit.say("\(number)") { journal.lines.append("\(number)") } }
        #expect(journal.lines == (0..<64).map { "\($0)" })
        limit.say("0") { journal.lines.append("again") }
        journal.lines = []
        journal.endWindows()
        #expect(journal.lines.sorted() == ["1 of 0", "936 of others"])
        journal.endWindows()
        #expect(journal.lines.count == 2 && journal.timers.isEmpty)
        // After that, the message is logged at once again.
        limit.say("0") { journal.lines.append("again") }
        #expect(journal.lines.last == "again")
    }

    @Test("Several messages of a key may pass, and all further keys share one allowance")
    func several() {
        let journal = Lines()
        let limit = journal.limit(perKey: 2, keys: 2, perOthers: 2)
        for key in ["a", "b", "c", "d"] {
            for _ in 0..<3 { limit.say(key) { journal.lines.append(key) } }
        }
        #expect(journal.lines == ["a", "a", "b", "b", "c", "c"])
        journal.endWindows()
        #expect(journal.lines.dropFirst(6).sorted() == ["1 of a", "1 of b", "4 of others"])
    }
}
