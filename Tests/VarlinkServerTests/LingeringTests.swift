import Glibc
import Testing

@testable import BrokerVarlinkServer

@Suite("Busy-waiting for the next call")
struct LingeringTests {
    @Test("The loop busy-waits while calls arrive in time")
    func pays() {
        var lingering = Lingering()
        lingering.ended(found: true)
        for _ in 1...10_000 {
            let begins = lingering.begins()
            #expect(begins)
            lingering.ended(found: true)
        }
    }

    @Test("If no call arrives, busy-waiting soon stops, and is tried again once in hundreds of replies")
    func givenUp() {
        var lingering = Lingering()
        for _ in 1...100 { lingering.ended(found: true) }
        var tried = 0
        for _ in 1...10_000 where lingering.begins() {
            tried += 1
            lingering.ended(found: false)
        }
        #expect(tried <= 32 + 10_000 / 512)
        #expect(tried >= 10_000 / 513)
    }

    @Test("One call in time out of four is enough to continue")
    func someInTime() {
        var lingering = Lingering()
        lingering.ended(found: true)
        for reply in 1...10_000 {
            let begins = lingering.begins()
            #expect(begins)
            lingering.ended(found: reply.isMultiple(of: 4))
        }
    }

    @Test("One call in time restarts busy-waiting")
    func begunAnew() {
        var lingering = Lingering()
        var replies = 0
        repeat { replies += 1 } while !lingering.begins()
        #expect(replies == 512)
        lingering.ended(found: true)
        let begins = lingering.begins()
        #expect(begins)
    }
}

@Suite("The duration of busy-waiting")
struct LingeringWindowTests {
    @Test("It grows with the reply's size, and stays below half a millisecond")
    func window() {
        #expect(Lingering.window(after: 0) == .microseconds(80))
        #expect(Lingering.window(after: 10_000) == .microseconds(160))
        #expect(Lingering.window(after: 40_000) == .microseconds(400))
        #expect(Lingering.window(after: 40_001) == .microseconds(400))
        #expect(Lingering.window(after: .max) == .microseconds(400))
    }
}

@Suite("Detecting a single client")
struct AudienceTests {
    private let ada: pid_t = 4_711
    private let bob: pid_t = 4_712

    private func expect(_ isOne: Bool, _ audience: inout Audience, at place: SourceLocation = #_sourceLocation) {
        let found = audience.isOne()
        #expect(found == isOne, sourceLocation: place)
    }

    @Test("A single client is detected from the second iteration on, even after iterations without replies")
    func alone() {
        var audience = Audience()
        audience.answered(ada)
        expect(false, &audience)
        for _ in 1...3 {
            expect(false, &audience)
            audience.answered(ada)
            audience.answered(ada)
            expect(true, &audience)
        }
    }

    @Test("Two clients are not a single one, whether in one iteration or alternating")
    func two() {
        var audience = Audience()
        for _ in 1...2 {
            audience.answered(ada)
            audience.answered(bob)
            audience.answered(ada)
            expect(false, &audience)
        }
        audience.answered(ada)
        expect(false, &audience)
        audience.answered(bob)
        expect(false, &audience)
        audience.answered(bob)
        expect(true, &audience)
    }
}
