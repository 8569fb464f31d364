import Glibc

/// One line of `/proc/PID/stat`, proc(5), as far as it is needed.
struct ProcessStatus: Hashable {
    let parent: Int32
    let session: Int32
    let terminal: Terminal?
    let startTime: UInt64

    /// Of whichever process has that number now: that it is the one that is meant, a pidfd of it tells afterwards.
    ///
    /// - Throws: ``PeerError/unreadable(what:errno:)``, also where no process has it.
    init(of pid: Int32) throws(PeerError) {
        switch contents(ofFile: "/proc/\(pid)/stat") {
        case .found(let line):
            guard let status = ProcessStatus(line: line) else {
                throw PeerError.unreadable(what: "status", errno: EINVAL)
            }
            self = status
        case .absent: throw PeerError.unreadable(what: "process", errno: ENOENT)
        case .unreadable(let errno): throw PeerError.unreadable(what: "status", errno: errno)
        }
    }

    /// `nil` for what is not such a line.
    ///
    /// The second field is a name that the process chooses, in parentheses, and may hold spaces and parentheses
    /// itself: it ends with the last one of the line, since all that follows are a letter and numbers.
    init?(line: [UInt8]) {
        guard let close = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // Field 3 of the line is the first here.
        var fields = line[(close + 1)...]
        func next<Number: FixedWidthInteger>(after skipped: Int, as: Number.Type) -> Number? {
            for _ in 0...skipped {
                fields = fields.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
            }
            let field = fields.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
            return Number(String(decoding: field, as: UTF8.self))
        }
        guard let parent = next(after: 1, as: Int32.self),
            let session = next(after: 1, as: Int32.self),
            let terminal = next(after: 0, as: Int32.self),
            let startTime = next(after: 14, as: UInt64.self)
        else { return nil }
        self.parent = parent
        self.session = session
        self.terminal = Terminal(statField: terminal)
        self.startTime = startTime
    }
}
