import Glibc

/// The floor of the transport: the same number of bytes in both directions over a Unix socket, without other
/// work.
enum PingPong {
    /// Answers every `call` bytes with `reply` bytes on standard input, until the other process closes the
    /// socket.
    static func answer(call: Int, reply: Int) throws {
        let socket = BlockingSocket(descriptor: STDIN_FILENO)
        let bytes = [UInt8](repeating: 1, count: reply)
        while (try? socket.receive(exactly: call)) != nil { try socket.send(bytes) }
    }

    /// - Parameters:
    ///   - here, there: the processors of this process and of the other one; below 0 for any.
    ///   - pause: the pause before each ping-pong, in microseconds.
    /// - Returns: the nanoseconds of each ping-pong.
    static func measure(_ count: Int, call: Int, reply: Int, here: CInt, there: CInt, pause: UInt32) throws
        -> [Int64]
    {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw Failure(system: "socketpair")
        }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let socket = BlockingSocket(descriptor: ends[0])
        let other = try ChildProcess(Role.program, [Role.pong.rawValue, "\(call)", "\(reply)"], socket: ends[1])
        close(ends[1])
        let all = Processors().allowed
        defer {
            try? Processors.pin(process: getpid(), to: all)
            other.end()
        }
        if here >= 0 { try Processors.pin(process: getpid(), to: [here]) }
        let bytes = [UInt8](repeating: 1, count: call)
        var times: [Int64] = []
        for round in 0..<count + 500 {
            if round == 1, there >= 0 { try Processors.pin(process: other.pid, to: [there]) }
            if round >= 500, pause > 0 { usleep(pause) }
            let start = Clock.now()
            try socket.send(bytes)
            try socket.receive(exactly: reply)
            if round >= 500 { times.append(Clock.now() - start) }
        }
        return times
    }
}
