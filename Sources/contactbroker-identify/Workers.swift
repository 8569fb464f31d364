import CBrokerIdentify
import Glibc

/// Keeps worker processes ready. Each accepts one connection, handles one request and ends.
///
/// This process accepts no connection and opens no file of a peer. A peer can therefore block only a worker process,
/// which the kernel then kills.
struct Workers {
    let listener: CInt
    /// The user to serve.
    let uid: UInt32
    private var count = 0

    init(listener: CInt, uid: UInt32) {
        self.listener = listener
        self.uid = uid
    }

    /// Replaces workers that have ended, until this process is killed.
    mutating func keep() -> Never {
        while true {
            while count < IDENTIFY_WORKERS, identify_start_worker(listener, uid) > 0 { count += 1 }
            waitForOne()
        }
    }

    private mutating func waitForOne() {
        var status: CInt = 0
        let pid = waitpid(-1, &status, 0)
        if pid > 0 { count -= 1 }
        // A worker that is killed has taken too long. Anything else is a fault, and can be permanent.
        guard pid <= 0 || (status != 0 && status != SIGKILL) else { return }
        if pid > 0 { warn("a worker process ended with status \(status)") }
        usleep(10_000)
    }
}
