import BrokerJSON
import BrokerPeerIdentity
import BrokerVarlink
import BrokerVarlinkServer
import CBrokerLinux
import Dispatch
import Glibc
import Synchronization

/// Measures how long it takes to identify a caller, from the caller's time before connect(2) to this
/// process's time after judging.
///
/// It uses the broker's own event loop and socket, and inspects callers on another thread, as the broker
/// does.
final class Identification: Sendable {
    /// The times of one connection, in nanoseconds.
    struct Times {
        /// The time until the connection was accepted, before the identification begins.
        let accepted: Int64
        let identified: Int64
        let isRefused: Bool
    }

    /// One admitted caller.
    private final class Stay: Sendable {
        /// Kept while the caller is connected, as the broker does.
        let peer: PeerHandle
        let accepted: Int64
        let identified = Clock.now()
        let isRefused: Bool

        init(_ peer: PeerHandle, accepted: Int64, _ judgement: Judgement) {
            self.peer = peer
            self.accepted = accepted
            isRefused = if case .refused = judgement { true } else { false }
        }
    }

    private let path: String
    private let loop: EventLoop
    private let door: LoopBound<VarlinkServer>
    private let times: SharedTimes

    private final class SharedTimes: Sendable {
        let all = Mutex<[Times]>([])
    }

    init(at path: String, _ source: any EvidenceSource) throws {
        let (loop, times) = (try EventLoop(), SharedTimes())
        door = try loop.run {
            let queue = DispatchQueue(label: "identification")
            return LoopBound(
                try VarlinkServer(
                    at: .path(path), loop: loop,
                    admit: { accepted, decide in
                        Self.admit(accepted, decide, source, queue, loop)
                    },
                    onCall: { call in
                        guard let stay = call.connection.context as? Stay, let start = call.parameters["start"]?.integer
                        else { return call.fail(.invalidParameter("start")) }
                        times.all.withLock {
                            $0.append(
                                Times(
                                    accepted: stay.accepted - start, identified: stay.identified - start,
                                    isRefused: stay.isRefused))
                        }
                        call.reply { _ in }
                    }),
                loop: loop)
        }
        (self.path, self.loop, self.times) = (path, loop, times)
    }

    func end() throws {
        let door = self.door
        try loop.run { door.value.close() }
        loop.stop()
    }

    private static func admit(
        _ accepted: AcceptedPeer, _ decide: PendingAdmission, _ source: any EvidenceSource,
        _ queue: DispatchQueue, _ loop: EventLoop
    ) {
        let began = Clock.now()
        guard let peer = try? PeerHandle(socket: accepted.descriptor) else { return decide(.refuse) }
        let bound = LoopBound(decide, loop: loop)
        queue.async {
            let judgement = (try? source.collect(peer)).map { judge($0) }
            loop.execute {
                bound.value(judgement.map { .admit(context: Stay(peer, accepted: began, $0)) } ?? .refuse)
            }
        }
    }

    /// Runs the caller. It sends its start time, and connects again after the reply.
    ///
    /// - Parameter pause: the pause before each connection except the first, in microseconds.
    static func connect(to path: String, times: Int, pause: UInt32, on processor: CInt) throws {
        try Processors.pin(process: getpid(), to: [processor])
        // A first attempt at a path without a socket loads the code that the program needs, so that loading
        // is not measured.
        _ = clinux_connect(path + ".nobody", 5_000)
        for count in 0..<times {
            if pause > 0, count > 0 { usleep(pause) }
            let start = Clock.now()
            let descriptor = clinux_connect(path, 5_000)
            guard descriptor >= 0 else { throw Failure(system: "could not connect to \(path)", -descriptor) }
            let socket = BlockingSocket(descriptor: descriptor, room: 512)
            try socket.send(Array(#"{"method":"org.example.Caller.Came","parameters":{"start":\#(start)}}"#.utf8) + [0])
            _ = try socket.receiveReply()
        }
    }

    /// Measures all connections of one new process on the given processor.
    func measure(_ count: Int, pause: UInt32 = 0, on processor: CInt) throws -> [Times] {
        let caller = try ChildProcess(
            Role.program, [Role.caller.rawValue, path, "\(count)", "\(pause)", "\(processor)"])
        caller.waitForEnd()
        let taken = times.all.withLock { all in
            defer { all = [] }
            return all
        }
        guard taken.count == count else { throw Failure("\(count - taken.count) callers were not identified") }
        return taken
    }
}

/// Measures the time from connecting to the broker's first reply. The time includes the identification, and
/// the call is the cheapest one.
enum Visit {
    private static let call = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0]

    /// Runs the caller, which prints the nanoseconds of each visit.
    static func run(door: String, times: Int, on processor: CInt) throws {
        try Processors.pin(process: getpid(), to: [processor])
        var visits: [Int64] = []
        for _ in 0..<times {
            let start = Clock.now()
            let descriptor = clinux_connect(door, 5_000)
            guard descriptor >= 0 else { throw Failure(system: "could not connect to \(door)", -descriptor) }
            let socket = BlockingSocket(descriptor: descriptor, room: 4_096)
            try socket.send(call)
            _ = try socket.receiveReply()
            visits.append(Clock.now() - start)
        }
        print(visits.map(String.init).joined(separator: " "))
        fflush(nil)
    }
}

extension Benchmark {
    /// Measures visits. The broker must be running.
    mutating func measureVisits() throws {
        for placing in Placing.allCases {
            let other = placing == .oneCore ? processors.first : processors.second
            try Processors.pin(process: scratch.brokerProcess, to: [processors.first])
            var first: [Int64] = []
            var known: [Int64] = []
            for _ in 0..<41 {
                let visitor = try ChildProcess(Role.program, [Role.visitor.rawValue, scratch.apps, "50", "\(other)"])
                let visits = try visitor.line().split(separator: " ").compactMap { Int64($0) }
                visitor.waitForEnd()
                guard visits.count == 50 else { throw Failure("a visitor was not answered") }
                first.append(visits[0])
                known += visits[1...]
            }
            let name = "connecting, to the first answer, \(placing.rawValue)"
            // The very first visit is left out, because the broker then hashes the program.
            report.figures.append(Figure("\(name), at first sight", Samples(Array(first.dropFirst()))))
            report.figures.append(Figure("\(name), known, again at once", Samples(Array(known.dropFirst(49)))))
        }
        try Processors.pin(process: scratch.brokerProcess, to: processors.allowed)
    }

    /// Measures identification when the program's hash is cached. The hash stays cached while the file does
    /// not change.
    mutating func measureIdentification() throws {
        try measureIdentification(try EvidenceCollector(), "identified caller", helper: nil)
        guard geteuid() == 0 else {
            report.remarks.append("Identification through the helper was not measured: the helper needs root.")
            return
        }
        let socket = scratch.runtime + "/identify.sock"
        let helper = try ChildProcess(
            scratch.program("contactbroker-identify"), ["--socket", socket])
        defer { helper.end() }
        let client = try IdentifyClient(socket: socket)
        let deadline = Clock.now() + 10_000_000_000
        while !client.isAnswered() {
            guard Clock.now() < deadline else { throw Failure("contactbroker-identify does not answer") }
            usleep(1_000)
        }
        try measureIdentification(client, "identified caller, through the helper", helper: helper.pid)
    }

    /// Measures three kinds of callers: new processes, a process that connects again and again without a
    /// pause, and a process that pauses in between, as a person's programs do.
    private mutating func measureIdentification(
        _ source: any EvidenceSource, _ name: String, helper: pid_t?
    ) throws {
        let path = scratch.state + "/caller"
        let identification = try Identification(at: path, source)
        defer {
            try? identification.end()
            try? Processors.pin(process: getpid(), to: processors.allowed)
        }
        source.prepare()
        // This process acts as the broker and stays on the first processor.
        try Processors.pin(process: getpid(), to: [processors.first])
        var refused = 0
        for placing in Placing.allCases {
            let other = placing == .oneCore ? processors.first : processors.second
            // With two cores, the kernel chooses the helper's processor.
            if let helper {
                try Processors.pin(process: helper, to: placing == .oneCore ? [other] : processors.allowed)
            }
            _ = try identification.measure(50, on: other)
            var first: [Identification.Times] = []
            var known: [Identification.Times] = []
            var paced: [Identification.Times] = []
            for _ in 0..<40 {
                let times = try identification.measure(50, on: other)
                first.append(times[0])
                known += times[1...]
                paced += try identification.measure(11, pause: 5_000, on: other).dropFirst()
            }
            refused += (first + known + paced).count(where: \.isRefused)
            append(first, name, "\(placing.rawValue), at first sight")
            append(known, name, "\(placing.rawValue), known, again at once")
            append(paced, name, "\(placing.rawValue), known, again after 5 ms")
            guard helper != nil, placing == .twoCores else { continue }
            report.comparisons.append(
                Comparison(
                    work: "connect to identified caller, through the helper",
                    ours: .p50(Samples(first.map(\.identified))), bar: .atMost(.time(1_000))))
        }
        if refused > 0 {
            report.remarks.append(
                "\(name): \(refused) callers were refused, because process 1 cannot be inspected here. What a look at their "
                    + "path as process 1 sees it would take is not in these figures.")
        }
    }

    private mutating func append(_ times: [Identification.Times], _ name: String, _ how: String) {
        report.figures.append(Figure("\(name), \(how)", Samples(times.map(\.identified))))
        report.figures.append(Figure("  of that until it was accepted", Samples(times.map(\.accepted))))
    }
}
