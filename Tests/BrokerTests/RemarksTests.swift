import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import Glibc
import Testing

@testable import BrokerCore

/// A program that makes the broker log as often as it can.
@Suite("Rate limits of the journal")
struct RemarksTests {
    @Test("A book that cannot be read is reported with its cause once a minute, however often an app asks")
    func brokenBook() throws {
        let house = try BrokerHouse()
        try house.keeper(adding: "Ada")
        try house.restart()
        let file = open(house.book + "/contacts.sqlite", O_WRONLY | O_TRUNC | O_CLOEXEC)
        try #require(file >= 0)
        close(file)
        let keeper = try house.app("keeper")
        house.journal.lines = []
        for _ in 0..<300 { #expect(try keeper.fetch().error == "StoreUnavailable") }
        #expect(house.journal.lines.count == 1)
        let line = try #require(house.journal.lines.first)
        #expect(line.hasPrefix("the address book in \(house.book) is unavailable: it is damaged and was left as it is"))
        #expect(line.contains("restore contacts.sqlite from a backup"))
        house.loop.advance(by: .seconds(60))
        #expect(house.journal.lines.count == 2)
        #expect(house.journal.lines.last == "299 more times: \(line)")
        // After that, the message is logged at once again.
        #expect(try keeper.fetch().error == "StoreUnavailable")
        #expect(house.journal.lines.count == 3)
        // The status shows the problem to the person.
        let status = try administrator(house).call("GetStatus").parameters["status"]
        #expect(status?["lastProblem"]?.string == line)
        #expect(status?["lastProblemAt"]?.string?.isEmpty == false)
    }

    private func administrator(_ house: BrokerHouse) -> TestApp {
        TestApp(house: house, caller: house.caller("contactctl"), door: .admin)
    }

    @Test("The number of different messages is limited too, and repeats are reported once")
    func kinds() {
        let loop = TestLoop()
        var lines: [String] = []
        let remarks = Remarks(loop: loop) { lines.append($0) }
        for number in 0..<1_000 { remarks.say("complaint \(number)") { lines.append($0) } }
        #expect(lines.count == Remarks.most)
        remarks.say("complaint 0") { lines.append($0) }
        loop.advance(by: Remarks.window)
        #expect(lines.count == Remarks.most + 2)
        #expect(lines.contains("1 more times: complaint 0"))
        #expect(lines.contains { $0.hasPrefix("\(1_000 - Remarks.most) more messages") })
        loop.advance(by: Remarks.window)
        #expect(lines.count == Remarks.most + 2)
    }
}
