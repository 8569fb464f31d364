import BrokerContactsStore
import Testing

@testable import BrokerBooks
@testable import BrokerCalls
@testable import BrokerCore

@Suite("A closed broker")
struct EndingTests {
    @Test("A request that outlasts its broker opens no contacts database while the next broker runs")
    func outlasting() throws {
        let fixture = try BrokerFixture()
        let ended = fixture.broker
        try fixture.keeper(adding: "Ada")
        try fixture.restart()
        var isRefused = false
        ended.books.with(1_000, creating: true) { result in
            if case .failure(.unavailable) = result { isRefused = true }
        }
        #expect(isRefused)
        #expect(ended.books.opened(1_000) == nil)
        #expect(try fixture.records("Ada").count == 1)
    }
}
