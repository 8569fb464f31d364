import CLinux
import Glibc
import PeerIdentity

/// How long it takes until it is known who has connected: the caller's clock before connect(2), ours when it is judged.
struct Identification {
    let listener: CInt
    let path: String
    let source: any EvidenceSource

    /// The caller's side. It says when it began, and connects again when it is let go.
    static func connect(to path: String, times: Int, on processor: CInt) throws {
        try Processors.pin(process: getpid(), to: [processor])
        for _ in 0..<times {
            let start = Clock.now()
            let socket = try BlockingSocket(path: path)
            try socket.send(withUnsafeBytes(of: start) { Array($0) })
            try socket.receive(exactly: 1)
        }
    }

    /// Nanoseconds for each connection of one new process, which runs there.
    func measure(_ count: Int, on processor: CInt) throws -> [Int64] {
        let caller = try ChildProcess(Role.program, [Role.caller.rawValue, path, "\(count)", "\(processor)"])
        defer { caller.waitForEnd() }
        return try (0..<count).map { _ in try measureOne() }
    }

    private func measureOne() throws -> Int64 {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 10_000) > 0 else { throw Failure("a caller does not connect") }
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { throw Failure(system: "accept") }
        let socket = BlockingSocket(descriptor: connection)
        do throws(PeerError) {
            _ = judge(try source.collect(source.begin(socket: connection)))
        } catch {
            throw Failure("a caller was not identified: \(error)")
        }
        let end = Clock.now()
        try socket.receive(exactly: 8)
        let start = socket.buffer.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
        try socket.send([1])
        return end - start
    }
}

extension Benchmark {
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
        // The broker stays on the first; workers that wait already may be anywhere.
        try Processors.pin(process: getpid(), to: [processors.first])
        for placing in Placing.allCases {
            let other = placing == .oneCore ? processors.first : processors.second
            if let helper { try Processors.pin(process: helper, to: [other]) }
            _ = try identification.measure(50, on: other)
            var first: [Int64] = []
            var known: [Int64] = []
            for _ in 0..<40 {
                let times = try identification.measure(50, on: other)
                first.append(times[0])
                known += times[1...]
            }
            let place = ", " + placing.rawValue
            report.figures.append(Figure(name + place + ", at first sight", Samples(first), bar: 300))
            report.figures.append(Figure(name + place + ", known", Samples(known), bar: 50))
        }
    }
}
