import BrokerAccessControl
import Glibc

extension ProcessStatus {
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
}
