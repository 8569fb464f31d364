import BrokerAccessControl
import Glibc

/// Whether one process descends from the other.
///
/// Only the direct line counts: that one shell started both makes them no kin. A process whose parent has ended
/// belongs to its reaper from then on, so that one that detached itself on purpose is not found; the promise is
/// against an app that starts an agent to answer its own prompt the simple way.
public enum Kinship {
    /// Generations looked through.
    static let depthLimit = 256

    /// One is the other, or is an ancestor of it. In doubt true: who might be kin is not asked.
    public static func isKin(_ one: ProcessIdentity, of other: ProcessIdentity) -> Bool {
        one == other || isAncestor(one, of: other) || isAncestor(other, of: one)
    }

    private static func isAncestor(_ ancestor: ProcessIdentity, of process: ProcessIdentity) -> Bool {
        var pid = process.pid
        for generation in 0..<depthLimit {
            guard let status = try? ProcessStatus(of: pid) else { return true }
            // Somebody else has its number by now.
            if generation == 0, status.startTime != process.startTime { return true }
            if pid == ancestor.pid, status.startTime == ancestor.startTime { return true }
            // The line ends at process 1, which may be hidden, or where the parent lies outside of this process namespace.
            if status.parent <= 1 { return status.parent == 1 && ancestor.pid == 1 }
            pid = status.parent
        }
        return true
    }
}
