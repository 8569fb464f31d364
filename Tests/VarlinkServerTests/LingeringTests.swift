import Glibc
import Testing

@testable import VarlinkServer

@Suite("Waiting awake for the next call")
struct LingeringTests {
    @Test("It is done while it pays")
    func pays() {
        var lingering = Lingering()
        lingering.ended(heard: true)
        for _ in 1...10_000 {
            let begins = lingering.begins()
            #expect(begins)
            lingering.ended(heard: true)
        }
    }

    @Test("Where nothing comes it is soon given up, and tried once in hundreds of replies")
    func givenUp() {
        var lingering = Lingering()
        for _ in 1...100 { lingering.ended(heard: true) }
        var tried = 0
        for _ in 1...10_000 where lingering.begins() {
            tried += 1
            lingering.ended(heard: false)
        }
        #expect(tried <= 32 + 10_000 / 512)
        #expect(tried >= 10_000 / 513)
    }

    @Test("One call in time of four is enough to go on")
    func someInTime() {
        var lingering = Lingering()
        lingering.ended(heard: true)
        for reply in 1...10_000 {
            let begins = lingering.begins()
            #expect(begins)
            lingering.ended(heard: reply.isMultiple(of: 4))
        }
    }

    @Test("One call in time begins it anew")
    func begunAnew() {
        var lingering = Lingering()
        var replies = 0
        repeat { replies += 1 } while !lingering.begins()
        #expect(replies == 512)
        lingering.ended(heard: true)
        let begins = lingering.begins()
        #expect(begins)
    }

    @Test("A socket with something to read is heard at once, one with nothing is let go of in time")
    func hears() throws {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(!Lingering.hears(ends[0]))
        #expect(send(ends[1], [1], 1, 0) == 1)
        #expect(Lingering.hears(ends[0]))
    }
}
