import BrokerAccessControl
import Glibc

/// Determines whether one process descends from the other.
///
/// Only direct ancestry counts: two processes that one shell started are not kin. When a parent ends, the
/// kernel gives its children a different parent, so a process that detached itself on purpose is not
/// recognised. The check only stops an app that simply starts an agent to answer its own prompt.
public enum Kinship {
    /// The maximum number of generations that are followed.
    static let depthLimit = 256

    /// Whether the two are the same process or one is an ancestor of the other. If that is unknown, the
    /// result is true, so that a possible relative never answers the prompt.
    public static func isKin(_ one: ProcessIdentity, of other: ProcessIdentity) -> Bool {
        one == other || isAncestor(one, of: other) || isAncestor(other, of: one)
    }

    private static func isAncestor(_ ancestor: ProcessIdentity, of process: ProcessIdentity) -> Bool {
        var pid = process.pid
        for generation in 0..<depthLimit {
            guard let status = try? ProcessStatus(of: pid) else { return true }
            // A different process has the pid, so the given process has ended.
            if generation == 0, status.startTime != process.startTime { return true }
            if pid == ancestor.pid, status.startTime == ancestor.startTime { return true }
            // The ancestry ends at process 1, which may be hidden, or at a parent outside this pid namespace.
            if status.parent <= 1 { return status.parent == 1 && ancestor.pid == 1 }
            pid = status.parent
        }
        return true
    }
}
