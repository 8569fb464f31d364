import BrokerAccessControl
import BrokerContactsStore
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Dispatch
import Testing

@testable import BrokerAppCalls
@testable import BrokerBooks

@Suite("Reads that are too long for the event loop")
struct LongReadTests {
    private static let people = ["Ada", "Adam", "Adele", "Bert", "Grace"]

    private func fixture() throws -> (BrokerFixture, TestApp) {
        let fixture = try BrokerFixture(readsOnWorker: true)
        let keeper = try fixture.app("keeper", .full)
        _ = try keeper.save(Self.people.map { .add(given: $0) })
        return (fixture, keeper)
    }

    @Test("A long read gives the same answer as a short one and is recorded before it is answered")
    func same() throws {
        let (fixture, keeper) = try fixture()
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bert")))
        for (predicate, all, visible) in [
            (#""predicate":{"name":"ad"},"#, ["Ada", "Adam", "Adele"], ["Ada"]), ("", Self.people, ["Ada", "Bert"]),
        ] {
            #expect(try keeper.fetch(predicate + #""sortOrder":"givenName""#).names == all)
            #expect(try mail.fetch(predicate + #""sortOrder":"givenName""#).names == visible)
            let parameters = "{" + predicate.dropLast() + "}"
            #expect(try keeper.call("CountContacts", parameters).parameters["count"]?.integer == Int64(all.count))
            #expect(try mail.call("CountContacts", parameters).parameters["count"]?.integer == Int64(visible.count))
        }
        let page = try keeper.fetch(#""sortOrder":"givenName","limit":2"#)
        let next = try #require(page.parameters["next"]?.string)
        #expect(
            try keeper.fetch(#""sortOrder":"givenName","limit":9,"after":"\#(next)""#).names == [
                "Adele", "Bert", "Grace",
            ])
        let before = try fixture.audit(.disclosure).count
        _ = try mail.fetch(#""predicate":{"name":"be"}"#)
        #expect(try fixture.audit(.disclosure).count > before)
    }

    @Test("Access revoked during a long read is not disclosed")
    func revoked() throws {
        let (fixture, _) = try fixture()
        let mail = try fixture.app("mail", .full)
        _ = try mail.fetch()
        let thread = fixture.longReads.queue(of: 1_000)
        for (access, names) in [
            (Access.limited(to: try fixture.records("Bert", "Grace")), ["Bert", "Grace"]), (.denied, []),
        ] {
            thread.suspend()
            let list = try mail.begin("FetchContacts", #"{"keys":["givenName"],"sortOrder":"givenName"}"#)
            let other = try fixture.app("other", .full)
            let count = try other.begin("CountContacts", #"{"predicate":{"name":"ad"}}"#)
            try fixture.grant(access, to: mail)
            try fixture.grant(.denied, to: other)
            #expect(try mail.replies(to: list).isEmpty && other.replies(to: count).isEmpty)
            thread.resume()
            let answer = try mail.replies(1, to: list)[0]
            #expect(answer.names == names)
            #expect((answer.error == "AccessDenied") == names.isEmpty)
            #expect(try other.replies(1, to: count)[0].error == "AccessDenied")
        }
    }

    @Test("A waiting read sees saves that were made meanwhile and delays no short read")
    func waiting() throws {
        let (fixture, keeper) = try fixture()
        let thread = fixture.longReads.queue(of: 1_000)
        thread.suspend()
        let busy = try fixture.app("busy", .full)
        let counts = try (0..<3).map { _ in try busy.begin("CountContacts", #"{"predicate":{"name":"ad"}}"#) }
        let list = try keeper.begin("FetchContacts", #"{"keys":["givenName"],"predicate":{"name":"ad"}}"#)
        _ = try keeper.save([.add(given: "Adrian")])
        // A count that is known in memory does not wait.
        #expect(try keeper.call("CountContacts").parameters["count"]?.integer == 6)
        thread.resume()
        for count in counts { #expect(try busy.replies(1, to: count)[0].parameters["count"]?.integer == 4) }
        #expect(try keeper.replies(1, to: list)[0].names.count == 4)
    }

    @Test("Long reads of several apps take turns")
    func turns() throws {
        let (fixture, keeper) = try fixture()
        let thread = fixture.longReads.queue(of: 1_000)
        let busy = try fixture.app("busy", .full)
        thread.suspend()
        let counts = try (0..<9).map { _ in try busy.begin("CountContacts", #"{"predicate":{"name":"ad"}}"#) }
        let list = try keeper.begin("CountContacts", #"{"predicate":{"name":"be"}}"#)
        // One read runs at a time. Two of the busy app's reads came first: one had begun, and one was next.
        for _ in 0..<3 {
            thread.resume()
            thread.sync {}
            thread.suspend()
            fixture.loop.iterate()
        }
        #expect(try keeper.replies(1, to: list)[0].parameters["count"]?.integer == 1)
        #expect(try busy.replies(to: counts[8]).isEmpty)
        thread.resume()
        for count in counts { #expect(try busy.replies(1, to: count)[0].error == nil) }
    }

    @Test("A read whose caller disconnected is dropped, and a read from a closed book is unavailable")
    func gone() throws {
        let (fixture, keeper) = try fixture()
        let thread = fixture.longReads.queue(of: 1_000)
        thread.suspend()
        let busy = try fixture.app("busy", .full)
        for _ in 0..<3 { _ = try busy.begin("CountContacts", #"{"predicate":{"name":"ad"}}"#) }
        busy.hangUp()
        let last = try keeper.begin("CountContacts", #"{"predicate":{"name":"be"}}"#)
        fixture.books.opened(1_000)?.close()
        thread.resume()
        #expect(try keeper.replies(1, to: last)[0].error == "StoreUnavailable")
    }

    @Test("A dropped read may ask for another one, and each read is then performed or dropped once")
    func again() throws {
        let (fixture, keeper) = try fixture()
        let book = try #require(fixture.books.opened(1_000))
        let reads = fixture.longReads
        let calls = try (0..<3).map { _ in try fixture.app("busy", .full).begin("GetAuthorization") }
        let waiting = try keeper.begin("WatchChanges", more: true)
        try #require(!waiting.isOver && calls.allSatisfy(\.isOver))
        var done: [String] = []
        func read(_ name: String, for call: Call, then: @escaping () -> Void = {}) {
            reads.read(book, for: call, keeper.session) { _ in
                1
            } done: {
                done.append("\(name) \((try? $0?.get()) == nil ? "dropped" : "read")")
                // A read that is dropped again and again must not go on forever.
                if done.count < 20 { then() }
            }
        }
        let thread = reads.queue(of: 1_000)
        thread.suspend()
        read("first", for: waiting)
        for (number, call) in calls.enumerated() {
            read("over \(number)", for: call) { read("again \(number)", for: waiting) }
        }
        read("last", for: waiting)
        thread.resume()
        try #require(fixture.loop.run { done.count >= 8 })
        fixture.loop.iterate()
        #expect(
            done.sorted() == [
                "again 0 read", "again 1 read", "again 2 read", "first read", "last read", "over 0 dropped",
                "over 1 dropped", "over 2 dropped",
            ])
    }
}
