import BrokerVarlink
import Dispatch
import Glibc
import Synchronization

/// A loop that runs while the test waits for something.
final class WaitingLoop: Loop {
    private let work = Mutex<[@Sendable () -> Void]>([])
    private let arrived = DispatchSemaphore(value: 0)
    private let owner = pthread_self()

    var isCurrent: Bool { pthread_equal(owner, pthread_self()) != 0 }

    func execute(_ item: @escaping @Sendable () -> Void) {
        work.withLock { $0.append(item) }
        arrived.signal()
    }

    func schedule(after delay: Duration, _ item: @escaping @Sendable () -> Void) -> any Scheduled {
        preconditionFailure("the polkit client sets no timer on the loop")
    }

    /// Runs until the condition is true. Gives up after this many seconds without any work.
    func run(seconds: Int = 15, until isReached: () -> Bool) -> Bool {
        while !isReached() {
            guard arrived.wait(timeout: .now() + .seconds(seconds)) == .success else { return isReached() }
            for item in work.withLock({ items in
                defer { items = [] }
                return items
            }) {
                item()
            }
        }
        return true
    }
}
