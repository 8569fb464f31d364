import Glibc

/// The fields of `/proc/PID/stat`, proc(5), that the broker uses.
struct ProcessStatus: Hashable {
    let parent: Int32
    let session: Int32
    let terminal: Terminal?
    let startTime: UInt64

    /// Reads the status of the process that has this pid. Check the pidfd of the intended process afterwards:
    /// the pid may belong to a later process.
    ///
    /// - Throws: ``PeerError/unreadable(what:errno:)``, also if no process has the pid.
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

    /// `nil` if the line is malformed.
    ///
    /// The second field is a name in parentheses that the process chooses. The name may contain spaces and parentheses.
    /// It ends at the last parenthesis of the line, because only a letter and numbers follow.
    init?(line: [UInt8]) {
        guard let close = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // The text after the parenthesis begins with field 3.
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
