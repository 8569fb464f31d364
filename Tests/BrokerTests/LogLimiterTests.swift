import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import Glibc
import Testing

@testable import BrokerCore

/// A program that makes the broker log as often as it can.
@Suite("Rate limits of the journal")
struct LogLimiterTests {
    @Test("A book that cannot be read is reported with its cause once a minute, however often an app asks")
    func brokenBook() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        try fixture.restart()
        let file = open(fixture.book + "/contacts.sqlite", O_WRONLY | O_TRUNC | O_CLOEXEC)
        try #require(file >= 0)
        close(file)
        let keeper = try fixture.app("keeper")
        fixture.journal.lines = []
        for _ in 0..<300 { #expect(try keeper.fetch().error == "StoreUnavailable") }
        #expect(fixture.journal.lines.count == 1)
        let line = try #require(fixture.journal.lines.first)
        #expect(
            line.hasPrefix("the address book in \(fixture.book) is unavailable: it is damaged and was left as it is"))
        #expect(line.contains("restore contacts.sqlite from a backup"))
        fixture.loop.advance(by: .seconds(60))
        #expect(fixture.journal.lines.count == 2)
        #expect(fixture.journal.lines.last == "299 more times: \(line)")
        // After that, the message is logged at once again.
        #expect(try keeper.fetch().error == "StoreUnavailable")
        #expect(fixture.journal.lines.count == 3)
        // The status shows the problem to the person.
        let status = try administrator(fixture).call("GetStatus").parameters["status"]
        #expect(status?["lastProblem"]?.string == line)
        #expect(status?["lastProblemAt"]?.string?.isEmpty == false)
    }

    private func administrator(_ fixture: BrokerFixture) -> TestApp {
        TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }
}
