import BrokerVarlink
import BrokerVarlinkClient
import CBrokerLinux
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerVarlinkServer

@Suite("The event loop", .timeLimit(.minutes(10)))
struct EventLoopTests {
    @Test("Work from many threads runs on the loop, each thread's in order")
    func execute() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let done = Mailbox<(thread: Int, number: Int)>()
        let wrong = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<1_000 {
                loop.execute {
                    if !loop.isCurrent { wrong.add(1, ordering: .relaxed) }
                    done.post((thread, number))
                }
            }
        }
        var next = [Int](repeating: 0, count: 8)
        for _ in 0..<8_000 {
            let (thread, number) = try #require(done.next())
            #expect(number == next[thread])
            next[thread] += 1
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(!loop.isCurrent)
    }

    @Test("Each single piece of work wakes a sleeping loop")
    func woken() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        for number in 0..<10_000 { #expect(try loop.run { number } == number) }
    }

    @Test("Work that is added by work runs after earlier work, and delays no connection")
    func endless() throws {
        let server = try TestServer()
        defer { withExtendedLifetime(server) {} }
        let loop = server.loop
        let isOver = Atomic(false)
        @Sendable func again() {
            if !isOver.load(ordering: .relaxed) { loop.execute { again() } }
        }
        loop.execute { again() }
        defer { isOver.store(true, ordering: .relaxed) }
        let client = try VarlinkClient(path: server.path, timeout: .seconds(30))
        for _ in 0..<100 { _ = try client.call("a.b.Echo") }
        #expect(try loop.run { 1 } == 1)
        let timed = Mailbox<Int>()
        loop.schedule(after: .milliseconds(1)) { timed.post(1) }
        #expect(timed.next() == 1)
    }

    @Test("Timers run in the order of their times, and none too early")
    func timers() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let found = Mailbox<Int>()
        let began = ContinuousClock.now
        // On a busy machine a timer with a shorter delay may be set later and run later: its time counts, not its
        // delay.
        @Sendable func set(_ waits: [Int]) -> [(wait: Int, due: Int64, isRight: Bool)] {
            waits.map { wait in
                let before = Uptime.now().nanoseconds
                let timer = loop.schedule(after: .milliseconds(wait)) { found.post(wait) } as? Timer
                let after = Uptime.now().nanoseconds
                let due = timer?.due.nanoseconds ?? -1
                return (wait, due, (before...after).contains(due - Int64(max(0, wait)) * 1_000_000))
            }
        }
        var timers = set([230, 210, 250, 220, 240])
        timers += try loop.run { set([235, 215, 255, 225, 245, 0, -7]) }
        #expect(timers.allSatisfy { $0.isRight })
        var order: [Int] = []
        for _ in 0..<12 {
            let wait = try #require(found.next())
            #expect(ContinuousClock.now - began >= .milliseconds(wait))
            order.append(wait)
        }
        #expect(order == timers.sorted { $0.due < $1.due }.map(\.wait))
    }

    @Test("Timers of the same time run in the order in which they were set; a cancelled timer does not run")
    func cancelled() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let found = Mailbox<Int>()
        let timers = try loop.run {
            let due = Uptime.now() + .milliseconds(5)
            let timers = (0..<100).map { n in Timer(due: due, loop: loop) { found.post(n) } }
            for timer in timers { loop.inside.timers.insert(timer) }
            for timer in timers[50...] + timers[70...] { timer.cancel() }
            return timers
        }
        for n in 0..<50 { #expect(found.next() == n) }
        // Cancel a timer that has already run, and one that the loop does not know yet.
        timers[0].cancel()
        let never = Timer(due: .beginning, loop: loop) { found.post(-1) }
        never.cancel()
        try loop.run { loop.inside.timers.insert(never) }
        #expect(try loop.run { loop.inside.timers.count } == 0)
    }

    @Test(
        "A timer with an extreme delay is kept, and never runs",
        arguments: [Duration.seconds(Int64.max), .seconds(1e12)])
    func never(delay: Duration) throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let timer = loop.schedule(after: delay) { Issue.record("the timer ran") }
        #expect(try loop.run { loop.inside.timers.count } == 1)
        timer.cancel()
        #expect(try loop.run { loop.inside.timers.count } == 0)
    }

    @Test("Work that was added before the end is done; later work is dropped")
    func stop() throws {
        let loop = try EventLoop()
        let count = Atomic(0)
        for _ in 0..<1_000 {
            loop.execute { loop.execute { count.add(1, ordering: .relaxed) } }
        }
        loop.schedule(after: .seconds(60)) { count.add(1, ordering: .relaxed) }
        loop.stop()
        #expect(count.load(ordering: .relaxed) == 1_000)
        loop.execute { count.add(1, ordering: .relaxed) }
        loop.stop()
        #expect(count.load(ordering: .relaxed) == 1_000)
    }

    @Test("Events of a reused descriptor number do not reach the handler of the former descriptor")
    func usedAgain() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let told = try loop.run { () -> [Int] in
            final class Listener: Watcher {
                var told = 0
                func isReady(_ readiness: Readiness) { told += 1 }
            }
            var ends: [CInt] = [-1, -1]
            guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return [] }
            defer { for end in ends { close(end) } }
            let (first, second) = (Listener(), Listener())
            guard let old = loop.inside.watchlist.add(ends[0], .readable, first) else { return [] }
            loop.inside.watchlist.remove(old)
            loop.inside.watchlist.remove(old)
            guard let new = loop.inside.watchlist.add(ends[0], .readable, second) else { return [] }
            // The old token is invalid, although it had the same slot and the same descriptor.
            loop.inside.watchlist.remove(old)
            send(ends[1], [1], 1, 0)
            let count = loop.inside.poll(waiting: 1_000_000_000)
            for event in loop.inside.events[..<count] {
                loop.inside.watchlist.watcher(of: event.token)?.isReady(Readiness(rawValue: event.readiness))
            }
            loop.inside.watchlist.remove(new)
            return [first.told, second.told]
        }
        #expect(told == [0, 1])
    }

    @Test("A thousand silent connections have no timers, and do not wake the loop")
    func idle() throws {
        let server = try TestServer()
        let clients = try (0..<1_000).map { _ in try RawClient(server.path) }
        for client in clients { client.call("Echo") }
        for client in clients { #expect(client.reply() == "{}") }
        defer { withExtendedLifetime(server) {} }
        let loop = server.loop
        let (timers, before) = try loop.run { (loop.inside.timers.count, loop.inside.iterations) }
        #expect(timers == 0)
        // Real time must pass, in which a timer of a connection would wake the loop.
        let passed = Mailbox<Int>()
        loop.schedule(after: .milliseconds(200)) { passed.post(1) }
        #expect(passed.next() == 1)
        #expect(try loop.run { loop.inside.iterations } - before <= 8)
    }

    @Test("A client that sends calls without a pause gets a bounded part of each loop iteration")
    func fair() throws {
        let server = try TestServer()
        let loud = try RawClient(server.path)
        let quiet = try RawClient(server.path)
        for client in [loud, quiet] {
            client.call("Echo")
            #expect(client.reply() == "{}")
        }
        let isReady = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        server.loop.execute {
            isReady.signal()
            goOn.wait()
        }
        isReady.wait()
        // Send the calls in one piece, because the kernel would accept only a few single ones.
        let call = Array(#"{"method":"a.b.Echo","parameters":{"who":"loud"},"oneway":true}"#.utf8) + [0]
        #expect(loud.sendSome([[UInt8]](repeating: call, count: 900).flatMap { $0 }) == 900 * call.count)
        quiet.call("Echo", #"{"who":"quiet"}"#, #","oneway":true"#)
        goOn.signal()
        quiet.call("Echo")
        #expect(quiet.reply() == "{}")
        loud.call("Echo")
        #expect(loud.reply() == "{}")
        let calls = try server.onLoop { $0.onewayCalls }
        #expect(calls.count == 901)
        // The loud client gets at most its share of one iteration, by number or by time, before the quiet one.
        #expect(try #require(calls.firstIndex(of: #"{"who":"quiet"}"#)) < 400)
    }
}

@Suite("The order of timers")
struct TimerListTests {
    @Test(
        "After any sequence of setting and cancelling, the earliest remaining timer is next", arguments: [1, 2, 3, 4])
    func order(seed: UInt64) throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var list = TimerList()
        var model: [(due: Int, order: Int, timer: Timer)] = []
        var ran: [Int] = []
        for order in 0..<5_000 {
            switch random(5) {
            case 0...2:
                let timer = Timer(due: Uptime(nanoseconds: Int64(random(1_000))), loop: loop) { ran.append(order) }
                list.insert(timer)
                model.append((Int(timer.due.nanoseconds), order, timer))
            case 3 where !model.isEmpty:
                list.remove(model.remove(at: random(model.count)).timer)
            default:
                let now = random(1_000)
                let due = model.filter { $0.due <= now }.min { ($0.due, $0.order) < ($1.due, $1.order) }
                let work = list.takeDue(at: Uptime(nanoseconds: Int64(now)))
                work?()
                #expect((work == nil) == (due == nil))
                if let due {
                    #expect(ran.last == due.order)
                    model.removeAll { $0.order == due.order }
                }
            }
            #expect(list.count == model.count)
            #expect(list.next == model.map { Uptime(nanoseconds: Int64($0.due)) }.min())
        }
    }
}
