import Synchronization

/// The connection for reads that are too long for the event loop. Its reads block neither the event loop nor
/// a save. The connection is opened when it is first used.
final class LongReader: Sendable {
    private let open: @Sendable (ReadBound) throws(StoreError) -> sending BookReader
    private let bound = ReadBound()
    private let reader = Mutex<BookReader?>(nil)
    /// Locked during a checkpoint. The checkpoint waits for running reads, so no new read may begin until it
    /// ends.
    private let beginning = Mutex(())

    init(open: @escaping @Sendable (ReadBound) throws(StoreError) -> sending BookReader) { self.open = open }

    func read<Result: Sendable>(_ body: (BookReader) throws -> Result) throws(StoreError) -> Result {
        beginning.withLock { _ in }
        do throws(StoreError) {
            return try reader.withLock { reader throws(StoreError) in
                guard !bound.isClosed else { throw .closed }
                if reader == nil { reader = try open(bound) }
                guard let reader else { throw .closed }
                try reader.begin(isBounded: false)
                do { return try body(reader) } catch { throw reader.endFailed(error) }
            }
        } catch {
            throw bound.isClosed ? .closed : error
        }
    }

    /// Runs `body` while no long read is running.
    func between<Result: Sendable>(_ body: () -> Result) -> Result { reader.withLock { _ in body() } }

    /// Runs `body` while new reads wait. A running read continues.
    func pause(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try beginning.withLock { _ throws(StoreError) in try body() }
    }

    /// Closes the connection to release its memory, unless a read is using it.
    func releaseMemory() {
        _ = reader.withLockIfAvailable {
            $0?.close()
            $0 = nil
        }
    }

    /// Interrupts the running read and makes every later one fail.
    func close() {
        bound.close()
        reader.withLock {
            $0?.close()
            $0 = nil
        }
    }
}
