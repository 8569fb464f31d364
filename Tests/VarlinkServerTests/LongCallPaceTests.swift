import Testing

@testable import BrokerVarlinkServer

@Suite("The pace of long calls", .timeLimit(.minutes(5)))
struct LongCallPaceTests {
    private static let second: Int64 = 1_000_000_000
    private let user = AccountOwner.user(1_000)
    private let app = AppAccount.Name.app("a")
    private let copy = AppAccount.Name.app("copy")

    private func time(_ seconds: Int64) -> Uptime { Uptime(nanoseconds: seconds * Self.second) }

    @Test("An app may be half a second ahead; then it waits for what it reads beyond that")
    func one() {
        var pace = LongCallPace(bytesPerSecond: 200)
        #expect(pace.wait(of: app, user, now: time(5)) <= .zero)
        pace.count(100, of: app, user, now: time(5))
        #expect(pace.wait(of: app, user, now: time(5)) == .zero)
        pace.count(100, of: app, user, now: time(5))
        #expect(pace.wait(of: app, user, now: time(5)) == .milliseconds(500))
        #expect(pace.wait(of: app, user, now: time(6)) <= .zero)
        // What the app did not use earlier does not count.
        pace.count(200, of: app, user, now: time(60))
        #expect(pace.wait(of: app, user, now: time(60)) == .milliseconds(500))
    }

    @Test("Apps of one user that send long calls share the pace, and each may still be ahead")
    func shared() {
        var pace = LongCallPace(bytesPerSecond: 200)
        for number in 0..<9 { pace.count(200, of: .app(number), user, now: time(5)) }
        pace.count(20, of: app, user, now: time(5))
        #expect(pace.wait(of: app, user, now: time(5)) == .milliseconds(500))
        pace.count(10, of: copy, user, now: time(5))
        #expect(pace.wait(of: copy, user, now: time(5)) == .milliseconds(50))
        // The others no longer share, because all of their bytes would have been read.
        pace.count(100, of: copy, user, now: time(60))
        #expect(pace.wait(of: copy, user, now: time(60)) == .zero)
    }

    @Test("Another user does not share the pace")
    func others() {
        var pace = LongCallPace(bytesPerSecond: 200)
        for number in 0..<9 { pace.count(1_000, of: .app(number), user, now: time(5)) }
        for other in [AccountOwner.user(1_001), .strangers] {
            pace.count(100, of: app, other, now: time(5))
            #expect(pace.wait(of: app, other, now: time(5)) == .zero)
        }
    }
}
