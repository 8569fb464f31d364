import AccessStore
import ContactsStore
import Dispatch
import Synchronization

/// Brings the intent of a save onto the disk while the book prepares its changes: these are committed only after it.
final class IntentSync: Sendable {
    private let failure = Mutex<String?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter walSync: of the access store, in which the intent is committed.
    init(_ walSync: WALSync) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            if let error = Broker.sync(walSync) { failure.withLock { $0 = "\(error)" } }
            done.signal()
        }
    }

    /// Returns once the intent is on the disk. Once; not for the loop.
    func wait() throws(StoreError) {
        done.wait()
        if let failure = failure.withLock({ $0 }) {
            throw .unavailable(reason: "the intent of a save is not on the disk: \(failure)")
        }
    }
}
