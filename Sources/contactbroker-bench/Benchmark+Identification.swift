import CLinux
import Glibc
import PeerIdentity

/// How long it takes until it is known who has connected: the caller's clock before connect(2), ours when it is judged.
struct Identification {
    let listener: CInt
    let path: String
    let source: any EvidenceSource

    /// Nanoseconds of one connection.
    struct Times {
        /// Until it was accepted: what it takes before anybody asks who it is.
        let accepted: Int64
        let identified: Int64
        let isRefused: Bool
    }

    /// The caller's side. It says when it began, and connects again when it is let go.
    ///
    /// - Parameter pause: microseconds before each connection but the first.
    static func connect(to path: String, times: Int, pause: UInt32, on processor: CInt) throws {
        try Processors.pin(process: getpid(), to: [processor])
        for count in 0..<times {
            if pause > 0, count > 0 { usleep(pause) }
            let start = Clock.now()
            let descriptor = clinux_connect(path, 5_000)
            guard descriptor >= 0 else { throw Failure(system: "could not connect to \(path)", -descriptor) }
            // What it hears with is made after connecting, and not counted.
            let socket = BlockingSocket(descriptor: descriptor, room: 64)
            try socket.send(withUnsafeBytes(of: start) { Array($0) })
            try socket.receive(exactly: 1)
        }
    }

    /// Each connection of one new process, which runs there.
    func measure(_ count: Int, pause: UInt32 = 0, on processor: CInt) throws -> [Times] {
        let caller = try ChildProcess(
            Role.program, [Role.caller.rawValue, path, "\(count)", "\(pause)", "\(processor)"])
        // By itself, unless it waits for what does not come.
        let times = try (0..<count).map { _ in try measureOne() }
        caller.waitForEnd()
        return times
    }

    private func measureOne() throws -> Times {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 10_000) > 0 else { throw Failure("a caller does not connect") }
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { throw Failure(system: "accept") }
        let accepted = Clock.now()
        let peer: PeerHandle
        let judgement: Judgement
        do throws(PeerError) {
            peer = try source.begin(socket: connection)
            judgement = judge(try source.collect(peer))
        } catch {
            throw Failure("a caller was not identified: \(error)")
        }
        let identified = Clock.now()
        let socket = BlockingSocket(descriptor: connection, room: 64)
        try socket.receive(exactly: 8)
        let start = socket.buffer.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
        try socket.send([1])
        // Whoever identifies callers holds on to them for as long as they are connected.
        withExtendedLifetime(peer) {}
        let isRefused = if case .refused = judgement { true } else { false }
        return Times(accepted: accepted - start, identified: identified - start, isRefused: isRefused)
    }
}

/// How long it takes from connecting to the broker's first answer: who calls is known by then, and the answer is the
/// cheapest that there is.
enum Visit {
    private static let call = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0]

    /// The visitor's side: writes how many nanoseconds each visit took.
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
    /// Needs a broker.
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
            // The very first has the broker read the program.
            report.figures.append(Figure("\(name), at first sight", Samples(Array(first.dropFirst()))))
            report.figures.append(Figure("\(name), known, again at once", Samples(Array(known.dropFirst(49)))))
        }
        try Processors.pin(process: scratch.brokerProcess, to: processors.allowed)
    }

    /// The program itself is hashed before: a hash is kept for as long as its file does not change.
    mutating func measureIdentification() throws {
        try measureIdentification(try EvidenceCollector(), "identified caller", helper: nil)
        guard geteuid() == 0 else {
            report.remarks.append("identification through the helper was not measured: the helper needs root")
            return
        }
        let socket = scratch.runtime + "/identify.sock"
        let helper = try ChildProcess(
            Role.program(beside: "contactbroker-identify"), ["--socket", socket])
        defer { helper.end() }
        let client = try IdentifyClient(socket: socket)
        let deadline = Clock.now() + 10_000_000_000
        while !client.isAnswered() {
            guard Clock.now() < deadline else { throw Failure("contactbroker-identify does not answer") }
            usleep(1_000)
        }
        try measureIdentification(client, "identified caller, through the helper", helper: helper.pid)
    }

    /// Three ways in which callers come: processes that are new; one that connects again and again without a pause; and
    /// one that pauses between, as a person's programs do.
    private mutating func measureIdentification(
        _ source: any EvidenceSource, _ name: String, helper: pid_t?
    ) throws {
        let path = scratch.state + "/caller"
        let listener = clinux_listen(path, 0o600, 16)
        guard listener >= 0 else { throw Failure(system: "could not listen", -listener) }
        defer {
            close(listener)
            unlink(path)
            try? Processors.pin(process: getpid(), to: processors.allowed)
        }
        source.prepare()
        let identification = Identification(listener: listener, path: path, source: source)
        // The broker stays on the first.
        try Processors.pin(process: getpid(), to: [processors.first])
        var refused = 0
        for placing in Placing.allCases {
            let other = placing == .oneCore ? processors.first : processors.second
            // Across two, the helper is wherever the kernel puts it. Workers that wait already may be anywhere.
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
            append(first, name, "\(placing.rawValue), at first sight", bar: 300)
            append(known, name, "\(placing.rawValue), known, again at once", bar: 50)
            append(paced, name, "\(placing.rawValue), known, again after 5 ms", bar: 50)
        }
        if refused > 0 {
            report.remarks.append(
                "\(name): \(refused) were refused in the end, as all are where process 1 cannot be looked into; what lies at "
                    + "their path as process 1 sees it was then not looked at")
        }
    }

    private mutating func append(_ times: [Identification.Times], _ name: String, _ how: String, bar: Double) {
        report.figures.append(Figure("\(name), \(how)", Samples(times.map(\.identified)), bar: bar))
        report.figures.append(Figure("  of that until it was accepted", Samples(times.map(\.accepted))))
    }
}
