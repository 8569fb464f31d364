import BrokerContactsStore
import Testing

@testable import BrokerCore

@Suite("After the broker's end")
struct EndingTests {
    @Test("A question that outlasts the broker opens no book beside the next broker's")
    func outlasting() throws {
        let house = try BrokerHouse()
        let ended = house.broker
        try house.keeper(adding: "Ada")
        try house.restart()
        var isRefused = false
        ended.books.with(1_000, creating: true) { result in
            if case .failure(.unavailable) = result { isRefused = true }
        }
        #expect(isRefused)
        #expect(ended.books.opened(1_000) == nil)
        #expect(try house.records("Ada").count == 1)
    }
}
